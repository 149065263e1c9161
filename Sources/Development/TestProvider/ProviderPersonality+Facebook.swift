import StrictJSON

extension ProviderPersonality {
    /// Facebook: opaque tokens that `debug_token` explains, `appsecret_proof`, errors as objects, Limited Login.
    package static let facebook = ProviderPersonality(
        "facebook",
        [
            .authorization: "v23.0/dialog/oauth", .token: "v23.0/oauth/access_token", .userinfo: "v23.0/me",
            .tokenCheck: "v23.0/debug_token", .keys: ".well-known/oauth/openid/jwks/",
        ]
    ) { personality in
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
        personality.errorMembers = { ["error": facebookError(code: Int64($0) ?? 1, "Refused.")] }
        personality.profile = { user, scopes in
            var others = scopes.contains("email") ? user.members(["email": \.email]) : [:]
            if let picture = user.picture {
                others["picture"] = ["data": ["height": 50, "is_silhouette": false, "url": .string(picture)]]
            }
            return plainProfile(user, ["name": \.name, "first_name": \.givenName, "last_name": \.familyName], others)
        }
        // Limited Login has no flag for addresses.
        personality.claims = { user, scopes in
            standardClaims(user, scopes).changed(remove: ["email_verified"])
        }
    }

    static func facebookError(code: Int64, _ message: String) -> JSONValue {
        [
            "message": .string(message), "type": "OAuthException", "code": .integer(code), "fbtrace_id": "AbCdEf",
        ]
    }
}
