import Domain

extension ProviderDefinition {
    /// X with OAuth 2.0; the email requires the scope `users.email` and is not marked as verified.
    static let x = genericOAuth2("oauth.x") { definition in
        definition.displayName = "X"
        definition.variables = ["base": "https://x.com", "api": "https://api.x.com"]
        definition.endpoints = Endpoints(
            authorization: "{base}/i/oauth2/authorize",
            token: "{api}/2/oauth2/token",
            revocation: "{api}/2/oauth2/revoke"
        )
        definition.scopes = Scopes(["users.read", "tweet.read", "users.email", "offline.access"])
        definition.pkce = .required
        definition.clientAuthentication = .basic
        let fields = "user.fields=id,name,username,profile_image_url,confirmed_email"
        definition.profile = [ProfileCall(url: "{api}/2/users/me?" + fields)]
        definition.claims = .only([
            \.subject: ["data.id"],
            \.email: ["data.confirmed_email"],
            \.displayName: ["data.name"],
            \.screenName: ["data.username"],
            \.photoURL: ["data.profile_image_url"],
        ])
        definition.revocation = RevocationRules()
    }
}
