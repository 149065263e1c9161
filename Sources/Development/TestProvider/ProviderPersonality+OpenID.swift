import StrictJSON

extension ProviderPersonality {
    /// An OpenID provider that follows the specifications and has no opinions.
    package static let genericOIDC = ProviderPersonality(
        "generic-oidc",
        [
            .discovery: ".well-known/openid-configuration", .authorization: "authorize", .token: "token",
            .userinfo: "userinfo", .keys: "keys", .revocation: "revoke",
        ]
    ) { personality in
        personality.isOpenID = true
        personality.refreshTokens = .withOfflineScope
        personality.clientAuthentication = .basic
    }

    /// Google: refresh tokens on request only, `hd`, `azp`, no `auth_time` unless asked.
    package static let google = ProviderPersonality(
        "google",
        [
            .discovery: ".well-known/openid-configuration", .authorization: "o/oauth2/v2/auth", .token: "token",
            .userinfo: "v1/userinfo", .keys: "oauth2/v3/certs", .revocation: "revoke", .tokenCheck: "tokeninfo",
        ]
    ) { personality in
        personality.isOpenID = true
        personality.refreshTokens = .withOfflineAccess
        personality.accessTokenLifetime = 3599
        personality.clientAuthentication = .basicOrPost
        personality.alwaysSendsAuthenticationTime = false
        personality.claims = { user, scopes in
            standardClaims(user, scopes).changed(set: user.members(["hd": \.hostedDomain]))
        }
        personality.profile = { user, scopes in
            standardProfile(user, scopes).changed(set: user.members(["hd": \.hostedDomain]))
        }
    }
}
