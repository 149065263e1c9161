package import struct Secrets.Secret

/// Tokens that an app obtained from a provider by itself and hands in: native sign-in.
package struct DirectCredential: Sendable, Hashable {
    package var idToken: Secret?
    package var accessToken: Secret?
    /// OAuth 1.0a alone.
    package var tokenSecret: Secret?
    /// The raw nonce; the token carries its SHA-256 (`rawNonce` of the SDKs).
    package var nonce: Secret?
    /// Apple's `user` JSON with the name, unsigned, sent at the first authorisation only.
    package var user: String?

    package init(
        idToken: Secret? = nil,
        accessToken: Secret? = nil,
        tokenSecret: Secret? = nil,
        nonce: Secret? = nil,
        user: String? = nil
    ) {
        self.idToken = idToken
        self.accessToken = accessToken
        self.tokenSecret = tokenSecret
        self.nonce = nonce
        self.user = user
    }
}
