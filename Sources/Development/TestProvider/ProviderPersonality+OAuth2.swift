import StrictJSON

extension ProviderPersonality {
    /// An OAuth2 provider whose profile is `{"id", "name", "email", "picture"}`; change ``profile`` for other shapes.
    package static let genericOAuth2 = ProviderPersonality(
        "generic-oauth2",
        [.authorization: "authorize", .token: "token", .userinfo: "profile", .revocation: "revoke"]
    ) { personality in
        personality.refreshTokens = .always
        personality.profile = { user, _ in
            plainProfile(user, ["name": \.name, "email": \.email, "picture": \.picture])
        }
    }

    /// GitHub's OAuth apps: form answers, errors with status 200, commas between scopes, addresses by a second call.
    package static let github = ProviderPersonality(
        "github",
        [
            .authorization: "login/oauth/authorize", .token: "login/oauth/access_token", .userinfo: "api/user",
            .emails: "api/user/emails", .tokenCheck: "api/applications/*/token",
        ]
    ) { personality in
        personality.tokenCheck = .github
        personality.accessTokenLifetime = nil
        personality.answersForms = true
        personality.reportsErrorsAsOK = true
        personality.grantedScopeSeparator = ","
        personality.remembersScopes = true
        personality.allowsOmittedRedirect = true
        personality.requiresUserAgent = true
        personality.accessTokenSchemes = ["bearer", "token"]
        personality.errorName = { failure in
            switch failure {
            case .invalidClient: "incorrect_client_credentials"
            case .invalidGrant: "bad_verification_code"
            case .redirectMismatch, .invalidRequest, .unsupportedGrantType: failure.rawValue
            }
        }
        personality.profile = { user, _ in githubProfile(user) }
    }

    /// `GET /user`: the address is the public one, so usually null.
    private static func githubProfile(_ user: TestUser) -> JSONObject {
        let login = user.login ?? "user\(user.subject)"
        let profile: JSONObject = [
            "login": .string(login),
            "id": Int64(user.subject).map { .integer($0) } ?? .string(user.subject),
            "node_id": .string("U_\(user.subject)"),
            "avatar_url": user.picture.map { .string($0) } ?? "",
            "html_url": .string("https://github.com/\(login)"),
            "type": "User",
            "site_admin": false,
            "name": user.name.map { .string($0) } ?? .null,
            "email": .null,
        ]
        return profile.changed(set: user.claims)
    }
}
