import StrictJSON

extension ProviderPersonality {
    /// Yahoo! JAPAN: hybrid answers in the fragment, `bail`, keys in two formats, and ID tokens that tell the subject alone.
    package static let yahooJapan = ProviderPersonality(
        "yahoojp",
        [
            .discovery: ".well-known/openid-configuration", .authorization: "authorization", .token: "token",
            .userinfo: "attribute", .keys: "jwks", .publicKeys: "public-keys",
        ]
    ) { personality in
        personality.isOpenID = true
        personality.refreshTokens = .always
        personality.refreshesIDToken = false
        personality.clientAuthentication = .basic
        personality.takesPlainBasic = true
        personality.responseTypes = [
            ["code"], ["code", "id_token"], ["code", "token"], ["code", "id_token", "token"],
        ]
        personality.followsPrompt = true
        personality.bails = true
        personality.listsAudience = true
        personality.refreshTokenError = "Invalid_Token"
        personality.errorCode = 1000
        personality.errorMembers = { error in
            [
                "error": .string(error), "error_description": .string("refused: \(error)"), "error_code": 1000,
            ]
        }
        personality.claims = { _, _ in [:] }
        personality.profile = { user, scopes in
            let nickname = scopes.contains("profile") ? user.members(["nickname": \.login]) : [:]
            return standardProfile(user, scopes).changed(
                set: nickname,
                remove: scopes.contains("address") ? [] : ["address"]
            )
        }
    }
}
