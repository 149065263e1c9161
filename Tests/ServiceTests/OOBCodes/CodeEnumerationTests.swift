import Accounts
import IdentityService
import Passwords
import Postgres
import Projects
import Storage
import TestKit
import Testing

/// With email enumeration protection nobody learns from codes who has an account.
@Suite("One-time codes and enumeration", .database, .serialized)
struct CodeEnumerationTests {
    private func run(_ body: @Sendable (TestService) async throws -> Void) async throws {
        try await MailScene.run({ $0.emailEnumerationProtection = true }, body)
    }

    /// What an answer shows, its request id and date aside.
    private func shown(_ reply: Reply, _ address: String) -> [String] {
        let headers = reply.response.headers
            .filter { !["x-request-id", "date"].contains($0.name.lowercased()) }
            .map { "\($0.name): \($0.value)" }.sorted()
        return ["\(reply.status)", reply.response.text.replacing(address, with: "ADDRESS")] + headers
    }

    /// Rows of codes and messages that a request causes; its statements, and the rows that they return.
    private func work(
        of service: TestService,
        _ request: () async throws -> Reply
    ) async throws -> (reply: Reply, rows: [Int64], statements: [Int]) {
        let before = try await rows(service)
        let (count, reply) = try await StatementCount.during { try await request() }
        let after = try await rows(service)
        return (reply, zip(after, before).map { $0 - $1 }, [count.total, count.rows])
    }

    private func rows(_ service: TestService) async throws -> [Int64] {
        let project = service.project.id.rawValue
        return try await TestDatabase.current.client.query(
            """
            SELECT (SELECT count(*) FROM oob_codes WHERE project = \(project)),
                (SELECT count(*) FROM outbox WHERE project = \(project)),
                (SELECT sum(length(payload)) / 64 FROM outbox WHERE project = \(project))
            """
        ) { row in [try row.next(Int64.self), try row.next(Int64.self), try row.next(Int64?.self) ?? 0] }.first ?? []
    }

    @Test(
        "T-E1: known, unknown and disabled addresses are answered and worked for alike, byte for byte",
        arguments: [OOBCodeType.passwordReset, .emailSignIn]
    )
    func sendingTellsNothing(_ type: OOBCodeType) async throws {
        try await run { service in
            _ = try await service.signUp("known.one@example.com")
            _ = try await service.admin("accounts", ["email": "disable.d@example.com", "disabled": true])
            // Every statement has been used before.
            _ = try await service.sendCode(type, ["email": "known.one@example.com"])
            _ = try await service.sendCode(type, ["email": "warmed.up@example.com"])
            var seen: Set<[String]> = []
            var works: Set<[Int64]> = []
            var counts: Set<[Int]> = []
            let unknown = ["nobody.no@example.com", "before.al@example.com", "zzzz.last@example.com"]
            for address in ["known.one@example.com", "disable.d@example.com"] + unknown {
                try await clear(service)
                let (reply, rows, statements) = try await work(of: service) {
                    try await service.sendCode(type, ["email": .string(address)])
                }
                reply.expectOK()
                seen.insert(shown(reply, address))
                works.insert(rows)
                counts.insert(statements)
            }
            #expect(seen.count == 1, "\(seen)")
            #expect(works.count == 1, "\(works)")
            #expect(counts.count == 1, "\(counts)")
        }
    }

    @Test("T-E1: a wrong password gets the same response and work, whether or not the address has an account")
    func signingInTellsNothing() async throws {
        try await run { service in
            let known = try await service.signUp("known.one@example.com")
            _ = try await service.admin("accounts", ["email": "guest.one@example.com", "emailVerified": true])
            _ = try await service.admin(
                "accounts",
                ["email": "disable.d@example.com", "disabled": true, "password": "correct horse"]
            )
            _ = try await service.signInWithPassword("known.one@example.com", "warmed up")
            var seen: Set<[String]> = []
            var works: Set<[Int]> = []
            for address in ["known", "nobody", "guest", "disable"] {
                let address = address + (address == "disable" ? ".d" : ".one") + "@example.com"
                let hashes = service.passwords.begun
                let (count, reply) = try await StatementCount.during {
                    try await service.signInWithPassword(address, "a wrong one")
                }
                reply.expectRefused("INVALID_LOGIN_CREDENTIALS")
                seen.insert(shown(reply, address))
                works.insert([service.passwords.begun - hashes, count.total])
            }
            #expect(seen.count == 1, "\(seen)")
            #expect(works == [[1, 1]], "\(works)")
            try await service.refresh(known.refreshToken).expectOK()
        }
    }

