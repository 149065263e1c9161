import StrictJSON

/// Providers that differ only in details.
extension ProviderPersonality {
    /// Yahoo: ES256, no PKCE, and a token response with the user's GUID.
    package static let yahoo = openID("yahoo") { personality in
        personality.revocationMember = "token_revocation_endpoint"
        personality.signing = .es256
        personality.pkce = .refused
        personality.tokenMembers = { ["xoauth_yahoo_guid": .string($0.subject)] }
    }

    /// LinkedIn: needs no nonce, and sends flags as strings.
    package static let linkedIn = openID("linkedin") { personality in
        personality.pkce = .refused
        personality.clientAuthentication = .post
        personality.wantsNonce = false
        personality.claims = { user, scopes in
            let flag: JSONObject = ["email_verified": user.emailVerified ? "true" : "false"]
            return standardClaims(user, scopes).changed(set: scopes.contains("email") ? flag : [:])
        }
    }

    /// Slack: errors with status 200 and `ok`.
    package static let slack = openID("slack") { personality in
        personality.pkce = .refused
        personality.clientAuthentication = .post
        personality.reportsErrorsAsOK = true
        personality.tokenMembers = { _ in ["ok": true] }
        personality.errorMembers = { ["ok": false, "error": .string($0)] }
    }

    /// GitLab: follows the specifications.
    package static let gitLab = openID("gitlab") { personality in
        personality.pkce = .required
    }

    /// LINE: signs with ES256 when asked to (`id_token_key_type`), and has no flag for verified addresses.
    package static let line = openID("line") { personality in
        personality.paths[.tokenCheck] = "oauth2/v2.1/verify"
        personality.tokenCheck = .line
        personality.signing = .es256
        personality.pkce = .required
        personality.clientAuthentication = .post
        personality.requiredTokenFields = ["id_token_key_type": "JWK"]
        personality.claims = { user, scopes in
            standardClaims(user, scopes).changed(remove: ["email_verified"])
        }
    }

    /// Feedly: scopes are URLs, tokens come with the user's id, and errors have their own names.
    package static let feedly = ProviderPersonality(
        "feedly",
        [.authorization: "v3/auth/auth", .token: "v3/auth/token", .userinfo: "v3/profile"]
    ) { personality in
        personality.pkce = .refused
        personality.refreshTokens = .always
        personality.accessTokenSchemes = ["oauth", "bearer"]
        personality.addsRootSlash = true
        personality.tokenMembers = { ["id": .string($0.subject), "plan": "standard"] }
        personality.errorMembers = { ["errorCode": 400, "errorMessage": .string("refused: \($0)")] }
        personality.profile = { user, _ in
            plainProfile(
                user,
                [
                    "email": \.email, "fullName": \.name, "givenName": \.givenName, "familyName": \.familyName,
                    "picture": \.picture,
                ],
                ["wave": "2013.7"]
            )
        }
    }

    /// X: always PKCE, and the profile inside `data`.
    package static let x = ProviderPersonality(
        "x",
        [
            .authorization: "i/oauth2/authorize", .token: "2/oauth2/token", .userinfo: "2/users/me",
            .revocation: "2/oauth2/revoke",
        ]
    ) { personality in
        personality.pkce = .required
        personality.refreshTokens = .always
        personality.rotatesRefreshTokens = true
        personality.accessTokenLifetime = 7200
        personality.clientAuthentication = .basic
        personality.profile = { user, scopes in
            let email = scopes.contains("users.email") ? user.members(["confirmed_email": \.email]) : [:]
            let names: KeyValuePairs<String, KeyPath<TestUser, String?>> = [
                "name": \.name, "username": \.login, "profile_image_url": \.picture,
            ]
            return ["data": .object(plainProfile(user, names, email))]
        }
    }

    /// Discord: a picture is a hash.
    package static let discord = ProviderPersonality(
        "discord",
        [
            .authorization: "oauth2/authorize", .token: "api/oauth2/token", .userinfo: "api/users/@me",
            .revocation: "api/oauth2/token/revoke", .tokenCheck: "api/oauth2/@me",
        ]
    ) { personality in
        personality.tokenCheck = .discord
        personality.pkce = .refused
        personality.refreshTokens = .always
        personality.accessTokenLifetime = 604_800
        personality.profile = { user, scopes in
            var others: JSONObject = [
                "discriminator": "0", "avatar": user.picture == nil ? .null : "a_0123456789abcdef",
            ]
            if scopes.contains("email") {
                others["email"] = user.email.map { .string($0) }
                others["verified"] = .bool(user.emailVerified)
            }
            return plainProfile(user, ["username": \.login, "global_name": \.name], others)
        }
    }

    private static func openID(_ name: String, _ change: (inout ProviderPersonality) -> Void) -> ProviderPersonality {
        var personality = genericOIDC
        personality.name = name
        personality.refreshTokens = .always
        change(&personality)
        return personality
    }
}
