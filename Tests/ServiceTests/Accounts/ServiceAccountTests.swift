import Foundation
import Projects
import Storage
import TestKit
import Testing

/// What a service account's file is good for besides custom tokens: access tokens for the admin API (RFC 7523).
@Suite("Access tokens of service accounts", .database)
struct ServiceAccountTests {
    private struct Scene: Sendable {
        var service: TestService
        var account: TestServiceAccount

        /// What Admin SDKs sign.
        func payload() -> [String: JSON] {
            let now = Double(service.clock.seconds)
            return [
                "iss": .string(account.key.email), "aud": "https://oauth2.googleapis.com/token",
                "iat": .number(now), "exp": .number(now + 3600),
                "scope": "https://www.googleapis.com/auth/cloud-platform https://www.googleapis.com/auth/firebase",
            ]
        }

        func ask(_ assertion: String) async throws -> Reply {
            let body: JSON = [
                "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": .string(assertion),
            ]
            return try await service.post("/token", text: body.text)
        }

        func accessToken(_ change: (inout [String: JSON]) -> Void = { _ in }) async throws -> String {
            var payload = payload()
            change(&payload)
            let reply = try await ask(account.sign(payload))
            return try #require(reply["access_token"]?.string, "\(reply)")
        }

        func lastUse() async throws -> Date? {
            let keys = try await service.stores.configuration.list(ServiceAccountKey.self)
            return try #require(keys.first { $0.credential == account.key }).lastUsedAt
        }

        /// Reads accounts, or makes one.
        func status(_ token: String, manages: Bool = false, project: String? = nil) async throws -> Int {
            let path = "/v1/projects/\(project ?? service.project.id.rawValue)/accounts\(manages ? "" : ":lookup")"
            let headers = [("Authorization", "Bearer \(token)"), ("Content-Type", "application/json")]
            let body: JSON = manages ? [:] : ["localId": ["nobody"]]
            return try await service.send("POST", path, headers: headers, body: Array(body.text.utf8)).status
        }
    }

    private func run(
        scopes: Set<AdminScope> = Set(AdminScope.allCases),
        expiresAt: (@Sendable (TestService) -> Int64)? = nil,
        _ body: @Sendable (Scene) async throws -> Void
    ) async throws {
        try await TestService.run { service in
            let account = try await TestServiceAccount.register(
                in: service.project.id,
                scopes: scopes,
                expiresAt: expiresAt?(service),
                service.stores.configuration
            )
            try await body(Scene(service: service, account: account))
        }
    }

    @Test("an assertion becomes a token of an hour, which is good for the account's project; its use is noted")
    func grants() async throws {
        try await run { scene in
            let grant = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
            let form = try await scene.service.send(
                "POST",
                "/oauth2.googleapis.com/token",
                headers: [("Content-Type", "application/x-www-form-urlencoded")],
                body: Array("grant_type=\(grant)&assertion=\(try scene.account.sign(scene.payload()))".utf8)
            )
            form.expectOK()
            #expect(form["token_type"] == "Bearer" && form["expires_in"] == 3600, "\(form)")
            let token = try #require(form["access_token"]?.string)
            #expect(try await scene.lastUse() == nil)
            #expect(try await scene.status(token) == 200)
            #expect(try await scene.status(token, manages: true) == 200)
            #expect(try await scene.lastUse() == scene.service.clock.now())
            scene.service.clock.advance(by: 3599)
            #expect(try await scene.status(token) == 200)
            scene.service.clock.advance(by: 1)
            #expect(try await scene.status(token) == 401)
        }
    }

    @Test("Google's former token endpoints are served too, as paths and as audiences")
    func formerEndpoints() async throws {
        try await run { scene in
            let grant = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
            let addresses =
                ["accounts.google.com/o/oauth2/token"]
                + ["v3", "v4"].map { "www.googleapis.com/oauth2/\($0)/token" }
            for address in addresses {
                var payload = scene.payload()
                payload["aud"] = .string("https://\(address)")
                for path in ["/token", "/\(address)", String(address.drop { $0 != "/" })] {
                    let reply = try await scene.service.send(
                        "POST",
                        path,
                        headers: [("Content-Type", "application/x-www-form-urlencoded")],
                        body: Array("grant_type=\(grant)&assertion=\(try scene.account.sign(payload))".utf8)
                    )
                    #expect(try await scene.status(try #require(reply["access_token"]?.string)) == 200, "\(reply)")
                }
            }
        }
    }

