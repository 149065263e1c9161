/// Providers that differ only in details.
extension ProviderPersonality {
    /// Yahoo: ES256, no PKCE, and a token response with the user's GUID.
    package static let yahoo: ProviderPersonality = {
        var personality = openID("yahoo")
        personality.revocationMember = "token_revocation_endpoint"
        personality.signing = .es256
        personality.pkce = .refused
        personality.tokenMembers = { [.init("xoauth_yahoo_guid", .string($0.subject))] }
        return personality
    }()

    /// LinkedIn: needs no nonce, and sends flags as strings.
    package static let linkedIn: ProviderPersonality = {
        var personality = openID("linkedin")
        personality.pkce = .refused
        personality.clientAuthentication = .post
        personality.wantsNonce = false
        personality.claims = { user, scopes in
            var claims = TestJSON.object(standardClaims(user, scopes))
            if scopes.contains("email") { claims.set("email_verified", user.emailVerified ? "true" : "false") }
            return claims.members
        }
        return personality
    }()

    /// Slack: errors with status 200 and `ok`.
    package static let slack: ProviderPersonality = {
        var personality = openID("slack")
        personality.pkce = .refused
        personality.clientAuthentication = .post
        personality.reportsErrorsAsOK = true
        personality.tokenMembers = { _ in [.init("ok", true)] }
        personality.errorMembers = { [.init("ok", false), .init("error", .string($0))] }
        return personality
    }()

    /// GitLab: follows the specifications.
    package static let gitLab: ProviderPersonality = {
        var personality = openID("gitlab")
        personality.pkce = .required
        return personality
    }()

    /// LINE: signs with ES256 when asked to (`id_token_key_type`), and has no flag for verified addresses.
    package static let line: ProviderPersonality = {
        var personality = openID("line")
        personality.paths[.tokenCheck] = "oauth2/v2.1/verify"
        personality.tokenCheck = .line
        personality.signing = .es256
        personality.pkce = .required
        personality.clientAuthentication = .post
        personality.requiredTokenFields = ["id_token_key_type": "JWK"]
        personality.claims = { user, scopes in
            standardClaims(user, scopes).filter { $0.name != "email_verified" }
        }
        return personality
    }()

    /// Feedly: scopes are URLs, tokens come with the user's id, and errors have their own names.
    package static let feedly: ProviderPersonality = {
        var personality = ProviderPersonality(
            name: "feedly",
            paths: [.authorization: "v3/auth/auth", .token: "v3/auth/token", .userinfo: "v3/profile"]
        )
        personality.pkce = .refused
        personality.refreshTokens = .always
        personality.accessTokenSchemes = ["oauth", "bearer"]
        personality.tokenMembers = { [.init("id", .string($0.subject)), .init("plan", "standard")] }
        personality.errorMembers = { [.init("errorCode", 400), .init("errorMessage", .string("refused: \($0)"))] }
        personality.profile = { user, _ in
            var profile = TestJSON.object([.init("id", .string(user.subject)), .init("wave", "2013.7")])
            profile.set("email", ifPresent: user.email)
            profile.set("fullName", ifPresent: user.name)
            profile.set("givenName", ifPresent: user.givenName)
            profile.set("familyName", ifPresent: user.familyName)
            profile.set("picture", ifPresent: user.picture)
            profile.change(set: user.claims, remove: [])
            return profile
        }
        return personality
    }()

    /// X: always PKCE, and the profile inside `data`.
    package static let x: ProviderPersonality = {
        var personality = ProviderPersonality(
            name: "x",
            paths: [
                .authorization: "i/oauth2/authorize", .token: "2/oauth2/token", .userinfo: "2/users/me",
                .revocation: "2/oauth2/revoke",
            ]
        )
        personality.pkce = .required
        personality.refreshTokens = .always
        personality.rotatesRefreshTokens = true
        personality.accessTokenLifetime = 7200
        personality.clientAuthentication = .basic
        personality.profile = { user, scopes in
            var profile = TestJSON.object([.init("id", .string(user.subject))])
            profile.set("name", ifPresent: user.name)
            profile.set("username", ifPresent: user.login)
            profile.set("profile_image_url", ifPresent: user.picture)
            if scopes.contains("users.email") { profile.set("confirmed_email", ifPresent: user.email) }
            profile.change(set: user.claims, remove: [])
            return ["data": profile]
        }
        return personality
    }()

    /// Discord: a picture is a hash.
    package static let discord: ProviderPersonality = {
        var personality = ProviderPersonality(
            name: "discord",
            paths: [
                .authorization: "oauth2/authorize", .token: "api/oauth2/token", .userinfo: "api/users/@me",
                .revocation: "api/oauth2/token/revoke", .tokenCheck: "api/oauth2/@me",
            ]
        )
        personality.tokenCheck = .discord
        personality.pkce = .refused
        personality.refreshTokens = .always
        personality.accessTokenLifetime = 604_800
        personality.profile = { user, scopes in
            var profile = TestJSON.object([.init("id", .string(user.subject)), .init("discriminator", "0")])
            profile.set("username", ifPresent: user.login)
            profile.set("global_name", ifPresent: user.name)
            profile.set("avatar", user.picture == nil ? .null : "a_0123456789abcdef")
            if scopes.contains("email") {
                profile.set("email", ifPresent: user.email)
                profile.set("verified", .bool(user.emailVerified))
            }
            profile.change(set: user.claims, remove: [])
            return profile
        }
        return personality
    }()

    private static func openID(_ name: String) -> ProviderPersonality {
        var personality = genericOIDC
        personality.name = name
        personality.refreshTokens = .always
        return personality
    }
}
