import StrictJSON

extension ProviderPersonality {
    /// The directory of people who do not say another (`tid` among their claims).
    package static let microsoftDirectory = "72f988bf-86f1-41af-91ab-2d7cd011db47"
    /// The directory of personal accounts.
    package static let microsoftHome = "9188040d-6c67-4c5b-b112-36a304b66dad"

    /// Microsoft: the tenant in the path, the person's directory in the issuer, keys of named issuers without `alg`, and
    /// Graph's `/me`.
    ///
    /// A person's subject is their `oid`.
    package static let microsoft = ProviderPersonality(
        "microsoft",
        [
            .discovery: "*/v2.0/.well-known/openid-configuration",
            .authorization: "*/oauth2/v2.0/authorize", .token: "*/oauth2/v2.0/token",
            .userinfo: "v1.0/me", .keys: "*/discovery/v2.0/keys",
        ]
    ) { personality in
        personality.isOpenID = true
        personality.pkce = .required
        personality.refreshTokens = .withOfflineScope
        personality.refreshNeedsScope = true
        personality.responseTypes = [["code"], ["code", "id_token"]]
        personality.documentIssuer = "/{tenantid}/v2.0"
        personality.tokenIssuer = { user, issuer in issuer + "/" + directory(of: user) + "/v2.0" }
        personality.claims = { user, scopes in
            standardClaims(user, scopes).changed(
                set: [
                    "sub": .string(pairwise(user.subject)), "oid": .string(user.subject),
                    "tid": .string(directory(of: user)), "ver": "2.0",
                ],
                remove: ["email_verified"]
            ).changed(set: user.members(["preferred_username": \.login])).changed(set: user.claims)
        }
        personality.profile = { user, _ in
            let id: JSONObject = ["id": .string(user.subject)]
            return id.changed(
                set: user.members([
                    "displayName": \.name, "givenName": \.givenName, "surname": \.familyName, "mail": \.email,
                    "userPrincipalName": \.login,
                ])
            )
        }
    }

    /// A user of the project's accounts has the `sub` already.
    private static func pairwise(_ subject: String) -> String {
        subject.hasPrefix("pairwise-") ? subject : "pairwise-" + subject
    }

    private static func directory(of user: TestUser) -> String {
        guard case .string(let directory) = user.claims["tid"] else { return microsoftDirectory }
        return directory
    }
}
