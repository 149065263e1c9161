import Development
import Domain
import Postgres
import Projects
import Secrets
import Sessions
import Storage
import Testing
import TestKit

/// New accounts, codes, questions: what one network address may do in an hour.
@Suite("Limits: requests of an address", .database, .testProvider)
struct RequestLimitTests {
    @Test("T-E1: who asks by signing up whether addresses are taken asks a hundred times an hour")
    func signUps() async throws {
        try await LimitScene.run { service in
            _ = try await service.signUp("taken@example.com", from: "198.18.22.1")
            for _ in 0..<50 {
                try await service.signUp("taken@example.com", from: "198.18.21.1").expectRefused("EMAIL_EXISTS")
            }
            // So does who gives a password that is too weak.
            for _ in 0..<50 {
                try await service.call(
                    "accounts:signUp",
                    ["email": "taken@example.com", "password": "weak"],
                    from: "198.18.21.1"
                )
                .expectRefused("EMAIL_EXISTS")
            }
            for email in ["taken@example.com", "free@example.com"] {
                try await service.signUp(email, from: "198.18.21.1").expectRefused(LimitScene.blocked)
            }
            try await service.call("accounts:signUp", [:], from: "198.18.21.1").expectRefused(LimitScene.blocked)
            try await service.signUp("free@example.com", from: "198.18.21.2").expectOK()
        }
    }

    @Test("guests and people of providers are new accounts too; who has an account signs in")
    func providers() async throws {
        try await LimitScene.run { service in
            let tenant = try await TestProvider.tenant(.genericOIDC)
            tenant.addClient("client", secrets: ["secret"], redirects: .anyLocal)
            try await service.configure(tenant.configuration(as: "oidc.acme"))
            let signIn = { @Sendable (subject: String) in
                let user = tenant.addUser(
                    TestUser(subject, email: "\(subject)@example.com", emailVerified: true, name: "Ada")
                )
                let token = try tenant.mintIDToken(for: user)
                return try await service.call(
                    "accounts:signInWithIdp",
                    [
                        "requestUri": "http://localhost", "returnSecureToken": true,
                        "postBody": .string("id_token=\(token)&providerId=oidc.acme"),
                    ],
                    from: "198.18.23.1"
                )
            }
            try await signIn("first").expectOK()
            for _ in 0..<99 {
                let guest = try await service.call("accounts:signUp", [:], from: "198.18.23.1")
                guest.expectOK()
            }
            let before = try await accounts(service)
            try await signIn("second").expectRefused(LimitScene.blocked)
            try await service.call("accounts:signUp", [:], from: "198.18.23.1").expectRefused(LimitScene.blocked)
            #expect(try await accounts(service) == before)
            let known = try await signIn("first")
            #expect(known.status == 200 && known["isNewUser"] == nil, "\(known)")
        }
    }

    private func accounts(_ service: TestService) async throws -> [Int64] {
        try await TestDatabase.current.client.query(
            "SELECT count(*) FROM accounts WHERE project = \(service.project.id.rawValue)"
        ) { try $0.next() }
    }

    @Test(
        "T-E2: three hundred wrong email codes in an hour, for any purpose, do not block a valid one"
    )
    func codes() async throws {
        try await LimitScene.run { service in
            _ = try await service.signUp("ada@example.com")
            let code = try await service.code(.passwordReset, ["email": "ada@example.com"], to: "ada@example.com")
            let wrong = "\(code.hasPrefix("A") ? "B" : "A")\(code.dropFirst())"
            let tries: [(String, JSON)] = [
                ("accounts:resetPassword", ["oobCode": .string(wrong), "newPassword": "another horse"]),
                ("accounts:signInWithEmailLink", ["oobCode": .string(wrong), "email": "ada@example.com"]),
                ("accounts:update", ["oobCode": .string(wrong)]),
            ]
            for number in 0..<300 {
                // Whoever has a good one uses nothing up.
                let looked = try await service.call(
                    "accounts:resetPassword",
                    ["oobCode": .string(code)],
                    from: "198.18.24.1"
                )
                looked.expectOK()
                let (operation, body) = tries[number % 3]
                try await service.call(operation, body, from: "198.18.24.1").expectRefused("INVALID_OOB_CODE")
            }
            for (operation, body) in tries {
                try await service.call(operation, body, from: "198.18.24.1").expectRefused(LimitScene.blocked)
                try await service.call(operation, body, from: "198.18.24.2").expectRefused("INVALID_OOB_CODE")
            }
            let body: JSON = ["oobCode": .string(code), "newPassword": "another horse"]
            let reply = try await service.call("accounts:resetPassword", body, from: "198.18.24.1")
            reply.expectOK()
        }
    }