    // MARK: Self-signed tokens (AIP-4111)

    private static let selfSigned: [(name: String, change: @Sendable (inout [String: JSON], Double) -> Void, Int)] = [
        ("scope", { payload, _ in payload["aud"] = nil }, 200),
        (
            "identitytoolkit's scope",
            { payload, _ in
                (payload["aud"], payload["scope"]) = (nil, "https://www.googleapis.com/auth/identitytoolkit")
            }, 200
        ),
        (
            "Google's host",
            { payload, _ in
                (payload["aud"], payload["scope"]) = ("https://identitytoolkit.googleapis.com/", nil)
            }, 200
        ),
        (
            "Google's host without the slash",
            { payload, _ in
                (payload["aud"], payload["scope"]) = ("https://identitytoolkit.googleapis.com", nil)
            }, 200
        ),
        ("neither", { payload, _ in (payload["aud"], payload["scope"]) = (nil, nil) }, 401),
        (
            "the scope of Drive",
            { payload, _ in
                (payload["aud"], payload["scope"]) = (nil, "https://www.googleapis.com/auth/drive")
            }, 401
        ),
        (
            "a scope that is no text",
            { payload, _ in
                (payload["aud"], payload["scope"]) = ("https://identitytoolkit.googleapis.com/", ["accounts.read"])
            }, 401
        ),
        ("Drive", { payload, _ in payload["aud"] = "https://www.googleapis.com/drive/v3" }, 401),
        ("the token endpoint", { _, _ in }, 401),
        (
            "a custom token",
            { payload, _ in
                payload["aud"] =
                    "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"
                payload["uid"] = "person"
            }, 401
        ),
        ("a user's ID", { payload, _ in (payload["aud"], payload["uid"]) = (nil, "person") }, 401),
        ("no subject", { payload, _ in (payload["aud"], payload["sub"]) = (nil, nil) }, 401),
        ("3,661 seconds", { payload, now in (payload["aud"], payload["exp"]) = (nil, .number(now + 3_661)) }, 401),
        ("the future", { payload, now in (payload["aud"], payload["iat"]) = (nil, .number(now + 61)) }, 401),
        (
            "the past",
            { payload, now in
                (payload["aud"], payload["iat"], payload["exp"]) = (nil, .number(now - 3600), .number(now))
            }, 401
        ),
    ]

    @Test(
        "T-D13: a JWT of the account is the bearer token of its calls, for this service alone",
        arguments: selfSigned.indices
    )
    func selfSignedTokens(_ index: Int) async throws {
        let (name, change, status) = Self.selfSigned[index]
        try await run { scene in
            var payload = scene.payload()
            payload["sub"] = payload["iss"]
            change(&payload, Double(scene.service.clock.seconds))
            let answer = try await scene.status(scene.account.sign(payload))
            #expect(answer == status, "\(name)")
        }
    }

    @Test("T-D13: such a token does what the account may and its scopes name, in its project, until its key is revoked")
    func selfSignedLimits() async throws {
        try await run { scene in
            var payload = scene.payload()
            (payload["sub"], payload["aud"]) = (payload["iss"], nil)
            let token = try scene.account.sign(payload)
            #expect(try await scene.status(token, manages: true) == 200)
            #expect(try await scene.status(token, project: "another-project") == 403)
            payload["scope"] = "accounts.read"
            let narrow = try scene.account.sign(payload)
            #expect(try await scene.status(narrow) == 200)
            #expect(try await scene.status(narrow, manages: true) == 403)
            let parts = token.split(separator: ".").map { String($0) }
            #expect(try await scene.status("\(parts[0]).\(parts[1]).AAAA") == 401)
            try await scene.service.stores.configuration.revoke(ServiceAccountKey.self, scene.account.key.id)
            #expect(try await scene.status(token) == 401)
        }
        try await run(scopes: [.readAccounts]) { scene in
            var payload = scene.payload()
            (payload["sub"], payload["aud"]) = (payload["iss"], nil)
            let token = try scene.account.sign(payload)
            #expect(try await scene.status(token) == 200)
            #expect(try await scene.status(token, manages: true) == 403)
        }
    }

    // MARK: Back ends that act as apps (kreait/firebase-php)

