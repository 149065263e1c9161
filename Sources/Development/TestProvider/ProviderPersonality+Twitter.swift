extension ProviderPersonality {
    /// Twitter's OAuth 1.0a: signed requests, form answers, and a number that only its text has right.
    package static let twitter1: ProviderPersonality = {
        var personality = ProviderPersonality(
            name: "twitter1",
            paths: [
                .requestToken: "oauth/request_token", .authorization: "oauth/authenticate",
                .token: "oauth/access_token",
                .userinfo: "1.1/account/verify_credentials.json",
            ]
        )
        personality.isOAuth1 = true
        personality.pkce = .refused
        personality.accessTokenLifetime = nil
        personality.profile = { user, scopes in
            var profile = TestJSON.object([
                // As a reader that takes numbers for doubles would have it.
                .init("id", Int64(user.subject).map { .integer($0 / 8 * 8) } ?? 0),
                .init("id_str", .string(user.subject)),
            ])
            profile.set("name", ifPresent: user.name)
            profile.set("screen_name", ifPresent: user.login)
            profile.set("profile_image_url_https", ifPresent: user.picture)
            if scopes.contains("email") { profile.set("email", ifPresent: user.email) }
            profile.change(set: user.claims, remove: [])
            return profile
        }
        return personality
    }()
}
