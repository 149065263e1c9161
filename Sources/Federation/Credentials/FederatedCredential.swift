package import Linking

/// The outcome of every successful verification: who it is, and what the provider gave for it.
package struct FederatedCredential: Sendable, Hashable, Codable, CustomStringConvertible, CustomReflectable {
    package var identity: FederatedIdentity
    package var tokens: ProviderTokens
    /// The provider's profile as the text of a JSON object, at most 256 KiB: `rawUserInfo` on the wire.
    package var rawUserInfo: String
    /// What else an OpenID provider's ID token says, as the text of a JSON object: `firebase.sign_in_attributes` of our
    /// tokens.
    package var signInAttributes: String?
    /// Set for a native ID token that carries a nonce: it may be taken once.
    ///
    /// Storage inserts the hash and refuses a second insert with `MISSING_OR_INVALID_NONCE : Duplicate credential
    /// received. …`.
    package var oneTimeToken: OneTimeToken?
    /// The raw nonce that the client sent, echoed as `nonce`.
    package var nonce: String?
    /// `federatedId` of the response: see ``ProviderDefinition/federatedID(for:)``.
    package var federatedID: String
    /// The provider's `email_verified` is believed whatever the trust table says: fake credentials of `identity dev`.
    package var believesEmailClaim: Bool
    /// The profile's name came with this sign-in and will not come again: also an account that exists takes it.
    package var nameComesOnce = false
    /// The provider says the name once, and not this time.
    package var lacksNameSaidOnce = false

    package struct OneTimeToken: Sendable, Hashable, Codable {
        /// SHA-256 of the token's text, 32 bytes.
        package var hash: [UInt8]
        /// Seconds since 1970: the token's own `exp` and the allowed skew; after that the row may go.
        package var expiresAt: Int64

        package init(hash: [UInt8], expiresAt: Int64) {
            self.hash = hash
            self.expiresAt = expiresAt
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

    /// Takes a name that came with an earlier sign-in which did not come to its end.
    package mutating func takeName(_ user: String) {
        AppleUser.apply(user, to: &identity)
        nameComesOnce = identity.profile.displayName != nil
        lacksNameSaidOnce = !nameComesOnce
    }

    package var description: String { "<credential of \(identity.provider)>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
