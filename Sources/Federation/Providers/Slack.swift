import Domain

extension ProviderDefinition {
    /// Sign in with Slack: errors come with status 200 and `"ok": false`.
    static let slack = genericOIDC("oidc.slack") { definition in
        definition.displayName = "Slack"
        definition.issuers = ["https://slack.com"]
        definition.discovery = .cached
        definition.fallbackEndpoints = Endpoints(
            authorization: "https://slack.com/openid/connect/authorize",
            token: "https://slack.com/api/openid.connect.token",
            userInfo: "https://slack.com/api/openid.connect.userInfo",
            keys: "https://slack.com/openid/connect/keys"
        )
        definition.scopes = Scopes(["openid", "profile", "email"])
        definition.pkce = .none
        definition.clientAuthentication = .post
        definition.token.okMember = "ok"
        definition.idToken = IDTokenRules(algorithms: [.rs256])
        definition.emailTrust = .never
    }
}
