import StrictJSON

extension ProviderPersonality {
    /// Twitter's OAuth 1.0a: signed requests, form answers, and a number that only its text has right.
    package static let twitter1 = ProviderPersonality(
        "twitter1",
        [
            .requestToken: "oauth/request_token", .authorization: "oauth/authenticate",
            .token: "oauth/access_token",
            .userinfo: "1.1/account/verify_credentials.json",
        ]
    ) { personality in
        personality.isOAuth1 = true
        personality.pkce = .refused
        personality.accessTokenLifetime = nil
        personality.profile = { user, scopes in
            let ids: JSONObject = [
                // As a reader that takes numbers for doubles would have it.
                "id": Int64(user.subject).map { .integer($0 / 8 * 8) } ?? 0, "id_str": .string(user.subject),
            ]
            let email = scopes.contains("email") ? user.members(["email": \.email]) : [:]
            let names: KeyValuePairs<String, KeyPath<TestUser, String?>> = [
                "name": \.name, "screen_name": \.login, "profile_image_url_https": \.picture,
            ]
            return plainProfile(user, names, ids.changed(set: email))
        }
    }
}
