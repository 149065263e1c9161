package import Domain

/// The values that the callback of a flow is checked against.
///
/// Secret: stored encrypted, used once.
package struct AuthorizationFlow: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    package var provider: ProviderID
    /// SHA-256 of the state, 32 bytes: the callback must contain the state, and the flow is stored under the hash.
    package var stateHash: [UInt8]
    /// The client ID of the request; the ID token must be for it.
    package var clientID: String
    /// The canonical issuer at the start; if the configuration has another one now, the flow has ended.
    package var issuer: String
    /// Where the code is exchanged, whatever discovery contains by then (mix-up, RFC 9207).
    package var tokenEndpoint: String
    /// How the client authenticates there, determined at the start.
    package var clientAuthentication: ProviderDefinition.ClientAuthentication
    /// The address at which the callback must arrive.
    package var callbackURI: String
    /// The sent `redirect_uri`, repeated byte for byte in the token request; nil if it was omitted.
    package var redirectURI: String?
    /// The nonce that the ID token must contain; nil if the definition sends none.
    package var nonce: String?
    /// RFC 7636 §4.1; nil if no challenge was sent.
    package var pkceVerifier: String?
    package var scopes: [String]
    package var responseType: ResponseType
    /// The app's values for the definition's variables.
    package var variables: [String: String]
    /// Seconds of `max_age`.
    package var maxAge: Int?
    /// Seconds since 1970: when `prompt=login` was requested.
    package var loginAskedAt: Int64?
    /// OAuth 1.0a: the token that the callback must name, and with which its verifier is exchanged.
    package var requestToken: OAuth1Token?
    /// The provider was asked to post its response (`response_mode=form_post`), so that the code does not appear in a
    /// URL.
    package var isPosted = false
    /// The provider announced RFC 9207: a callback without `iss` is refused.
    package var requiresIssuerParameter: Bool
    /// Nil for flows that apps run themselves.
    package var visit: HandlerVisit?

    package var description: String { "<flow of \(provider)>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
