import Domain
import Foundation
import Postgres
import Projects
import Secrets
import Sessions
import Storage
import Testing
import TestKit

/// A database that was restored to an earlier time, and what clients have got since.
@Suite("A restored database", .database)
struct RestoreTests {
    /// The sessions of a project as they were.
    private struct Backup {
        let service: TestService
        private let rows: [String]

        init(_ service: TestService) async throws {
            self.service = service
            rows = try await TestDatabase.current.client.query(
                "SELECT s::text FROM sessions s WHERE project = \(service.project.id.rawValue)"
            ) { try $0.next() }
        }

        func restore() async throws {
            let client = TestDatabase.current.client
            try await client.execute("DELETE FROM sessions WHERE project = \(service.project.id.rawValue)")
            for row in rows { try await client.execute("INSERT INTO sessions SELECT (\(row)::sessions).*") }
        }
    }

    private func declare(_ service: TestService, seconds: Double = 3_600) async throws {
        // Whatever was used since the restore was used later.
        service.clock.advance(by: 1)
        try await service.stores.configuration.declareRestore(
            to: "2026-01-01T00:00:00Z",
            until: service.clock.current.addingTimeInterval(seconds)
        )
    }

    @Test(
        "T-D34: a token of a session's lost future is known, and is taken once after the restore was declared",
        .database
    )
    func rotated() async throws {
        try await TestService.run(RotationTests.options()) { service in
            let first = try await service.call("accounts:signUp")
            let second = try await service.refresh(first.refreshToken)
            let backup = try await Backup(service)
            let third = try await service.refresh(second.refreshToken)
            let fourth = try await service.refresh(third.refreshToken)
            try await backup.restore()
            try await service.refresh(fourth.refreshToken).expectRefused("TOKEN_EXPIRED")
            try await declare(service)
            let fifth = try await service.refresh(fourth.refreshToken)
            fifth.expectOK()
            try await service.refresh(fifth.refreshToken).expectOK()
            // What came before it is old again.
            service.clock.advance(by: 61)
            try await service.refresh(third.refreshToken).expectRefused("TOKEN_EXPIRED")
            try await service.refresh(fifth.refreshToken).expectRefused("TOKEN_EXPIRED")
            let log = try await service.admin("auditEntries?localId=\(first.localID ?? "")")
            let actions = log["auditEntries"]?.array?.compactMap { $0["action"]?.string } ?? []
            #expect(actions.count { $0 == "SESSION_RESTORED" } == 1, "\(log)")
            #expect(actions.contains("SESSION_REVOKED"))
        }
    }

    @Test("T-D34: a token of the lost future ends a session that went on without it: two clients have it", .database)
    func wentOn() async throws {
        try await TestService.run(RotationTests.options()) { service in
            let first = try await service.call("accounts:signUp")
            let backup = try await Backup(service)
            let second = try await service.refresh(first.refreshToken)
            let third = try await service.refresh(second.refreshToken)
            try await backup.restore()
            try await declare(service)
            service.clock.advance(by: 1)
            let again = try await service.refresh(first.refreshToken)
            #expect(again.refreshToken == second.refreshToken)
            try await service.refresh(third.refreshToken).expectRefused("TOKEN_EXPIRED")
            try await service.refresh(second.refreshToken).expectRefused("TOKEN_EXPIRED")
            let log = try await service.admin("auditEntries?action=SESSION_REVOKED")
            #expect(log["auditEntries"]?[0]?["reason"] == "REFRESH_TOKEN_REUSED", "\(log)")
        }
    }