    @Test("T-E1: who asks by changing an email whether others are taken asks a hundred times an hour")
    func changes() async throws {
        try await LimitScene.run({ $0.emailEnumerationProtection = false }) { service in
            _ = try await service.signUp("taken@example.com", from: "198.18.31.1")
            let user = try await service.signUp("ada@example.com", from: "198.18.31.1")
            func change(_ more: [String: JSON], from address: String) async throws -> Reply {
                let body = JSON.object(["idToken": JSON(user.idToken)].merging(more) { $1 })
                return try await service.call("accounts:update", body, from: address)
            }
            for _ in 0..<100 {
                try await change(["email": "taken@example.com"], from: "198.18.31.2").expectRefused("EMAIL_EXISTS")
            }
            for email in ["taken@example.com", "free@example.com"] {
                try await change(["email": .string(email)], from: "198.18.31.2").expectRefused(LimitScene.blocked)
            }
            // What else is changed asks nothing.
            try await change(["displayName": "Ada"], from: "198.18.31.2").expectOK()
            try await change(["email": "free@example.com"], from: "198.18.31.3").expectOK()
        }
    }

    @Test("sign-in methods are asked for a hundred times an hour")
    func methodQueries() async throws {
        try await LimitScene.run({ $0.emailEnumerationProtection = false }) { service in
            _ = try await service.signUp("ada@example.com")
            let ask = { @Sendable (email: String, address: String) in
                try await service.call(
                    "accounts:createAuthUri",
                    ["identifier": .string(email), "continueUri": "http://localhost"],
                    from: address
                )
            }
            for number in 0..<100 {
                let email = number % 2 == 0 ? "ada@example.com" : "nobody@example.com"
                let reply = try await ask(email, "198.18.25.1")
                #expect(reply["registered"]?.bool == (number % 2 == 0), "\(reply)")
            }
            for email in ["ada@example.com", "nobody@example.com"] {
                try await ask(email, "198.18.25.1").expectRefused(LimitScene.blocked)
            }
            #expect(try await ask("ada@example.com", "198.18.25.2")["registered"]?.bool == true)
        }
    }

