import Domain

extension ProviderDefinition {
    /// Yahoo.
    ///
    /// It refuses an unknown `code_challenge` with a misleading `unauthorized_client`, and signs with either type of
    /// key.
    static let yahoo = ProviderDefinition("yahoo.com", "Yahoo", .oidc) { definition in
        definition.issuers = ["https://api.login.yahoo.com"]
        definition.discovery = .cached
        definition.fallbackEndpoints = Endpoints(
            authorization: "https://api.login.yahoo.com/oauth2/request_auth",
            token: "https://api.login.yahoo.com/oauth2/get_token",
            userInfo: "https://api.login.yahoo.com/openid/v1/userinfo",
            keys: "https://api.login.yahoo.com/openid/v1/certs",
            revocation: "https://api.login.yahoo.com/oauth2/revoke"
        )
        definition.scopes = Scopes(["openid", "profile", "email"])
        definition.pkce = .none
        definition.clientAuthentication = .basic
        definition.idToken = IDTokenRules(algorithms: [.es256, .rs256])
        definition.profile = [ProfileCall(optional: true)]
        definition.rawUserInfo = .merged
        definition.revocation = RevocationRules()
    }
}