    @Test("T-D34: without rotation, a token that a link or a new password gave is taken, too", .database)
    func renewed() async throws {
        var options = RotationTests.options()
        options.settings.rotateRefreshTokens = false
        try await TestService.run(options) { service in
            let guest = try await service.call("accounts:signUp")
            let backup = try await Backup(service)
            let user = try await service.call(
                "accounts:signUp",
                ["idToken": JSON(guest.idToken), "email": "ada@example.com", "password": "correct horse"]
            )
            #expect(user.refreshToken != guest.refreshToken)
            try await backup.restore()
            try await service.refresh(user.refreshToken).expectRefused("TOKEN_EXPIRED")
            try await declare(service)
            for _ in 0..<2 { #expect(try await service.refresh(user.refreshToken).refreshToken == user.refreshToken) }
        }
    }

    @Test(
        "T-D34: not for long, not for another's, and not for what has ended",
        .database,
        .serialized,
        arguments: ["late", "ended", "disabled", "revoked"]
    )
    func refused(_ cause: String) async throws {
        try await TestService.run(RotationTests.options()) { service in
            let first = try await service.call("accounts:signUp")
            let backup = try await Backup(service)
            let second = try await service.refresh(first.refreshToken)
            let third = try await service.refresh(second.refreshToken)
            try await backup.restore()
            _ = try await service.stores.configuration.endRestore()
            try await declare(service)
            var error = "TOKEN_EXPIRED"
            switch cause {
            case "late": service.clock.advance(by: 3_600)
            case "ended": #expect(try await service.stores.configuration.endRestore())
            case "disabled":
                _ = try await service.admin("accounts:update", ["localId": JSON(first.localID), "disableUser": true])
                error = "USER_DISABLED"
            default: _ = try await service.admin("accounts:signOut", ["localId": JSON(first.localID), "scope": "all"])
            }
            let forged = try #require(third.refreshToken.flatMap { RefreshToken($0) }).forged(generation: 9)
            try await service.refresh(forged.text).expectRefused("INVALID_REFRESH_TOKEN")
            try await service.refresh(third.refreshToken).expectRefused(error)
        }
    }

    @Test("a user who was created after the time of the restore is gone, a session of that time asks for a sign-in")
    func created() async throws {
        try await TestService.run(RotationTests.options()) { service in
            let kept = try await service.signUp("ada@example.com")
            let backup = try await Backup(service)
            let later = try await service.signInWithPassword("ada@example.com")
            let created = try await service.signUp("grace@example.com")
            try await backup.restore()
            try await TestDatabase.current.client.execute(
                "DELETE FROM accounts WHERE project = \(service.project.id.rawValue) AND account = \(created.localID)"
            )
            try await service.refresh(created.refreshToken).expectRefused("USER_NOT_FOUND")
            try await service.refresh(later.refreshToken).expectRefused("TOKEN_EXPIRED")
            try await service.refresh(kept.refreshToken).expectOK()
        }
    }

    @Test(
        "T-D34: a declared restore ends what may have been used since; of two declarations, the second is refused",
        .database
    )
    func endsCodes() async throws {
        try await TestService.run { service in
            _ = try await service.signUp("ada@example.com")
            let code = try await service.code(.passwordReset, ["email": "ada@example.com"], to: "ada@example.com")
            let flow = try await service.call(
                "accounts:createAuthUri",
                ["identifier": "ada@example.com", "continueUri": "http://localhost"]
            )
            flow.expectOK()
            try await declare(service)
            await #expect(throws: RestoreDeclared.self) { try await declare(service) }
            try await service.call("accounts:resetPassword", ["oobCode": .string(code)]).expectRefused(
                "INVALID_OOB_CODE"
            )
            #expect(try await service.mails().isEmpty)
            #expect(try await service.stores.configuration.endRestore())
            #expect(try await !service.stores.configuration.endRestore())
            try await declare(service)
        }
    }

    @Test("a token of a release without proofs stays good, and its successor has one")
    func withoutProof() async throws {
        try await TestService.run(RotationTests.options()) { service in
            let user = try await service.call("accounts:signUp")
            let token = try #require(user.refreshToken.flatMap { RefreshToken($0) })
            let plain =
                "\(token.projectNumber.rawValue).\(token.account.rawValue).\(token.session.rawValue).\(token.secret.reveal())"
            let old = Base64URL.encode(Array(plain.utf8))
            let next = try await service.refresh(old)
            #expect(next.refreshToken.flatMap { RefreshToken($0) }?.generation == 1)
            try await service.refresh(next.refreshToken).expectOK()
        }
    }
}
