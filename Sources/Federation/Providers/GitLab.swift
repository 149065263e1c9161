import Domain

extension ProviderDefinition {
    /// GitLab, or a self-hosted server with its `issuer`.
    static let gitLab = genericOIDC("oidc.gitlab") { definition in
        definition.displayName = "GitLab"
        definition.issuers = ["https://gitlab.com"]
        definition.discovery = .cached
        definition.fallbackEndpoints = Endpoints(
            authorization: "https://gitlab.com/oauth/authorize",
            token: "https://gitlab.com/oauth/token",
            userInfo: "https://gitlab.com/oauth/userinfo",
            keys: "https://gitlab.com/oauth/discovery/keys",
            revocation: "https://gitlab.com/oauth/revoke"
        )
        definition.scopes = Scopes(["openid", "profile", "email"])
        definition.pkce = .required
        definition.clientAuthentication = .basic
        definition.emailTrust = .never
        definition.revocation = RevocationRules()
    }
}
