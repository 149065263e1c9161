extension ProviderPersonality {
    /// Apple: secrets signed by the client, form post responses, the name only once and outside the token, flags as
    /// strings.
    package static let apple: ProviderPersonality = {
        var personality = ProviderPersonality(
            name: "apple",
            paths: [
                .authorization: "auth/authorize", .token: "auth/token", .keys: "auth/keys", .revocation: "auth/revoke",
            ]
        )
        personality.isOpenID = true
        personality.wantsOpenIDScope = false
        personality.responseTypes = [["code"], ["code", "id_token"]]
        personality.pkce = .refused
        personality.refreshTokens = .always
        personality.codeLifetime = 300
        personality.clientAuthentication = .appleSecret(AppleClientKey())
        personality.formPostScopes = ["name", "email"]
        personality.claims = { user, scopes in
            var claims: TestJSON = ["nonce_supported": true]
            if let email = user.email {
                claims.set("email", .string(email))
                claims.set("email_verified", user.emailVerified ? "true" : "false")
                if email.hasSuffix("@privaterelay.appleid.com") { claims.set("is_private_email", "true") }
            }
            claims.change(set: user.claims, remove: [])
            return claims.members
        }
        personality.firstCallbackFields = { user, scopes in
            guard scopes.contains("name"), user.givenName != nil || user.familyName != nil else { return [] }
            var name: TestJSON = [:]
            name.set("firstName", ifPresent: user.givenName)
            name.set("lastName", ifPresent: user.familyName)
            var sent: TestJSON = ["name": name]
            sent.set("email", ifPresent: user.email)
            return [("user", sent.text)]
        }
        return personality
    }()
}
