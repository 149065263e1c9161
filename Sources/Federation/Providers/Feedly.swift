import Domain

extension ProviderDefinition {
    /// Feedly; for the sandbox, set `base` in `variables` (`https://sandbox.feedly.com`).
    static let feedly = genericOAuth2("oauth.feedly") { definition in
        definition.displayName = "Feedly"
        definition.variables = ["base": "https://cloud.feedly.com"]
        definition.endpoints = Endpoints(authorization: "{base}/v3/auth/auth", token: "{base}/v3/auth/token")
        definition.scopes = Scopes(["https://cloud.feedly.com/subscriptions"])
        definition.pkce = .none
        definition.clientAuthentication = .post
        definition.token.errorMembers = ["error", "errorCode"]
        definition.profile = [ProfileCall(url: "{base}/v3/profile", scheme: "OAuth")]
        definition.claims = .only([
            \.subject: ["id"],
            \.email: ["email"],
            \.displayName: ["fullName"],
            \.firstName: ["givenName"],
            \.lastName: ["familyName"],
            \.photoURL: ["picture"],
            \.language: ["locale"],
        ])
    }
}
