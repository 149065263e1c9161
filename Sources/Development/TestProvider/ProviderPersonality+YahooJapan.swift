extension ProviderPersonality {
    /// Yahoo! JAPAN: hybrid answers in the fragment, `bail`, keys in two formats, and ID tokens that tell the subject alone.
    package static let yahooJapan: ProviderPersonality = {
        var personality = ProviderPersonality(
            name: "yahoojp",
            paths: [
                .discovery: ".well-known/openid-configuration", .authorization: "authorization", .token: "token",
                .userinfo: "attribute", .keys: "jwks", .publicKeys: "public-keys",
            ]
        )
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
        personality.errorCode = 1000
        personality.errorMembers = { error in
            [
                .init("error", .string(error)), .init("error_description", .string("refused: \(error)")),
                .init("error_code", 1000),
            ]
        }
        personality.claims = { _, _ in [] }
        personality.profile = { user, scopes in
            var profile = TestJSON.object([.init("sub", .string(user.subject))] + standardClaims(user, scopes))
            if scopes.contains("profile") { profile.set("nickname", ifPresent: user.login) }
            return profile
        }
        return personality
    }()
}
