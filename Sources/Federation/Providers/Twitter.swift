import Domain

extension ProviderDefinition {
    /// Twitter, as X still calls its OAuth 1.0a: every call is signed with the client's secret and the token's.
    ///
    /// The number in `id` is too large for many parsers, so `id_str` is used. The email is not marked as verified.
    static let twitter = ProviderDefinition("twitter.com", "Twitter", .oauth1) { definition in
        definition.variables = ["base": "https://api.x.com"]
        definition.endpoints = Endpoints(
            authorization: "{base}/oauth/authenticate",
            token: "{base}/oauth/access_token",
            requestToken: "{base}/oauth/request_token"
        )
        definition.pkce = .none
        let options = "include_email=true&include_entities=false&skip_status=true"
        var profile = ProfileCall(url: "{base}/1.1/account/verify_credentials.json?" + options)
        profile.proof = .oauth1
        definition.profile = [profile]
        definition.claims = .only([
            \.subject: ["id_str"],
            \.email: ["email"],
            \.displayName: ["name"],
            \.screenName: ["screen_name"],
            \.photoURL: ["profile_image_url_https"],
            \.language: ["lang"],
        ])
        definition.directSignIn = DirectSignIn(accessToken: .signedCalls)
    }
}
