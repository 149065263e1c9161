package import Domain
import Secrets

/// The result of every successful verification: the identity, and the tokens that the provider returned.
package struct FederatedCredential: Sendable, Hashable, Codable, CustomStringConvertible, CustomReflectable {
    package var identity: FederatedIdentity
    package var tokens: ProviderTokens
    /// The provider's profile as the text of a JSON object, at most 256 KiB: `rawUserInfo` on the wire.
    package var rawUserInfo: String
    /// The other claims of an OpenID provider's ID token, as the text of a JSON object: `firebase.sign_in_attributes`
    /// in our tokens.
    package var signInAttributes: String?
    /// Set for a native ID token with a nonce, which is accepted only once.
    ///
    /// Storage inserts the hash and refuses a second insert with `MISSING_OR_INVALID_NONCE : Duplicate credential
    /// received. …`.
    package var oneTimeToken: OneTimeToken?
    /// The raw nonce that the client sent, echoed as `nonce`.
    package var nonce: String?
    /// `federatedId` of the response: see ``ProviderDefinition/federatedID(for:)``.
    package var federatedID: String
    /// The provider's `email_verified` counts, whatever the trust table says: for fake credentials of `identity dev`.
    package var believesEmailClaim: Bool
    /// The profile's name was sent with this sign-in only, so an existing account stores it too.
    package var nameComesOnce = false
    /// The provider sends the name only once, and not this time.
    package var lacksNameSaidOnce = false
    /// Why the call that could have returned the email did not; nil if there is an email, or if the provider returns
    /// none.
    ///
    /// Nothing that depends on the email may be decided then.
    package var emailUnavailable: FederationError.Unavailable?

    package struct OneTimeToken: Sendable, Hashable, Codable {
        /// As ``hash(of:)``.
        package var hash: [UInt8]
        /// Seconds since 1970: the token's own `exp` plus the allowed skew; the row can be deleted afterwards.
        package var expiresAt: Int64

        /// SHA-256 of what was signed, which identifies the token.
        ///
        /// Not of the signature: of an ECDSA signature anybody can make a second valid one.
        ///
        /// - Parameter token: a compact JWS.
        package static func hash(of token: String) -> [UInt8] {
            SecureHash.sha256(String(token[..<(token.lastIndex(of: ".") ?? token.endIndex)]))
        }
    }

    package init(
        identity: FederatedIdentity,
        tokens: ProviderTokens,
        rawUserInfo: String,
        federatedID: String,
        signInAttributes: String? = nil,
        oneTimeToken: OneTimeToken? = nil,
        nonce: String? = nil,
        believesEmailClaim: Bool = false
    ) {
        self.identity = identity
        self.tokens = tokens
        self.rawUserInfo = rawUserInfo
        self.federatedID = federatedID
        self.signInAttributes = signInAttributes
        self.oneTimeToken = oneTimeToken
        self.nonce = nonce
        self.believesEmailClaim = believesEmailClaim
    }

    /// Uses a name from an earlier sign-in that was not completed.
    package mutating func takeName(_ user: String) {
        AppleUser.apply(user, to: &identity)
        nameComesOnce = identity.profile.displayName != nil
        lacksNameSaidOnce = !nameComesOnce
    }

    package var description: String { "<credential of \(identity.provider)>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
