extension ProviderPersonality {
    /// Facebook: opaque tokens that `debug_token` explains, `appsecret_proof`, errors as objects, Limited Login.
    package static let facebook: ProviderPersonality = {
        var personality = ProviderPersonality(
            name: "facebook",
            paths: [
                .authorization: "v23.0/dialog/oauth", .token: "v23.0/oauth/access_token", .userinfo: "v23.0/me",
                .tokenCheck: "v23.0/debug_token", .keys: ".well-known/oauth/openid/jwks/",
            ]
        )
        personality.pkce = .refused
        personality.accessTokenLifetime = 5_400
        personality.askedScopeSeparator = ","
        personality.grantedScopeSeparator = nil
        personality.allowsTokenByGET = true
        personality.lengthensTokens = true
        personality.requiresAppSecretProof = true
        personality.answersAskedFields = true
        personality.callbackFragment = "#_=_"
        personality.tokenCheck = .facebook
        personality.errorName = { failure in
            switch failure {
            case .invalidClient: "101"
            case .invalidGrant, .redirectMismatch, .invalidRequest, .unsupportedGrantType: "100"
            }
        }
        personality.errorMembers = { [.init("error", facebookError(code: Int64($0) ?? 1, "Refused."))] }
        personality.profile = { user, scopes in
            var profile = TestJSON.object([.init("id", .string(user.subject))])
            profile.set("name", ifPresent: user.name)
            profile.set("first_name", ifPresent: user.givenName)
            profile.set("last_name", ifPresent: user.familyName)
            if scopes.contains("email") { profile.set("email", ifPresent: user.email) }
            if let picture = user.picture {
                profile.set("picture", ["data": ["height": 50, "is_silhouette": false, "url": .string(picture)]])
            }
            profile.change(set: user.claims, remove: [])
            return profile
        }
        // Limited Login has no flag for addresses.
        personality.claims = { user, scopes in
            standardClaims(user, scopes).filter { $0.name != "email_verified" }
        }
        return personality
    }()

    static func facebookError(code: Int64, _ message: String) -> TestJSON {
        [
            "message": .string(message), "type": "OAuthException", "code": .integer(code), "fbtrace_id": "AbCdEf",
        ]
    }
}
