import Domain
import Foundation
import Postgres
import Projects
import Secrets
import Sessions
import Storage
import Testing
import TestKit

/// Sign-in of whom a back end vouches for.
@Suite("Custom tokens", .database)
struct CustomTokenTests {
    private struct Scene: Sendable {
        var service: TestService
        var account: TestServiceAccount
        var now: Int64 { service.clock.seconds }

        func payload(_ uid: String = "person-1", claims: JSON? = nil) -> [String: JSON] {
            account.payload(uid: uid, claims: claims, at: now)
        }

        func signIn(_ payload: [String: JSON], header: [String: JSON]? = nil) async throws -> Reply {
            let token = try header.map { try account.sign(payload, header: $0) } ?? account.sign(payload)
            return try await signIn(token)
        }

        func signIn(_ token: String) async throws -> Reply {
            try await service.call(
                "accounts:signInWithCustomToken",
                ["token": .string(token), "returnSecureToken": true]
            )
        }
    }

    private func run(_ body: @Sendable (Scene) async throws -> Void) async throws {
        try await TestService.run { service in
            let account = try await TestServiceAccount.register(
                in: service.project.id,
                service.stores.configuration
            )
            try await body(Scene(service: service, account: account))
        }
    }

    @Test(
        "R-40: the first one makes the account, the next ones find it; its claims are the session's, over the account's"
    )
    func signsIn() async throws {
        try await run { scene in
            let first = try await scene.signIn(scene.payload(claims: ["role": "admin", "plan": "gold"]))
            first.expectOK()
            #expect(first["isNewUser"] == true && first["localId"] == nil, "\(first)")
            #expect(first["kind"] == "identitytoolkit#VerifyCustomTokenResponse")
            let claims = first.claims
            #expect(claims["sub"] == "person-1" && claims["role"] == "admin")
            #expect(claims["firebase"]?["sign_in_provider"] == "custom")
            let account = try await scene.service.account("person-1")
            #expect(account?["customAuth"] == true && account?["email"] == nil, "\(String(describing: account))")
            // An admin's claims yield to those of the sign-in, also after a refresh.
            let changed = try await scene.service.admin(
                "accounts:update",
                ["localId": "person-1", "customAttributes": #"{"plan":"basic","team":"blue"}"#]
            )
            changed.expectOK()
            let refreshed = try await scene.service.refresh(first.refreshToken)
            let later = refreshed.claims
            #expect(later["plan"] == "gold" && later["team"] == "blue" && later["role"] == "admin")
            let second = try await scene.signIn(scene.payload())
            #expect(second["isNewUser"] == false, "\(second)")
            let plain = second.claims
            #expect(plain["plan"] == "basic" && plain["role"] == nil)
            try await scene.service.lookUp(second.idToken).expectOK()
        }
    }

    @Test(
        "a uid that an account has is that account, whatever else it signs in with; twenty at once make one",
        .twoNodes
    )
    func sameAccount() async throws {
        try await run { scene in
            let user = try await scene.service.signUp("ada@example.com")
            let id = try #require(user.localID)
            let reply = try await scene.signIn(scene.payload(id))
            #expect(reply["isNewUser"] == false, "\(reply)")
            #expect(try await scene.service.account(id)?["email"] == "ada@example.com")
            #expect(try await scene.service.account(id)?["customAuth"] == true)
            let token = try scene.account.sign(scene.payload("together"))
            // Several have found nobody before the first of them makes the account.
            let all = try await TestDatabase.current.client.transaction { transaction in
                try await transaction.execute("LOCK TABLE accounts IN SHARE MODE")
                let all = Task {
                    try await withThrowingTaskGroup(of: Reply.self) { group in
                        for _ in 0..<20 { group.addTask { try await scene.signIn(token) } }
                        return try await group.reduce(into: []) { $0.append($1) }
                    }
                }
                try await waitUntil {
                    let waiting: [Int64] = try await TestDatabase.current.client.query(
                        "SELECT count(*) FROM pg_locks WHERE relation = 'accounts'::regclass AND NOT granted"
                    ) { try $0.next() }
                    return waiting.first ?? 0 > 1
                }
                return all
            }
            let replies = try await all.value
            #expect(replies.allSatisfy { $0.status == 200 }, "\(replies)")
            #expect(replies.count { $0["isNewUser"] == true } == 1)
            let sessions = try await scene.service.call(
                "accounts:listSessions",
                ["idToken": JSON(replies.first?.idToken)]
            )
            #expect(sessions["sessions"]?.array?.count == 20, "\(sessions)")
        }
    }

    @Test("T-D7: every limit of a custom token, each by itself")
    func limits() async throws {
        try await run { scene in
            let now = scene.now
            let good = scene.payload()
            func with(_ name: String, _ value: JSON?) -> [String: JSON] {
                var payload = good
                payload[name] = value
                return payload
            }
            func at(_ issued: Int64, _ expires: Int64) -> [String: JSON] {
                var payload = with("iat", .number(Double(issued)))
                payload["exp"] = .number(Double(expires))
                return payload
            }
            let long = String(repeating: "u", count: 129)
            let refused: [([String: JSON], String)] = [
                (with("aud", "https://identitytoolkit.googleapis.com/"), "INVALID_CUSTOM_TOKEN"),
                (with("aud", nil), "INVALID_CUSTOM_TOKEN"),
                (with("iss", "nobody@example.iam.gserviceaccount.com"), "INVALID_CUSTOM_TOKEN"),
                (with("sub", "nobody@example.iam.gserviceaccount.com"), "INVALID_CUSTOM_TOKEN"),
                (at(now + 61, now + 3600), "INVALID_CUSTOM_TOKEN"),
                (at(now, now + 3_661), "INVALID_CUSTOM_TOKEN"),
                (at(-9_000_000_000_000_000, 9_000_000_000_000_000), "INVALID_CUSTOM_TOKEN"),
                (at(now - 3600, now), "INVALID_CUSTOM_TOKEN"),
                (with("iat", nil), "INVALID_CUSTOM_TOKEN"),
                (with("exp", "soon"), "INVALID_CUSTOM_TOKEN"),
                (with("tenant_id", "tenant-1"), "TENANT_ID_MISMATCH"),
                (with("uid", nil), "MISSING_IDENTIFIER"),
                (with("uid", ""), "MISSING_IDENTIFIER"),
                (with("uid", .string(long)), "MISSING_IDENTIFIER"),
                (with("uid", 7), "MISSING_IDENTIFIER"),
                (with("claims", "admin"), "INVALID_CLAIMS"),
                (with("claims", ["sub": "somebody-else"]), "FORBIDDEN_CLAIM"),
                (with("claims", ["firebase": [:]]), "FORBIDDEN_CLAIM"),
                (with("claims", ["big": .string(String(repeating: "x", count: 1000))]), "CLAIMS_TOO_LARGE"),
            ]
            for (payload, code) in refused {
                let reply = try await scene.signIn(payload)
                #expect(reply.status == 400 && reply.code == code, "\(payload): \(reply)")
            }
            #expect(try await scene.service.account("person-1") == nil, "nothing was made")
            for payload in [
                at(now + 60, now + 3600), at(now - 3599, now + 1), with("claims", nil),
                // As Google's PHP clients and lcobucci/jwt send them.
                at(now - 60, now + 3600), with("iat", .number(Double(now) + 0.469)),
            ] {
                #expect(try await scene.signIn(payload).status == 200, "\(payload)")
            }
            let edge = try await scene.signIn(with("uid", .string(String(long.dropLast()))))
            edge.expectOK()
        }
    }

    @Test("T-D7: only RS256 by a registered key: no other algorithm, no other key, no changed byte")
    func signatures() async throws {
        try await run { scene in
            let token = try scene.account.sign(scene.payload())
            let parts = token.split(separator: ".").map { String($0) }
            let other = Base64URL.encode(Array(JSON.object(scene.payload("somebody-else")).text.utf8))
            let none = Base64URL.encode(Array(#"{"alg":"none","typ":"JWT"}"#.utf8))
            let forged = [
                "", "x", "a.b.c", "\(none).\(parts[1]).", "\(none).\(parts[1]).\(parts[2])",
                "\(parts[0]).\(other).\(parts[2])", "\(parts[0]).\(parts[1]).", "\(parts[0]).\(parts[1])",
                JSON.object(scene.payload()).text, token + "x", String(token.dropLast()),
            ]
            for text in forged {
                let reply = try await scene.signIn(text)
                #expect(
                    reply.code == (text.isEmpty ? "MISSING_CUSTOM_TOKEN" : "INVALID_CUSTOM_TOKEN"),
                    "\(text): \(reply)"
                )
            }
            for header: [String: JSON] in [
                ["alg": "HS256"], ["alg": "RS256", "crit": ["exp"]], ["alg": "RS256", "kid": "another"],
            ] {
                #expect(try await scene.signIn(scene.payload(), header: header).code == "INVALID_CUSTOM_TOKEN")
            }
            let named: [String: JSON] = ["alg": "RS256", "kid": .string(scene.account.key.id)]
            try await scene.signIn(scene.payload(), header: named).expectOK()
        }
    }

    @Test(
        "T-D7: a revoked key, an expired one, and one that may not sign tokens are refused, at the other node as well"
    )
    func revokedKeys() async throws {
        try await run { scene in
            var options = TestService.Options()
            options.project = scene.service.project
            options.clock = scene.service.clock
            let configuration = scene.service.stores.configuration
            let project = scene.service.project.id
            let token = try scene.account.sign(scene.payload())
            try await TestService.run(options) { other in
                let there = Scene(service: other, account: scene.account)
                try await there.signIn(token).expectOK()
                try await configuration.revoke(ServiceAccountKey.self, scene.account.key.id)
                #expect(try await scene.signIn(token).code == "INVALID_CUSTOM_TOKEN")
                try await other.stores.configuration.refresh()
                #expect(try await there.signIn(token).code == "INVALID_CUSTOM_TOKEN")
            }
            let mute = try await TestServiceAccount.register(
                in: project,
                name: "no-tokens",
                scopes: [.readAccounts],
                configuration
            )
            let muted = try mute.sign(mute.payload(uid: "u", at: scene.now))
            #expect(try await scene.signIn(muted).code == "INVALID_CUSTOM_TOKEN")
            let brief = try await TestServiceAccount.register(
                in: project,
                name: "for-a-minute",
                expiresAt: scene.now + 60,
                configuration
            )
            let before = try brief.sign(brief.payload(uid: "u", at: scene.now))
            try await scene.signIn(before).expectOK()
            scene.service.clock.advance(by: 60)
            #expect(try await scene.signIn(before).code == "INVALID_CUSTOM_TOKEN")
        }
    }

    @Test(
        "T-A2, T-A17: whoever signs out everywhere, or elsewhere, ends the custom tokens of before",
        arguments: ["all", "others"]
    )
    func signOut(scope: String) async throws {
        try await run { scene in
            let (service, clock) = (scene.service, scene.service.clock)
            let stolen = try scene.account.sign(scene.payload())
            try await scene.signIn(stolen).expectOK()
            clock.advance(by: 60)
            let owner = try await scene.signIn(scene.account.sign(scene.payload()))
            clock.advance(by: 60)
            let out = try await service.call(
                "accounts:signOut",
                ["idToken": JSON(owner.idToken), "scope": .string(scope)]
            )
            out.expectOK()
            let late = try await scene.signIn(stolen)
            late.expectRefused("INVALID_CUSTOM_TOKEN : The assertion was issued before the user's tokens were revoked")
            let refreshed = try await service.refresh(owner.refreshToken)
            if scope == "all" { refreshed.expectRefused("TOKEN_EXPIRED") } else { #expect(refreshed.status == 200) }
            clock.advance(by: 1)
            try await scene.signIn(scene.account.sign(scene.payload())).expectOK()
        }
    }

    @Test("T-D7: a service account of one project signs no one in to another")
    func otherProject() async throws {
        try await run { scene in
            try await TestService.run { other in
                let token = try scene.account.sign(scene.payload())
                let reply = try await other.call("accounts:signInWithCustomToken", ["token": .string(token)])
                #expect(reply.status == 400 && reply.code == "CREDENTIAL_MISMATCH", "\(reply)")
                #expect(try await other.account("person-1") == nil)
            }
        }
    }

    @Test("a disabled account stays out")
    func disabled() async throws {
        try await run { scene in
            try await scene.signIn(scene.payload()).expectOK()
            try await scene.service.admin("accounts:update", ["localId": "person-1", "disableUser": true])
            #expect(try await scene.signIn(scene.payload()).code == "USER_DISABLED")
        }
    }

    @Test("unsigned tokens and plain JSON, as SDKs send them to an emulator, count in development alone")
    func development() async throws {
        var options = TestService.Options()
        options.development = true
        let payload = #"{"uid":"emulated","claims":{"role":"tester"}}"#
        let none = Base64URL.encode(Array(#"{"alg":"none","typ":"JWT"}"#.utf8))
        let forUs = #"{"uid":"emulated","aud":"\#(CustomToken.audience)","claims":{"role":"tester"}}"#
        let unsigned = "\(none).\(Base64URL.encode(Array(forUs.utf8)))."
        try await TestService.run(options) { service in
            for (number, token) in [payload, unsigned].enumerated() {
                let reply = try await service.call("accounts:signInWithCustomToken", ["token": .string(token)])
                #expect(reply.status == 200 && reply["isNewUser"] == .bool(number == 0), "\(reply)")
                #expect(reply.claims["role"] == "tester")
            }
            let missing = try await service.call("accounts:signInWithCustomToken", ["token": "{}"])
            #expect(missing.code == "MISSING_IDENTIFIER", "\(missing)")
        }
    }
}