    @Test("T-E8: nothing counts by a back end's address, which is that of all its users; an account's tries count")
    func backEndLimits() async throws {
        var options = TestService.Options()
        options.limitsRates = true
        options.settings.rateLimits[.passwordTriesPerAddress].count = 2
        try await TestService.run(options) { service in
            let account = try await TestServiceAccount.register(
                in: service.project.id,
                scopes: [.manageAccounts],
                service.stores.configuration
            )
            let scene = Scene(service: service, account: account)
            let token = try await scene.accessToken()
            func signIn(_ email: String) async throws -> Reply {
                let body: JSON = ["email": .string(email), "password": "wrong horse"]
                return try await service.send(
                    "POST",
                    "/v1/accounts:signInWithPassword",
                    headers: [("Authorization", "Bearer \(token)"), ("Content-Type", "application/json")],
                    body: Array(body.text.utf8)
                )
            }
            for number in 0..<4 {
                try await signIn("user\(number)@example.com").expectRefused("INVALID_LOGIN_CREDENTIALS")
            }
            var last = ""
            for _ in 0..<20 where !last.hasPrefix("TOO_MANY") {
                last = try await signIn("user0@example.com").error ?? ""
            }
            #expect(last.hasPrefix("TOO_MANY_ATTEMPTS_TRY_LATER"), "\(last)")
        }
    }

    @Test("a back end's token takes the place of the API key, in its own project, without its users' limits together")
    func backEnds() async throws {
        try await run { scene in
            let (service, token) = (scene.service, try await scene.accessToken())
            _ = try await service.signUp("ada@example.com")
            func send(_ operation: String, _ body: JSON, as token: String) async throws -> Reply {
                try await service.send(
                    "POST",
                    "/identitytoolkit.googleapis.com/v1/accounts:\(operation)",
                    headers: [("Authorization", "Bearer \(token)"), ("Content-Type", "application/json")],
                    body: Array(body.text.utf8)
                )
            }
            let password: JSON = ["email": "ada@example.com", "password": "correct horse", "returnSecureToken": true]
            let named = password.merging(["targetProjectId": .string(service.project.id.rawValue)])
            for body in [named, password] {
                let reply = try await send("signInWithPassword", body, as: token)
                #expect(reply.status == 200 && reply.idToken != nil, "\(reply)")
                let refreshed = try await service.send(
                    "POST",
                    "/securetoken.googleapis.com/v1/token",
                    headers: [
                        ("Authorization", "Bearer \(token)"), ("Content-Type", "application/x-www-form-urlencoded"),
                    ],
                    body: Array("grant_type=refresh_token&refresh_token=\(reply.refreshToken ?? "")".utf8)
                )
                #expect(refreshed.status == 200 && refreshed["id_token"] != nil, "\(refreshed)")
            }
            let elsewhere = password.merging(["targetProjectId": "another-project"])
            #expect(try await send("signInWithPassword", elsewhere, as: token).status == 403)
            #expect(try await send("signInWithPassword", named, as: "ida_nonsense").status == 401)
            let reader = try await scene.accessToken { $0["scope"] = "accounts.read" }
            #expect(try await send("signInWithPassword", named, as: reader).status == 403)
            // The audit log names the credential.
            let log = try await service.admin("auditEntries?pageSize=50")
            let actors = log["auditEntries"]?.array?.compactMap { $0["actor"]?.string } ?? []
            #expect(actors.contains("admin:\(scene.account.key.id)"), "\(log)")
        }
    }

    @Test("T-D13: a key that is revoked or over takes its tokens with it, at once")
    func endsWithItsKey() async throws {
        try await run(expiresAt: { $0.clock.seconds + 600 }) { scene in
            let token = try await scene.accessToken()
            #expect(try await scene.status(token) == 200)
            scene.service.clock.advance(by: 600)
            #expect(try await scene.status(token) == 401)
            #expect(try await scene.ask(scene.account.sign(scene.payload()))["error"] == "invalid_grant")
        }
        try await run { scene in
            let token = try await scene.accessToken()
            #expect(try await scene.status(token) == 200)
            try await scene.service.stores.configuration.revoke(ServiceAccountKey.self, scene.account.key.id)
            #expect(try await scene.status(token) == 401)
            try await scene.service.stores.configuration.refresh()
            #expect(try await scene.ask(scene.account.sign(scene.payload()))["error"] == "invalid_grant")
        }
    }

