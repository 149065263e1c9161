import Passwords
import Postgres
import TestKit
import Testing

/// Passwords whose hashes cost something else than the project asks for now.
@Suite("Password hashes of other parameters", .database, .serialized)
struct PasswordCostTests {
    private struct Row: Equatable {
        var hash: [UInt8]
        var salt: [UInt8]
        var parameters: String
    }

    private func row(_ localID: String?) async throws -> Row? {
        try await TestDatabase.current.client.query(
            """
            SELECT password_hash, password_salt, password_parameters FROM accounts WHERE account = \(localID ?? "")
            """
        ) { row in Row(hash: try row.next(), salt: try row.next(), parameters: try row.next()) }.first
    }

    private func configure(_ service: TestService, memoryCost: JSON) async throws {
        let reply = try await service.admin(
            "config?updateMask=signIn.hashConfig",
            ["signIn": ["hashConfig": ["memoryCost": memoryCost]]],
            method: "PATCH",
            version: "v2"
        )
        reply.expectOK()
        let expected: JSON = ["algorithm": "SCRYPT", "rounds": 8, "memoryCost": memoryCost]
        #expect(reply["signIn"]?["hashConfig"] == expected, "\(reply)")
    }

    @Test("are replaced at the next sign-in, once, by the sign-in's own transaction; nothing else changes")
    func rehashes() async throws {
        try await TestService.run { service in
            let user = try await service.signUp("ada@example.com")
            let old = try #require(try await row(user.localID))
            #expect(old.parameters == "scrypt:8:14:7")
            let before = try await service.account(user.localID)
            try await configure(service, memoryCost: 12)
            #expect(try await service.signInWithPassword("ada@example.com", "a wrong one").status == 400)
            #expect(try await row(user.localID) == old)
            service.clock.advance(by: 5)
            _ = try await service.signInWithPassword("nobody@example.com")
            let (count, signedIn) = try await StatementCount.during {
                try await service.signInWithPassword("ada@example.com")
            }
            #expect(signedIn.localID == user.localID, "\(signedIn)")
            #expect(count.total == 9, "\(count)")
            let new = try #require(try await row(user.localID))
            #expect(new.parameters == "scrypt:8:12:7" && new.salt != old.salt && new.hash != old.hash)
            let hashes = service.passwords.begun
            try await service.signInWithPassword("ada@example.com").expectOK()
            #expect(service.passwords.begun == hashes + 1)
            #expect(try await row(user.localID) == new)
            let after = try await service.account(user.localID)
            #expect(after?.without("lastLoginAt", "lastRefreshAt") == before?.without("lastLoginAt", "lastRefreshAt"))
            try await service.refresh(user.refreshToken).expectOK()
            #expect(try await service.signInWithPassword("ada@example.com", "a wrong one").status == 400)
        }
    }

    @Test("are replaced after the first factor, although that signs no one in before the second")
    func rehashesBeforeSecondFactor() async throws {
        var options = TestService.Options()
        options.settings.offerApps()
        try await TestService.run(options) { service in
            let user = try await service.verifiedUser()
            let (app, session) = try await AuthenticatorApp.enroll(user.idToken, service)
            try await configure(service, memoryCost: 12)
            let before = try await service.account(user.localID)
            let challenge = try await service.signInWithPassword("ada@example.com")
            challenge.expectChallenge(for: app.enrollment)
            #expect(try await row(user.localID)?.parameters == "scrypt:8:12:7")
            #expect(try await service.account(user.localID) == before)
            let sessions = try await service.call("accounts:listSessions", ["idToken": JSON(session.idToken)])
            #expect(sessions["sessions"]?.array?.count == 1, "\(sessions)")
            try await app.signIn(challenge).expectSecondFactor(app.enrollment, provider: "password", of: user.localID)
        }
    }

    @Test("of sign-ins at once all get in, and the hash is replaced once", .twoNodes)
    func together() async throws {
        try await TestService.run { service in
            let user = try await service.signUp("ada@example.com")
            try await configure(service, memoryCost: 12)
            let replies = try await inParallel(10) { _ in try await service.signInWithPassword("ada@example.com") }
            #expect(replies.allSatisfy { $0.status == 200 }, "\(replies.map(\.description))")
            #expect(try await row(user.localID)?.parameters == "scrypt:8:12:7")
        }
    }

    @Test("T-A2: a new password is not undone by a sign-in with the old one that was about to replace its hash")
    func newPasswordWins() async throws {
        try await TestService.run { service in
            let user = try await service.signUp("ada@example.com")
            try await configure(service, memoryCost: 12)
            let reply = try await Race.run(
                service,
                hold: {
                    try await $0.execute(
                        "UPDATE accounts SET password_hash = \([1] as [UInt8]) WHERE account = \(user.localID ?? "")"
                    )
                },
                { try await service.signInWithPassword("ada@example.com") }
            )
            #expect(reply.error == "INVALID_LOGIN_CREDENTIALS", "\(reply)")
            #expect(try await row(user.localID)?.hash == [1])
        }
    }
}
