import Domain

extension ProviderDefinition {
    /// Japan's Digital Agency: sign-in with a My Number card in its app (デジタル認証アプリ).
    ///
    /// Parameters and scopes are those of the agency's API reference
    /// (`https://developers.digital.go.jp/documents/auth-and-sign/authserver/`), which requires PKCE with S256 and a
    /// nonce; its guidelines require `private_key_jwt`. The issuer and the ID tokens' algorithms are those that a
    /// public client verifies (INTER-Mediator); the assertion is for the token endpoint, as in PocketSign's
    /// documentation.
    ///
    /// The sandbox has another `base` and `audience`.
    static let digitalAuth = genericOIDC("oidc.digitalauth") { definition in
        definition.displayName = "デジタル認証アプリ"
        definition.variables = [
            "base": "https://auth-and-sign.go.jp/api/realms/main",
            "audience": "https://auth-and-sign.go.jp/api/realms/main/protocol/openid-connect/token",
        ]
        definition.issuers = ["{base}"]
        definition.discovery = .never
        definition.endpoints = Endpoints(
            authorization: "{base}/protocol/openid-connect/auth",
            token: "{base}/protocol/openid-connect/token",
            userInfo: "{base}/protocol/openid-connect/userinfo",
            keys: "{base}/protocol/openid-connect/certs"
        )
        definition.scopes = Scopes(["openid"])
        definition.pkce = .required
        definition.clientAuthentication = .privateKeyJWT
        definition.idToken = IDTokenRules(algorithms: [.es256, .rs256])
        definition.refresh.scopes = []
        // Only the server of a registered client receives ID tokens.
        definition.directSignIn = DirectSignIn()
        definition.emailTrust = .never
    }
}
