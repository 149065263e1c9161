package import struct Secrets.Secret

/// Tokens that an app received from a provider itself and sends: native sign-in.
package struct DirectCredential: Sendable, Hashable {
    package var idToken: Secret?
    package var accessToken: Secret?
    /// OAuth 1.0a only.
    package var tokenSecret: Secret?
    /// The raw nonce; the token contains its SHA-256 (`rawNonce` in the SDKs).
    package var nonce: Secret?
    /// Apple's `user` JSON with the name, unsigned, sent only at the first authorization.
    package var user: String?
    /// A SAML response as the Firebase emulator writes it, in JSON; `identity serve` accepts none.
    package var samlResponse: String?

    package init(
        idToken: Secret? = nil,
        accessToken: Secret? = nil,
        tokenSecret: Secret? = nil,
        nonce: Secret? = nil,
        user: String? = nil,
        samlResponse: String? = nil
    ) {
        self.idToken = idToken
        self.accessToken = accessToken
        self.tokenSecret = tokenSecret
        self.nonce = nonce
        self.user = user
        self.samlResponse = samlResponse
    }
}