    @Test("T-E11: flows to providers that an address begins are counted, of requests at once as well")
    func flows() async throws {
        try await LimitScene.run { service in
            let tenant = try await TestProvider.tenant(.genericOIDC)
            tenant.addClient("client", secrets: ["secret"], redirects: .anyLocal)
            try await service.configure(tenant.configuration(as: "oidc.acme"))
            try await service.limit(["flowsPerAddress": ["count": 5, "seconds": 3_600]])
            let begin = { @Sendable (address: String) in
                try await service.call(
                    "accounts:createAuthUri",
                    ["providerId": "oidc.acme", "continueUri": "http://localhost/callback"],
                    from: address
                )
            }
            let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
                for _ in 0..<20 { group.addTask { try await begin("198.18.27.1") } }
                return try await group.reduce(into: [Reply]()) { $0.append($1) }
            }
            #expect(replies.count { $0.status == 200 } == 5)
            for reply in replies where reply.status != 200 { reply.expectRefused(LimitScene.blocked) }
            #expect(try await flows(service) == [5])
            try await begin("198.18.27.2").expectOK()
            service.clock.advance(by: 720)
            try await begin("198.18.27.1").expectOK()
            try await begin("198.18.27.1").expectRefused(LimitScene.blocked)
        }
    }

    @Test("T-E8: a project's own number of flows is counted beside that of the deployment")
    func ownFlows() async throws {
        try await LimitScene.run { first in
            var options = try LimitScene.options()
            options.clock = first.clock
            try await TestService.run(options) { second in
                for service in [first, second] {
                    let tenant = try await TestProvider.tenant(.genericOIDC)
                    tenant.addClient("client", secrets: ["secret"], redirects: .anyLocal)
                    try await service.configure(tenant.configuration(as: "oidc.acme"))
                }
                try await first.limit(["flowsPerAddress": ["count": 2, "seconds": 86_400]])
                for (service, isAdmitted) in [(first, true), (first, true), (first, false), (second, true)] {
                    let reply = try await service.call(
                        "accounts:createAuthUri",
                        ["providerId": "oidc.acme", "continueUri": "http://localhost/callback"],
                        from: "198.18.30.1"
                    )
                    #expect((reply.status == 200) == isAdmitted, "\(reply)")
                }
                // What the project's own number refused does not count for all projects.
                let shared = try await TestDatabase.current.client.query(
                    """
                    SELECT round(extract(epoch FROM expires_at - \(second.clock.now())) / 1.8)::int8 FROM rate_limits
                    WHERE project = '' AND key = \(SecureHash.sha256("15:flowsPerAddress11:198.18.30.1"))
                    """
                ) { try $0.next(Int64.self) }
                #expect(shared == [3])
            }
        }
    }

    private func flows(_ service: TestService) async throws -> [Int64] {
        try await TestDatabase.current.client.query(
            "SELECT count(*) FROM flows WHERE project = \(service.project.id.rawValue)"
        ) { try $0.next() }
    }

    @Test("T-E36: the limit of flows is looked at before discovery is read")
    func discovery() async throws {
        try await LimitScene.run { service in
            let tenant = try await TestProvider.tenant(.genericOIDC)
            tenant.addClient("client", secrets: ["secret"], redirects: .anyLocal)
            let other = try await TestProvider.tenant(.genericOIDC)
            other.addClient("client", secrets: ["secret"], redirects: .anyLocal)
            try await service.configure(tenant.configuration(as: "oidc.acme"))
            try await service.configure(other.configuration(as: "oidc.other"))
            try await service.limit(["flowsPerAddress": ["count": 2, "seconds": 3_600]])
            for (number, id) in ["oidc.acme", "oidc.acme", "oidc.other"].enumerated() {
                let reply = try await service.call(
                    "accounts:createAuthUri",
                    ["providerId": .string(id), "continueUri": "http://localhost/callback"],
                    from: "198.18.34.1"
                )
                if number < 2 {
                    reply.expectOK()
                } else {
                    reply.expectRefused(LimitScene.blocked)
                }
            }
            #expect(tenant.requests(.discovery).count == 1)
            #expect(other.requests(.discovery).isEmpty)
        }
    }

    @Test("T-E11: requests to an OAuth 1.0a provider are limited")
    func requestTokens() async throws {
        try await LimitScene.run { service in
            let tenant = try await TestProvider.tenant(.twitter1)
            tenant.addClient("client", secrets: ["secret"], redirects: .anyLocal)
            try await service.configure(tenant.configuration(as: "twitter.com"))
            try await service.limit(["flowsPerAddress": ["count": 2, "seconds": 3_600]])
            for number in 0..<5 {
                let reply = try await service.call(
                    "accounts:createAuthUri",
                    ["providerId": "twitter.com", "continueUri": "http://localhost/callback"],
                    from: "198.18.28.1"
                )
                if number < 2 {
                    reply.expectOK()
                } else {
                    reply.expectRefused(LimitScene.blocked)
                }
            }
            #expect(tenant.requests(.requestToken).count == 2)
        }
    }

    @Test("T-E11: sign-ins with only an access token are limited, whoever the token belongs to")
    func accessTokens() async throws {
        try await LimitScene.run { service in
            let tenant = try await TestProvider.tenant(.google)
            tenant.addClient("client", secrets: ["secret"], redirects: .anyLocal)
            try await service.configure(tenant.configuration(as: "google.com"))
            try await service.limit(["accessTokensPerAddress": ["count": 3, "seconds": 3_600]])
            let signIn = { @Sendable (token: String, address: String) in
                try await service.call(
                    "accounts:signInWithIdp",
                    [
                        "requestUri": "http://localhost", "returnSecureToken": true,
                        "postBody": .string("access_token=\(token)&providerId=google.com"),
                    ],
                    from: address
                )
            }
            for number in 0..<3 {
                let reply = try await signIn("nobodys-\(number)", "198.18.29.1")
                #expect(reply.status == 400 && reply.code != "TOO_MANY_ATTEMPTS_TRY_LATER", "\(reply)")
            }
            let asked = tenant.requests(.tokenCheck).count
            #expect(asked == 3)
            try await signIn("nobodys", "198.18.29.1").expectRefused(LimitScene.blocked)
            #expect(tenant.requests(.tokenCheck).count == asked)
            let user = tenant.addUser(TestUser("ada", email: "ada@example.com", emailVerified: true, name: "Ada"))
            let signedIn = try await signIn(tenant.mintAccessToken(for: user), "198.18.29.2")
            signedIn.expectOK()
            // A revocation is a call of the provider too.
            func revoke() async throws -> Reply {
                let body: JSON = [
                    "idToken": JSON(signedIn.idToken), "providerId": "google.com", "tokenType": "ACCESS_TOKEN",
                    "token": "one",
                ]
                return try await service.post(
                    "/v2/accounts:revokeToken?key=\(service.apiKey)",
                    text: body.text,
                    headers: [("X-Forwarded-For", "198.18.29.2")]
                )
            }
            for _ in 0..<2 { #expect(try await revoke().error != LimitScene.blocked) }
            try await revoke().expectRefused(LimitScene.blocked)
        }
    }

    @Test("T-E11: texts that are no token of a known session are compared with its earlier ones so often")
    func refreshTokens() async throws {
        try await LimitScene.run { service in
            try await service.limit(["refreshTriesPerAddress": ["count": 3, "seconds": 3_600]])
            let user = try await service.signUp("ada@example.com")
            let good = try #require(user.refreshToken.flatMap { RefreshToken($0) })
            for number in 0..<5 {
                let reply = try await service.refresh(good.forged().text)
                reply.expectRefused(number < 3 ? "INVALID_REFRESH_TOKEN" : LimitScene.blocked)
            }
            try await service.refresh(user.refreshToken).expectOK()
        }
    }

    @Test("a project chooses its numbers, or none")
    func settings() async throws {
        try await LimitScene.run { service in
            try await service.limit(["passwordTries": ["count": 2, "seconds": 60]])
            let config = try await service.admin("config", version: "v2")
            let limits = config["identity"]?["rateLimits"]
            #expect(limits?["passwordTries"] == ["count": 2, "seconds": 60])
            #expect(limits?["signUpsPerAddress"] == ["count": 100, "seconds": 3_600])
            #expect(limits?["enabled"]?.bool == true)
            for number in 0..<3 {
                let reply = try await service.signIn("ada@example.com", "wrong", from: "198.18.26.1")
                #expect((reply.code == "TOO_MANY_ATTEMPTS_TRY_LATER") == (number == 2), "\(reply)")
            }
            try await service.limit(["enabled": false])
            for _ in 0..<20 {
                try await service.signIn("ada@example.com", "wrong", from: "198.18.26.1")
                    .expectRefused("INVALID_LOGIN_CREDENTIALS")
            }
        }
    }

    @Test(
        "refuses numbers that make no limit",
        arguments: [
            ["passwordTries": ["count": 0]], ["passwordTries": ["seconds": 0]], ["passwordTries": ["count": -1]],
            ["mailsPerAddress": ["count": 1_000_001]], ["mailsPerAddress": ["seconds": 86_401]],
            ["signUpsPerAddress": ["count": "many"]], ["signUpsPerAddress": 5], ["enabled": "no"],
        ] as [JSON]
    )
    func refusesSettings(_ limits: JSON) async throws {
        try await LimitScene.run { service in
            let before = try await service.admin("config", version: "v2")
            let reply = try await service.admin(
                "config?updateMask=identity.rateLimits",
                ["identity": ["rateLimits": limits]],
                method: "PATCH",
                version: "v2"
            )
            #expect(reply.status == 400, "\(reply)")
            #expect(try await service.admin("config", version: "v2").json == before.json)
        }
    }
}