    @Test("T-D13: a token allows what the account may do and the assertion names, and nothing in another project")
    func scopes() async throws {
        try await run(scopes: [.readAccounts]) { scene in
            let token = try await scene.accessToken()
            #expect(try await scene.status(token) == 200)
            #expect(try await scene.status(token, manages: true) == 403)
            let greedy = try await scene.accessToken { $0["scope"] = "accounts.manage" }
            #expect(try await scene.status(greedy, manages: true) == 403)
        }
        try await run { scene in
            let narrow = try await scene.accessToken { $0["scope"] = "accounts.read openid" }
            #expect(try await scene.status(narrow) == 200)
            #expect(try await scene.status(narrow, manages: true) == 403)
            let token = try await scene.accessToken()
            #expect(try await scene.status(token, project: "another-project") == 403)
        }
    }

    /// What is no assertion of this account for this endpoint.
    private static let forgeries: [(change: @Sendable (inout [String: JSON], Double) -> Void, text: String)] = [
        ({ payload, _ in payload["aud"] = "https://elsewhere.example/token" }, "The assertion's audience is invalid"),
        ({ payload, _ in payload["aud"] = nil }, "The assertion's audience is invalid"),
        ({ payload, _ in payload["iss"] = nil }, "Invalid assertion format"),
        ({ payload, _ in payload["sub"] = "somebody-else@example.com" }, "Invalid assertion format"),
        ({ payload, _ in payload["exp"] = nil }, "Invalid assertion format"),
        (
            { payload, _ in payload["iss"] = "nobody@example.com" },
            "The assertion's issuer is not a service account with this permission"
        ),
        (
            { payload, now in
                payload["iat"] = .number(now - 3600)
                payload["exp"] = .number(now)
            }, "The assertion has expired"
        ),
        ({ payload, now in payload["exp"] = .number(now + 3_661) }, "The assertion is valid for more than an hour"),
        (
            { payload, now in
                payload["iat"] = .number(now + 61)
                payload["exp"] = .number(now + 3600)
            }, "The assertion was issued in the future"
        ),
    ]

    @Test("T-D13: nothing else is an assertion, or an access token", arguments: forgeries.indices)
    func refusesForgeries(_ index: Int) async throws {
        let (change, text) = Self.forgeries[index]
        try await run { scene in
            var payload = scene.payload()
            change(&payload, Double(scene.service.clock.seconds))
            let reply = try await scene.ask(scene.account.sign(payload))
            #expect(reply.status == 400, "\(reply)")
            #expect(reply["error"] == "invalid_grant" && reply["error_description"] == .string(text), "\(reply)")
        }
    }

    @Test("T-D13: foreign, unsigned and altered tokens are refused; an assertion is not a token")
    func refusesSignatures() async throws {
        try await run { scene in
            let other = try await TestServiceAccount.register(
                in: scene.service.project.id,
                name: "another",
                scene.service.stores.configuration
            )
            let assertion = try scene.account.sign(scene.payload())
            let parts = assertion.split(separator: ".").map { String($0) }
            let forged = [
                try other.sign(scene.payload()), parts[0] + "." + parts[1] + ".",
                try scene.account.sign(scene.payload(), header: ["alg": "none"]),
                try scene.account.sign(scene.payload(), header: ["alg": "RS256", "kid": "another"]), "x", "a.b.c",
            ]
            for text in forged {
                let reply = try await scene.ask(text)
                #expect(reply.status == 400 && reply["error"] == "invalid_grant", "\(text) \(reply)")
            }
            let token = try await scene.accessToken()
            let custom = try scene.account.sign(
                scene.account.payload(uid: "person", at: scene.service.clock.seconds)
            )
            #expect(try await scene.ask(custom)["error"] == "invalid_grant")
            let last = try #require(token.last)
            let changed = token.dropLast() + (last == "A" ? "B" : "A")
            for text in [assertion, custom, String(changed), "ida_", "ida_AAAA", token + "A"] {
                #expect(try await scene.status(text) == 401, "\(text)")
            }
        }
    }

    @Test("what cannot be read is refused in OAuth's form")
    func refusesRequests() async throws {
        try await run { scene in
            let requests = [
                ("{}", "invalid_request"), (#"{"grant_type": 1}"#, "invalid_request"), ("[]", "invalid_request"),
                (#"{"grant_type": "password", "assertion": "x"}"#, "unsupported_grant_type"),
                (#"{"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer"}"#, "invalid_request"),
            ]
            for (body, code) in requests {
                let reply = try await scene.service.post("/token", text: body)
                #expect(reply.status == 400 && reply["error"] == .string(code), "\(body) \(reply)")
                #expect(reply["error_description"]?.string?.isEmpty == false)
            }
        }
    }
}
