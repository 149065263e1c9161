import Linking

extension ProviderDefinition {
    /// LINE Login v2.1, which signs ID tokens with ES256 when the token request asks for it, else with the client's secret.
    static let line: ProviderDefinition = {
        var definition = genericOIDC("oidc.line")
        definition.displayName = "LINE"
        definition.issuers = ["https://access.line.me"]
        definition.discovery = .cached
        definition.endpointHosts = ["api.line.me"]
        definition.fallbackEndpoints = Endpoints(
            authorization: "https://access.line.me/oauth2/v2.1/authorize",
            token: "https://api.line.me/oauth2/v2.1/token",
            userInfo: "https://api.line.me/oauth2/v2.1/userinfo",
            keys: "https://api.line.me/oauth2/v2.1/certs",
            revocation: "https://api.line.me/oauth2/v2.1/revoke"
        )
        definition.scopes = Scopes(["openid", "profile", "email"])
        definition.pkce = .required
        definition.clientAuthentication = .post
        definition.token.extraParameters = ["id_token_key_type": "JWK"]
        definition.idToken = IDTokenRules(algorithms: [.es256])
        definition.profile = []
        definition.rawUserInfo = .claims
        definition.emailTrust = .never
        return definition
    }()
}
