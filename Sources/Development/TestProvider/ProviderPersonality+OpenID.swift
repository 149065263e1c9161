extension ProviderPersonality {
    /// An OpenID provider that follows the specifications and has no opinions.
    package static let genericOIDC: ProviderPersonality = {
        var personality = ProviderPersonality(
            name: "generic-oidc",
            paths: [
                .discovery: ".well-known/openid-configuration", .authorization: "authorize", .token: "token",
                .userinfo: "userinfo", .keys: "keys", .revocation: "revoke",
            ]
        )
        personality.isOpenID = true
        personality.refreshTokens = .withOfflineScope
        personality.clientAuthentication = .basic
        return personality
    }()

    /// Google: refresh tokens on request only, `hd`, `azp`, no `auth_time` unless asked.
    package static let google: ProviderPersonality = {
        var personality = ProviderPersonality(
            name: "google",
            paths: [
                .discovery: ".well-known/openid-configuration", .authorization: "o/oauth2/v2/auth", .token: "token",
                .userinfo: "v1/userinfo", .keys: "oauth2/v3/certs", .revocation: "revoke", .tokenCheck: "tokeninfo",
            ]
        )
        personality.isOpenID = true
        personality.refreshTokens = .withOfflineAccess
        personality.accessTokenLifetime = 3599
        personality.clientAuthentication = .basicOrPost
        personality.alwaysSendsAuthenticationTime = false
        personality.claims = { user, scopes in
            var claims = TestJSON.object(standardClaims(user, scopes))
            claims.set("hd", ifPresent: user.hostedDomain)
            return claims.members
        }
        personality.profile = { user, scopes in
            var profile = TestJSON.object([.init("sub", .string(user.subject))] + standardClaims(user, scopes))
            profile.set("hd", ifPresent: user.hostedDomain)
            return profile
        }
        return personality
    }()
}
