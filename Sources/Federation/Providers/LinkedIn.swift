import Domain

extension ProviderDefinition {
    /// LinkedIn: it returns no nonce, and `email_verified` is text in the ID token.
    static let linkedIn = ProviderDefinition("linkedin.com", "LinkedIn", .oidc) { definition in
        definition.issuers = ["https://www.linkedin.com/oauth"]
        definition.discovery = .cached
        definition.endpointHosts = ["api.linkedin.com"]
        definition.fallbackEndpoints = Endpoints(
            authorization: "https://www.linkedin.com/oauth/v2/authorization",
            token: "https://www.linkedin.com/oauth/v2/accessToken",
            userInfo: "https://api.linkedin.com/v2/userinfo",
            keys: "https://www.linkedin.com/oauth/openid/jwks",
            revocation: "https://www.linkedin.com/oauth/v2/revoke"
        )
        definition.scopes = Scopes(["openid", "profile", "email"])
        definition.pkce = .none
        definition.sendNonce = false
        definition.clientAuthentication = .post
        definition.idToken = IDTokenRules(algorithms: [.rs256])
        definition.idToken.lenientBooleans = true
        definition.profile = [ProfileCall(optional: true)]
        definition.rawUserInfo = .merged
        definition.revocation = RevocationRules()
    }
}
