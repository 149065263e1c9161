import Projects
import Secrets
import TestKit
import Testing

/// Requests as test suites for the Firebase emulator send them.
@Suite("What emulator users type", .database)
struct EmulatorRequestTests {
    private func run(_ body: @Sendable (TestService) async throws -> Void) async throws {
        var options = TestService.Options()
        options.development = true
        options.settings = .development
        try await TestService.run(options, body)
    }

    private func owner(_ path: String, _ body: JSON, _ service: TestService) async throws -> Reply {
        try await service.send(
            "POST",
            path,
            headers: [("Authorization", "Bearer owner"), ("Content-Type", "application/json")],
            body: Array(body.text.utf8)
        )
    }

    @Test("`Bearer owner` without a project or key means the demo project, under v1 and v3 names")
    func unnamedProject() async throws {
        try await run { service in
            let made = try await owner(
                "/v1/accounts:signUp",
                ["email": "ada@example.com", "password": "correct horse"],
                service
            )
            made.expectOK()
            let id = try #require(made["localId"])
            let looks: [(path: String, body: JSON)] = [
                ("/v1/accounts:lookup", ["localId": [id]]),
                ("/identitytoolkit.googleapis.com/v1/accounts:lookup", ["email": ["ada@example.com"]]),
                ("/identitytoolkit/v3/relyingparty/getAccountInfo", ["localId": [id]]),
            ]
            for look in looks {
                let found = try await owner(look.path, look.body, service)
                #expect(found["users"]?[0]?["localId"] == id, "\(look.path): \(found)")
            }
            let updated = try await owner("/v1/accounts:update", ["localId": id, "displayName": "Ada"], service)
            #expect(updated.status == 200 && updated["displayName"] == "Ada", "\(updated)")
            let link = try await owner(
                "/v1/accounts:sendOobCode",
                ["requestType": "PASSWORD_RESET", "email": "ada@example.com", "returnOobLink": true],
                service
            )
            #expect(link["oobLink"] != nil, "\(link)")
        }
    }