    @Test("T-E1: asking for an address's methods tells nothing")
    func methodsTellNothing() async throws {
        try await run { service in
            _ = try await service.signUp("known.one@example.com")
            var seen: Set<[String]> = []
            var counts: Set<Int> = []
            for address in ["known.one@example.com", "nobody.no@example.com"] {
                let (count, reply) = try await StatementCount.during {
                    try await service.call(
                        "accounts:createAuthUri",
                        ["identifier": .string(address), "continueUri": "http://localhost"]
                    )
                }
                #expect(reply.status == 200 && reply["signinMethods"] == nil && reply["registered"] == nil, "\(reply)")
                seen.insert(shown(reply, reply["sessionId"]?.string ?? address))
                counts.insert(count.total)
            }
            #expect(seen.count == 1 && counts.count == 1, "\(seen) \(counts)")
        }
    }

    @Test("T-E1: a decoy sends no email, and stores a code that no one has", .database)
    func decoysSendNothing() async throws {
        try await run { service in
            _ = try await service.sendCode(.passwordReset, ["email": "nobody@example.com"])
            let user = try await service.signUp("ada@example.com")
            _ = try await service.signUp("bob@example.com")
            _ = try await service.sendCode(
                .verifyAndChangeEmail,
                ["idToken": JSON(user.idToken), "newEmail": "bob@example.com"]
            )
            _ = try await service.admin("accounts", ["email": "eve@example.com", "disabled": true])
            _ = try await service.sendCode(.emailSignIn, ["email": "eve@example.com"])
            #expect(try await service.mails().isEmpty)
            #expect(try await service.stores.outbox.waiting("mail", in: Scope(project: service.project.id)).isEmpty)
            // They go with the codes of their time.
            service.clock.advance(by: 5 * 86_400)
            try await service.sweep()
            #expect(try await rows(service).prefix(2) == [0, 0])
        }
    }

    @Test("T-E1: whether an address is taken does not show in a change of address")
    func changeTellsNothing() async throws {
        try await run { service in
            let user = try await service.signUp("ada.ada@example.com")
            _ = try await service.signUp("taken.one@example.com")
            var seen: Set<[String]> = []
            var works: Set<[Int64]> = []
            var counts: Set<[Int]> = []
            for address in ["free.free@example.com", "taken.one@example.com"] {
                try await clear(service)
                let (reply, rows, statements) = try await work(of: service) {
                    try await service.sendCode(
                        .verifyAndChangeEmail,
                        ["idToken": JSON(user.idToken), "newEmail": .string(address)]
                    )
                }
                #expect(reply["email"] == "ada.ada@example.com", "\(reply)")
                seen.insert(shown(reply, address))
                works.insert(rows)
                counts.insert(statements)
            }
            #expect(seen.count == 1 && works.count == 1 && counts.count == 1, "\(seen) \(works) \(counts)")
            let direct = try await service.call(
                "accounts:update",
                ["idToken": JSON(user.idToken), "email": "taken.one@example.com"]
            )
            direct.expectRefused("OPERATION_NOT_ALLOWED : Please verify the new email before changing email.")
        }
    }

    @Test(
        "T-E1: a request for a taken address ends the code before, as one for a free address does",
        arguments: [
            "free@example.com", "taken@example.com",
        ]
    )
    func changeEndsTheCodeBefore(_ address: String) async throws {
        try await run { service in
            _ = try await service.signUp("taken@example.com")
            let user = try await service.signUp("ada@example.com")
            let token = JSON(user.idToken)
            let code = try await service.code(
                .verifyAndChangeEmail,
                ["idToken": token, "newEmail": "mine@example.com"],
                to: "mine@example.com"
            )
            _ = try await service.sendCode(.verifyAndChangeEmail, ["idToken": token, "newEmail": .string(address)])
            try await service.apply(code).expectRefused("INVALID_OOB_CODE")
        }
    }

    @Test("admins learn what is so")
    func adminsLearn() async throws {
        try await run { service in
            try await service.admin(
                "accounts:sendOobCode",
                ["requestType": "PASSWORD_RESET", "email": "nobody@example.com", "returnOobLink": true]
            )
            .expectRefused("EMAIL_NOT_FOUND")
        }
    }

    private func clear(_ service: TestService) async throws {
        for table in ["oob_codes", "outbox"] as [SQL] {
            try await TestDatabase.current.client.execute(
                "DELETE FROM \(sql: table) WHERE project = \(service.project.id.rawValue)"
            )
        }
    }
}
