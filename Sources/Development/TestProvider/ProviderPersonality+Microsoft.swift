extension ProviderPersonality {
    /// The directory of people who do not say another (`tid` among their claims).
    package static let microsoftDirectory = "72f988bf-86f1-41af-91ab-2d7cd011db47"
    /// The directory of personal accounts.
    package static let microsoftHome = "9188040d-6c67-4c5b-b112-36a304b66dad"

    /// Microsoft: the tenant in the path, the person's directory in the issuer, keys of named issuers without `alg`, and
    /// Graph's `/me`.
    ///
    /// A person's subject is their `oid`.
    package static let microsoft: ProviderPersonality = {
        var personality = ProviderPersonality(
            name: "microsoft",
            paths: [
                .discovery: "*/v2.0/.well-known/openid-configuration",
                .authorization: "*/oauth2/v2.0/authorize", .token: "*/oauth2/v2.0/token",
                .userinfo: "v1.0/me", .keys: "*/discovery/v2.0/keys",
            ]
        )
        personality.isOpenID = true
        personality.pkce = .required
        personality.refreshTokens = .withOfflineScope
        personality.refreshNeedsScope = true
        personality.responseTypes = [["code"], ["code", "id_token"]]
        personality.documentIssuer = "/{tenantid}/v2.0"
        personality.tokenIssuer = { user, issuer in issuer + "/" + directory(of: user) + "/v2.0" }
        personality.claims = { user, scopes in
            var claims = TestJSON.object(standardClaims(user, scopes).filter { $0.name != "email_verified" })
            claims.set("sub", .string("pairwise-" + user.subject))
            claims.set("oid", .string(user.subject))
            claims.set("tid", .string(directory(of: user)))
            claims.set("preferred_username", ifPresent: user.login)
            claims.set("ver", "2.0")
            claims.change(set: user.claims, remove: [])
            return claims.members
        }
        personality.profile = { user, _ in
            var profile = TestJSON.object([.init("id", .string(user.subject))])
            profile.set("displayName", ifPresent: user.name)
            profile.set("givenName", ifPresent: user.givenName)
            profile.set("surname", ifPresent: user.familyName)
            profile.set("mail", ifPresent: user.email)
            profile.set("userPrincipalName", ifPresent: user.login)
            return profile
        }
        return personality
    }()

    private static func directory(of user: TestUser) -> String {
        guard case .string(let directory) = user.claims["tid"] else { return microsoftDirectory }
        return directory
    }
}
