import Domain
import Federation
import Foundation
import Projects
import Secrets
import StrictJSON
import Testing

@Suite struct ProfileTests {
    private func signIn(
        _ world: FederationWorld,
        claims: [String: String?] = [:],
        userInfo: ScriptedServer.Reply?,
        definition: String? = nil
    ) async throws -> FederatedCredential {
        let configuration = world.oidc(definition: definition)
        let request = try await world.start(configuration)
        try world.answerToken(for: request, claims: claims)
        if let userInfo { world.server.on("/userinfo", userInfo) }
        return try await world.finish(request, configuration)
    }

    @Test(
        "T-C12, R-16: user info about another user ends the sign-in",
        arguments: [
            #"{"sub":"subject-2"}"#, #"{"sub":"Subject-1"}"#, #"{"sub":"subject-1 "}"#, #"{"sub":1}"#, #"{"sub":null}"#,
            #"{"name":"Ada"}"#, #"{"sub":["subject-1"]}"#,
        ]
    )
    func swapped(_ body: String) async throws {
        try await FederationWorld.run { world in
            await #expect(throws: FederationError.subjectMismatch) {
                try await signIn(world, userInfo: .json(body))
            }
        }
    }

    @Test(
        "user info that cannot be had is done without",
        arguments: [
            .status(401), .status(403), .status(500), .status(302), .hangUp, .json("[]"), .json("{"),
            .json(#"{"sub":"subject-2","sub":"subject-1"}"#), .text("e30.e30.x", type: "application/jwt"),
            .json("{\"sub\":\"" + String(repeating: "a", count: 200_000) + "\"}"), .stall(),
        ] as [ScriptedServer.Reply]
    )
    func optional(_ reply: ScriptedServer.Reply) async throws {
        let isSilent = if case .stall = reply { true } else { false }
        try await FederationWorld.run { world in
            async let hurry: Void? = isSilent ? world.timeRunsOut(at: "/userinfo") : nil
            let credential = try await signIn(world, userInfo: reply)
            _ = try await hurry
            #expect(credential.identity.subject == "subject-1")
            #expect(credential.identity.email == EmailAddress("ada@example.com"))
        }
    }

    @Test func claimsWinOverUserInfo() async throws {
        try await FederationWorld.run { world in
            let credential = try await signIn(
                world,
                userInfo: .json(
                    #"{"sub":"subject-1","name":"Other","nickname":"ada","iss":"evil","firebase":{"x":1},"__proto__":{}}"#
                )
            )
            #expect(credential.identity.profile.displayName == "Ada Lovelace")
            #expect(credential.identity.profile.nickName == "ada")
            let raw = try #require(try JSONValue(parsing: credential.rawUserInfo).object)
            #expect(raw["iss"] == .string(world.issuer))
            #expect(raw["nickname"] == .string("ada"))
            #expect(raw["__proto__"] == .object(JSONObject()))
        }
    }

    @Test("the flag of one address never vouches for another") func emailFlags() async throws {
        try await FederationWorld.run { world in
            let other = try await signIn(
                world,
                claims: ["email_verified": nil],
                userInfo: .json(#"{"sub":"subject-1","email":"other@example.com","email_verified":true}"#)
            )
            #expect(other.identity.email == EmailAddress("ada@example.com"))
            #expect(!other.identity.emailVerifiedClaim)
            let same = try await signIn(
                world,
                claims: ["email_verified": nil],
                userInfo: .json(#"{"sub":"subject-1","email":"ADA@example.com","email_verified":true}"#)
            )
            #expect(same.identity.emailVerifiedClaim)
            let only = try await signIn(
                world,
                claims: ["email": nil, "email_verified": nil],
                userInfo: .json(#"{"sub":"subject-1","email":"ada@example.com","email_verified":true}"#)
            )
            #expect(only.identity.email == EmailAddress("ada@example.com"))
            #expect(only.identity.emailVerifiedClaim)
        }
    }

    @Test(
        arguments: [
            ("true", false, true), ("false", false, false), ("\"true\"", false, false), ("1", false, false),
            (nil, false, false),
            ("null", false, false), ("\"true\"", true, true), ("\"1\"", true, true), ("1", true, true),
            ("\"false\"", true, false),
            ("0", true, false), ("\"yes\"", true, false), ("[true]", true, false),
        ] as [(String?, Bool, Bool)]
    )
    func readsFlagsAsTheDefinitionSays(_ claim: String?, _ lenient: Bool, _ expected: Bool) async throws {
        try await FederationWorld.run { world in
            let configuration = world.oidc(definition: #"{"idToken":{"lenientBooleans":\#(lenient)}}"#)
            let credential = try await world.verify(
                try world.idToken(["email_verified": claim]),
                with: configuration
            )
            #expect(credential.identity.emailVerifiedClaim == expected)
        }
    }

    @Test(
        "T-C17: a flag that is there and does not say yes is a no; an absent one says nothing",
        arguments: [
            (nil, nil), ("null", nil), ("true", nil), ("\"true\"", nil), ("\"True\"", nil), ("\"1\"", nil), ("1", nil),
            ("false", true), ("\"false\"", true), ("\"FALSE\"", true), ("0", true), ("\"0\"", true), ("\"\"", true),
            ("\"no\"", true), ("2", true), ("[true]", true), ("{}", true),
        ] as [(String?, Bool?)],
        [true, false]
    )
    func tellsNoFromNothing(_ flag: (claim: String?, denied: Bool?), _ lenient: Bool) async throws {
        try await FederationWorld.run { world in
            let configuration = world.oidc(
                definition: #"{"emailTrust":"always","idToken":{"lenientBooleans":\#(lenient)}}"#
            )
            let credential = try await world.verify(
                try world.idToken(["email_verified": flag.claim]),
                with: configuration
            )
            #expect(credential.identity.emailUnverifiedClaim == flag.denied)
            let trust = world.service.emailTrust(for: credential, configuration: configuration, strict: false)
            #expect(trust.proves(credential.identity) == (flag.denied != true))
        }
    }

    @Test("T-C17: the user info's no counts against the ID token's yes, and the other way round, for one address")
    func deniedInOneOfTwo() async throws {
        try await FederationWorld.run { world in
            for (claim, info) in [("true", "false"), ("false", "true")] as [(String, String)] {
                let credential = try await signIn(
                    world,
                    claims: ["email_verified": claim],
                    userInfo: .json(#"{"sub":"subject-1","email":"ADA@example.com","email_verified":\#(info)}"#)
                )
                #expect(credential.identity.emailUnverifiedClaim == true)
                #expect(!credential.identity.emailVerifiedClaim)
            }
            let apart = try await signIn(
                world,
                claims: ["email": nil, "email_verified": "\"false\""],
                userInfo: .json(#"{"sub":"subject-1","email":"ada@example.com","email_verified":true}"#)
            )
            #expect(apart.identity.emailUnverifiedClaim == true, "a no without an address of its own")
            let other = try await signIn(
                world,
                userInfo: .json(#"{"sub":"subject-1","email":"other@example.com","email_verified":false}"#)
            )
            #expect(other.identity.emailUnverifiedClaim == nil, "a no about another address")
            #expect(other.identity.emailVerifiedClaim)
        }
    }

    @Test(
        "T-C17: in every table and under every setting a provider's no proves nothing",
        arguments: [
            "apple.com", "facebook.com", "github.com", "google.com", "linkedin.com", "microsoft.com", "oauth.acme",
            "oauth.discord", "oauth.feedly", "oauth.x", "oidc.acme", "oidc.daccount", "oidc.digitalauth",
            "oidc.gitlab", "oidc.line", "oidc.slack", "oidc.yahoojp", "saml.acme", "twitter.com", "yahoo.com",
        ],
        ["", "\"always\"", "\"never\"", "\"claim\"", #"{"domains":["yahoo.com","outlook.com"],"orAuthority":true}"#]
    )
    func deniedEverywhere(_ id: String, _ rule: String) async throws {
        try await FederationWorld.run { world in
            let configuration = ProviderConfiguration(
                provider: ProviderID(id),
                enabled: true,
                clientID: "client-1",
                clientSecret: Secret("s3cret"),
                overrides: rule.isEmpty ? nil : #"{"emailTrust":\#(rule)}"#
            )
            for strict in [true, false] {
                let trust = world.service.emailTrust(
                    for: ProviderID(id),
                    configuration: rule.isEmpty ? nil : configuration,
                    strict: strict
                )
                for address in ["ada@yahoo.com", "ada@outlook.com", "ada@gmail.com", "ada@yahoo.co.jp"] {
                    let identity = FederatedIdentity(
                        provider: ProviderID(id),
                        subject: "subject-1",
                        issuer: "",
                        email: EmailAddress(address),
                        emailVerifiedClaim: true,
                        emailUnverifiedClaim: true,
                        emailAuthorityClaim: true
                    )
                    #expect(!trust.proves(identity), "\(trust) of \(address)")
                }
            }
        }
    }

    @Test(
        arguments: [
            ("\"ADA@Example.COM\"", "ada@example.com"), (nil, nil), ("\"\"", nil), ("\" ada@example.com\"", nil),
            ("\"a@example.com,b@example.com\"", nil), ("[\"ada@example.com\"]", nil), ("1", nil), ("null", nil),
            ("\"ada\"", nil), ("\"ada@example.com\\u0000\"", nil),
            ("\"ada@ex\\u00e4mple.com\"", "ada@xn--exmple-cua.com"),
            ("\"ada\\uff20example.com\"", nil), ("\"\(String(repeating: "a", count: 300))@example.com\"", nil),
        ] as [(String?, String?)]
    )
    func anOddAddressIsNone(_ claim: String?, _ expected: String?) async throws {
        try await FederationWorld.run { world in
            let credential = try await world.verify(try world.idToken(["email": claim]))
            #expect(credential.identity.email?.canonical == expected)
            #expect(credential.identity.emailVerifiedClaim == (expected != nil))
        }
    }

    @Test func fiftyKilobytesOfClaimsAreKeptAsTheyAre() async throws {
        try await FederationWorld.run { world in
            let big = String(repeating: "x", count: 50_000)
            let nested = String(repeating: "{\"a\":", count: 40) + "1" + String(repeating: "}", count: 40)
            let credential = try await world.verify(try world.idToken(["big": "\"\(big)\"", "nested": nested]))
            #expect(credential.rawUserInfo.contains(big))
            #expect(credential.rawUserInfo.contains(nested))
        }
    }

    @Test func oddProfileTextIsLeftOut() async throws {
        try await FederationWorld.run { world in
            let credential = try await world.verify(
                try world.idToken([
                    "name": "\"a\\u0000b\"", "picture": "[1]",
                    "given_name": "\"\(String(repeating: "é", count: 257))\"",
                    "family_name": "\"\"", "locale": "{\"language\":\"de\"}",
                ])
            )
            #expect(credential.identity.profile == Profile())
        }
    }

    @Test(arguments: [
        #"[{"email":"a@example.com","primary":true,"verified":false},{"email":"b@example.com","primary":false,"verified":true}]"#,
        "[]", "{}", #"{"message":"Not found"}"#, #"[{"email":"a@example.com","primary":"true","verified":true}]"#,
        #"["a@example.com"]"#,
    ])
    func githubHasNoAddressWithoutOneThatIsPrimaryAndVerified(_ emails: String) async throws {
        try await FederationWorld.run { world in
            let credential = try await signInToGitHub(world, emails: .json(emails))
            #expect(credential.identity.email == nil)
            #expect(!credential.identity.emailVerifiedClaim)
            #expect(credential.identity.subject == "7")
        }
    }

    @Test func githubWorksWithoutLeaveToReadAddresses() async throws {
        try await FederationWorld.run { world in
            let credential = try await signInToGitHub(world, emails: .status(403))
            #expect(credential.identity.email == nil)
        }
    }

    private func signInToGitHub(
        _ world: FederationWorld,
        emails: ScriptedServer.Reply
    ) async throws -> FederatedCredential {
        let configuration = world.github()
        let request = try await world.start(configuration)
        world.server.on(
            "/gh/login/oauth/access_token",
            .text("access_token=t&scope=user&token_type=bearer", type: "x/y")
        )
        world.server.on("/api/user", .json(#"{"id":7,"login":"ada","email":"public@example.com"}"#))
        world.server.on("/api/user/emails", emails)
        return try await world.finish(request, configuration)
    }

    @Test(
        arguments: [
            (.status(401), .accessTokenRejected), (.status(403), .accessTokenRejected),
            (.status(500), .unavailable(.serverError)),
            (.status(429), .unavailable(.throttled)), (.status(302), .unavailable(.redirect)),
            (.hangUp, .unavailable(.unreachable)), (.json("[]"), .invalidAnswer(.notUnderstood)),
            (.json("{"), .invalidAnswer(.notUnderstood)), (.json("{}"), .invalidAnswer(.missingSubject)),
            (.json(#"{"id":""}"#), .invalidAnswer(.missingSubject)),
            (.json(#"{"id":true}"#), .invalidAnswer(.missingSubject)),
            (.json(#"{"id":null}"#), .invalidAnswer(.missingSubject)),
            (.json(#"{"id":1,"id":2}"#), .invalidAnswer(.notUnderstood)),
            (.json("{\"id\":\"\(String(repeating: "a", count: 256))\"}"), .invalidAnswer(.missingSubject)),
        ] as [(ScriptedServer.Reply, FederationError)]
    )
    func aPlainProviderMustSayWhoItIs(_ reply: ScriptedServer.Reply, _ expected: FederationError) async throws {
        try await FederationWorld.run { world in
            let configuration = world.oauth2()
            let request = try await world.start(configuration)
            world.server.on("/token", .json(#"{"access_token":"a"}"#))
            world.server.on("/profile", reply)
            await #expect(throws: expected) { try await world.finish(request, configuration) }
        }
    }

    @Test("R-60: the word before the token is the definition's", arguments: ["Bearer", "token", "OAuth"])
    func scheme(_ word: String) async throws {
        try await FederationWorld.run { world in
            let configuration = world.oauth2()
            var changed = configuration
            changed.overrides = configuration.overrides?.replacing(
                "/profile\"}",
                with: "/profile\",\"scheme\":\"\(word)\",\"headers\":{\"X-Version\":\"2\"}}"
            )
            let request = try await world.start(changed)
            world.server.on("/token", .json(#"{"access_token":"a","token_type":"\#(word)"}"#))
            world.server.on("/profile", .json(#"{"id":12345678901234567890}"#))
            let credential = try await world.finish(request, changed)
            #expect(credential.identity.subject == "12345678901234567890")
            let call = try #require(world.server.requests(to: "/profile").first)
            #expect(call.headers["authorization"] == "\(word) a")
            #expect(call.headers["x-version"] == "2")
        }
    }
}