    @Test("`serve` refuses an admin's request that names no project")
    func namedProject() async throws {
        try await TestService.run { service in
            let reply = try await service.send(
                "POST",
                "/v1/accounts:lookup",
                headers: [("Authorization", "Bearer \(service.adminToken)"), ("Content-Type", "application/json")],
                body: Array(#"{"localId":["x"]}"#.utf8)
            )
            #expect(reply.status == 400 && reply.error == "INSUFFICIENT_PERMISSION", "\(reply)")
        }
    }

    @Test(
        "a fake credential is JSON in either token, with spaces as form encoders write them, for any provider",
        arguments: [
            ("google.com", "id_token", #"{"sub":+"g1",+"email":"ada@example.com","name":"Ada+Lovelace"}"#),
            ("google.com", "id_token", "%7B%22sub%22:+%22g1%22,+%22name%22:+%22Ada%20Lovelace%22%7D"),
            ("github.com", "access_token", #"{"sub":"gh1","name":"Ada+Lovelace"}"#),
            ("facebook.com", "access_token", "%7b%22sub%22%3a%22fb1%22%2c%22name%22%3a%22Ada+Lovelace%22%7d"),
            ("twitter.com", "access_token", #"{"sub":"tw1","name":"Ada%20Lovelace"}"#),
            ("oidc.any", "id_token", #"{"sub":"o1","name":"Ada+Lovelace"}"#),
        ]
    )
    func fakeCredential(_ provider: String, _ name: String, _ value: String) async throws {
        try await run { service in
            let reply = try await service.signInWithIdP(postBody: "\(name)=\(value)&providerId=\(provider)")
            #expect(reply.status == 200 && reply["displayName"] == "Ada Lovelace", "\(reply)")
            #expect(reply["providerId"]?.string == provider && reply["isNewUser"] == true, "\(reply)")
            let again = try await service.signInWithIdP(postBody: "\(name)=\(value)&providerId=\(provider)")
            #expect(again["localId"] == reply["localId"] && again["isNewUser"] != true, "\(again)")
        }
    }

    @Test(
        "a fake credential's `rawUserInfo` has the names of the provider's real one",
        arguments: [
            ("google.com", ["id": "7", "name": "Ada", "email": "ada@example.com", "picture": "https://p.example/1"]),
            ("github.com", ["id": "7", "name": "Ada", "login": "lady", "avatar_url": "https://p.example/1"]),
            ("facebook.com", ["id": "7", "name": "Ada", "picture.data.url": "https://p.example/1"]),
            ("twitter.com", ["id_str": "7", "name": "Ada", "screen_name": "lady"]),
            ("microsoft.com", ["sub": "7", "name": "Ada", "preferred_username": "lady"]),
            ("apple.com", ["sub": "7", "email": "ada@example.com"]),
            ("oidc.any", ["sub": "7", "name": "Ada", "preferred_username": "lady"]),
            ("oauth.any", ["id": "7", "name": "Ada"]),
        ] as [(String, [String: String])]
    )
    func rawUserInfo(_ provider: String, _ expected: [String: String]) async throws {
        try await run { service in
            let fake = """
                {"sub":"7","name":"Ada","email":"ada@example.com","email_verified":true,"screen_name":"lady",\
                "picture":"https://p.example/1"}
                """
            let reply = try await service.signInWithIdP(postBody: "access_token=\(fake)&providerId=\(provider)")
            #expect(reply["displayName"] == "Ada" && reply["email"] == "ada@example.com", "\(reply)")
            #expect(reply["screenName"] == "lady" && reply["photoUrl"] == "https://p.example/1", "\(reply)")
            let raw = try JSON(parsing: Array((reply["rawUserInfo"]?.string ?? "").utf8))
            for (path, value) in expected {
                let found = path.split(separator: ".").reduce(raw as JSON?) { $0?[String($1)] }
                #expect(found?.string == value, "\(path): \(raw)")
            }
            guard provider == "google.com" else { return }
            #expect(raw["verified_email"] == true && raw["sub"] == nil, "\(raw)")
            #expect(
                raw["granted_scopes"]?.string
                    == "openid https://www.googleapis.com/auth/userinfo.email https://www.googleapis.com/auth/userinfo.profile"
            )
        }
    }

    @Test("a `+` that is encoded stays one")
    func encodedPlus() async throws {
        try await run { service in
            let fake = "%7B%22sub%22:+%22g1%22,+%22email%22:+%22ada%2Bnews@example.com%22%7D"
            let reply = try await service.signInWithIdP(postBody: "id_token=\(fake)&providerId=google.com")
            #expect(reply["email"] == "ada+news@example.com", "\(reply)")
        }
    }

    @Test("a SAML response is the emulator's JSON, with or without an ID token")
    func saml() async throws {
        try await run { service in
            let response =
                #"{"assertion":{"subject":{"nameId":"ada@example.com"},"attributeStatements":{"team":"blue"}}}"#
            let reply = try await service.signInWithIdP(postBody: "SAMLResponse=\(response)&providerId=saml.corp")
            #expect(reply.status == 200 && reply["email"] == "ada@example.com", "\(reply)")
            #expect(reply["emailVerified"] == true && reply["rawUserInfo"] == #"{"team":"blue"}"#, "\(reply)")
            #expect(reply.claims["firebase"]?["sign_in_attributes"]?["team"] == "blue", "\(reply.claims)")
            let other = try await service.signInWithIdP(
                postBody: #"id_token={"sub":"s2"}&SAMLResponse=\#(response)&providerId=saml.corp"#
            )
            #expect(other["federatedId"] == "s2", "\(other)")
            let broken = try await service.signInWithIdP(
                postBody: "SAMLResponse={\"assertion\":{}}&providerId=saml.corp"
            )
            #expect(broken.status == 400 && broken.error?.hasPrefix("INVALID_IDP_RESPONSE") == true, "\(broken)")
        }
    }

    @Test("an unsigned custom token must be for this service")
    func customTokenAudience() async throws {
        try await run { service in
            func signIn(_ audience: String) async throws -> Reply {
                let header = Base64URL.encode(Array(#"{"alg":"none","typ":"JWT"}"#.utf8))
                let payload = Base64URL.encode(Array(#"{"uid":"person-1","aud":"\#(audience)"}"#.utf8))
                return try await service.call(
                    "accounts:signInWithCustomToken",
                    ["token": .string("\(header).\(payload).")]
                )
            }
            let right = "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"
            try await signIn(right).expectOK()
            let wrong = try await signIn(service.project.id.rawValue)
            #expect(wrong.status == 400 && wrong.error?.hasPrefix("INVALID_CUSTOM_TOKEN") == true, "\(wrong)")
        }
    }

    @Test("`lookup` finds an account by the address that it had first")
    func initialEmail() async throws {
        try await run { service in
            let made = try await service.signUp("ada@example.com")
            let idToken = try #require(made["idToken"])
            #expect(
                try await service.call("accounts:update", ["idToken": idToken, "email": "ada@example.org"]).status
                    == 200
            )
            for address in ["ada@example.com", "ADA@Example.com"] {
                let found = try await service.admin("accounts:lookup", ["initialEmail": [.string(address)]])
                #expect(found["users"]?[0]?["localId"] == made["localId"], "\(found)")
            }
            let nobody = try await service.admin("accounts:lookup", ["initialEmail": ["ada@example.org"]])
            #expect(nobody.status == 200 && nobody["users"] == nil, "\(nobody)")
        }
    }

    @Test("a returning sign-in stores what the provider says now, and leaves the account's own email and name")
    func returningProfile() async throws {
        try await run { service in
            func signIn(_ claims: String) async throws -> Reply {
                try await service.signInWithIdP(postBody: "id_token={\"sub\":\"g1\",\(claims)}&providerId=google.com")
            }
            let first = try await signIn(#""email":"ada@example.com","email_verified":true,"name":"Ada""#)
            first.expectOK()
            let id = try #require(first["localId"]?.string)
            try await signIn(#""email":"ada@new.example.com","name":"Ada Lovelace""#).expectOK()
            // What the provider leaves out stays.
            #expect(
                try await signIn(#""email":"ada@new.example.com","picture":"https://example.com/a.png""#).status == 200
            )
            let account = try #require(try await service.account(id))
            #expect(account["email"] == "ada@example.com" && account["displayName"] == "Ada", "\(account)")
            let linked = try #require(account["providerUserInfo"]?[0])
            #expect(linked["email"] == "ada@new.example.com" && linked["displayName"] == "Ada Lovelace", "\(linked)")
            #expect(linked["photoUrl"] == "https://example.com/a.png", "\(linked)")
        }
    }

    @Test("a client's request that names another project is refused")
    func targetProject() async throws {
        try await TestService.run { service in
            let password: JSON = ["email": "ada@example.com", "password": "correct horse"]
            let own: JSON = ["targetProjectId": .string(service.project.id.rawValue)]
            try await service.call("accounts:signUp", password.merging(own)).expectOK()
            let theirs = try await service.call(
                "accounts:signInWithPassword",
                password.merging(["targetProjectId": "other-project"])
            )
            #expect(theirs.status == 400 && theirs.error == "INSUFFICIENT_PERMISSION", "\(theirs)")
        }
    }
}
