package import Linking

/// What the callback of a flow must be checked against.
///
/// Secret: stored encrypted, used once.
package struct AuthorizationFlow: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    package var provider: ProviderID
    /// SHA-256 of the state, 32 bytes: what a callback must bring, and a key to store the flow under.
    package var stateHash: [UInt8]
    /// The client id that the request named; the ID token must be for it.
    package var clientID: String
    /// The canonical issuer at the start; a configuration that names another one by now ends the flow.
    package var issuer: String
    /// Where the code is exchanged, whatever discovery says by then (mix-up, RFC 9207).
    package var tokenEndpoint: String
    /// How the client authenticates there, negotiated at the start.
    package var clientAuthentication: ProviderDefinition.ClientAuthentication
    /// Where the callback must come back to.
    package var callbackURI: String
    /// What was sent as `redirect_uri`, repeated byte for byte in the token request; nil when it was left out.
    package var redirectURI: String?
    /// What the ID token must carry; nil when the definition sends none.
    package var nonce: String?
    /// RFC 7636 §4.1; nil when no challenge was sent.
    package var pkceVerifier: String?
    package var scopes: [String]
    package var responseType: ResponseType
    /// What the app chose of the definition's variables.
    package var variables: [String: String]
    /// Seconds of `max_age`.
    package var maxAge: Int?
    /// Seconds since 1970: when `prompt=login` was asked for.
    package var loginAskedAt: Int64?
    /// OAuth 1.0a: what the callback must name, and what its verifier is exchanged with.
    package var requestToken: OAuth1Token?
    /// The provider was asked to post its answer (`response_mode=form_post`), so that no code stands in an address.
    package var isPosted = false
    /// The provider announced RFC 9207: a callback without `iss` is refused.
    package var requiresIssuerParameter: Bool
    /// Nil for flows that apps run by themselves.
    package var visit: HandlerVisit?

    package var description: String { "<flow of \(provider)>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
