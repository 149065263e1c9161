import Linking

extension ProviderDefinition {
    /// Feedly; for the sandbox, set `base` in `variables` (`https://sandbox.feedly.com`).
    static let feedly: ProviderDefinition = {
        var definition = genericOAuth2("oauth.feedly")
        definition.displayName = "Feedly"
        definition.variables = ["base": "https://cloud.feedly.com"]
        definition.endpoints = Endpoints(authorization: "{base}/v3/auth/auth", token: "{base}/v3/auth/token")
        definition.scopes = Scopes(["https://cloud.feedly.com/subscriptions"])
        definition.pkce = .none
        definition.clientAuthentication = .post
        definition.token.errorMembers = ["error", "errorCode"]
        definition.profile = [ProfileCall(url: "{base}/v3/profile", scheme: "OAuth")]
        definition.claims = .none
        definition.claims.subject = ["id"]
        definition.claims.email = ["email"]
        definition.claims.displayName = ["fullName"]
        definition.claims.firstName = ["givenName"]
        definition.claims.lastName = ["familyName"]
        definition.claims.photoURL = ["picture"]
        definition.claims.language = ["locale"]
        return definition
    }()
}
