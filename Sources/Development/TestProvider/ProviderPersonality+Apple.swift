import StrictJSON

extension ProviderPersonality {
    /// Apple: secrets signed by the client, form post responses, the name only once and outside the token, flags as
    /// strings.
    package static let apple = ProviderPersonality(
        "apple",
        [
            .authorization: "auth/authorize", .token: "auth/token", .keys: "auth/keys", .revocation: "auth/revoke",
        ]
    ) { personality in
        personality.isOpenID = true
        personality.wantsOpenIDScope = false
        personality.responseTypes = [["code"], ["code", "id_token"]]
        personality.pkce = .refused
        personality.refreshTokens = .always
        personality.codeLifetime = 300
        personality.clientAuthentication = .appleSecret(AppleClientKey())
        personality.formPostScopes = ["name", "email"]
        personality.claims = { user, scopes in
            var claims: JSONObject = ["nonce_supported": true]
            if let email = user.email {
                claims["email"] = .string(email)
                claims["email_verified"] = user.emailVerified ? "true" : "false"
                if email.hasSuffix("@privaterelay.appleid.com") { claims["is_private_email"] = "true" }
            }
            return claims.changed(set: user.claims)
        }
        personality.firstCallbackFields = { user, scopes in
            guard scopes.contains("name"), user.givenName != nil || user.familyName != nil else { return [] }
            let name = user.members(["firstName": \.givenName, "lastName": \.familyName])
            let sent: JSONObject = ["name": .object(name)]
            return [("user", sent.changed(set: user.members(["email": \.email])).jsonText)]
        }
    }
}
