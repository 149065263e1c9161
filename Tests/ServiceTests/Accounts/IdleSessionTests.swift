import Domain
import Projects
import Storage
import Testing
import TestKit

/// `identity.sessionIdleDays`: sessions end when nobody refreshes them.
@Suite("Idle sessions", .database, .serialized)
struct IdleSessionTests {
    private static let day = 86_400.0

    private static func options(days: Int, rotates: Bool = false) -> TestService.Options {
        var options = TestService.Options()
        options.settings.sessionIdleDays = days
        options.settings.rotateRefreshTokens = rotates
        return options
    }

    private func sessions(_ reply: Reply) -> [String] {
        (reply["sessions"]?.array ?? []).compactMap { $0["sessionId"]?.string }
    }

    @Test(
        "a session ends when it was not refreshed for so many days, not earlier, and for good",
        arguments: [false, true]
    )
    func ends(rotates: Bool) async throws {
        try await TestService.runPair(Self.options(days: 7, rotates: rotates)) { first, second in
            var user = try await first.signUp("ada@example.com")
            let sid = user.claims["firebase"]?["sid"]?.string ?? ""
            // In use it lives on and on.
            for _ in 0..<3 {
                first.clock.advance(by: 7 * Self.day)
                user = try await second.refresh(user.refreshToken)
                user.expectOK()
            }
            // A use that is not noted, because another one was just before, counts too.
            first.clock.advance(by: 50)
            user = try await first.refresh(user.refreshToken)
            first.clock.advance(by: 7 * Self.day)
            user = try await first.refresh(user.refreshToken)
            user.expectOK()
            let other = try await second.signInWithPassword("ada@example.com")
            #expect(
                sessions(try await second.call("accounts:listSessions", ["idToken": JSON(other.idToken)])).count == 2
            )

            first.clock.advance(by: 7 * Self.day + 61)
            let again = try await first.signInWithPassword("ada@example.com")
            let current = again.claims["firebase"]?["sid"]?.string ?? ""
            // Lists say so before anybody tries.
            #expect(
                sessions(try await first.call("accounts:listSessions", ["idToken": JSON(again.idToken)])) == [current]
            )
            let listed = try await second.admin(
                "accounts:listSessions",
                ["localId": JSON(user.localID ?? again.localID)]
            )
            #expect(sessions(listed) == [current])
            // Neither is to read the configuration anew while statements are counted.
            for node in [first, second] { try await node.stores.configuration.refresh() }
            let (count, refused) = try await StatementCount.during { try await first.refresh(user.refreshToken) }
            refused.expectRefused("TOKEN_EXPIRED")
            // The refresh; the account's lock, under which the session ends.
            #expect(count.total == 3, "\(count)")
            let (retry, refusedAgain) = try await StatementCount.during { try await second.refresh(user.refreshToken) }
            refusedAgain.expectRefused("TOKEN_EXPIRED")
            #expect(retry.total == 1, "\(retry)")

            // Once, and not in the name of whoever came too late.
            let log = try await first.admin("auditEntries?action=SESSION_REVOKED")
            let entries = log["auditEntries"]?.array ?? []
            #expect(entries.map { $0["resource"]?.string } == [sid], "\(log)")
            #expect(entries.first?["actor"] == "service" && entries.first?["reason"] == "SESSION_IDLE", "\(log)")
            #expect(entries.first?["localId"]?.string == (user.localID ?? again.localID), "\(log)")

            // It has ended for the feed and for whoever changes the setting afterwards.
            let feed = try await first.admin("revocations")
            let revoked = (feed["revocations"]?.array ?? []).compactMap { $0["sessionId"]?.string }
            #expect(revoked == [sid], "\(feed)")
            try await first.admin(
                "config?updateMask=identity.sessionIdleDays",
                ["identity": ["sessionIdleDays": 0]],
                method: "PATCH",
                version: "v2"
            )
            try await first.refresh(user.refreshToken).expectRefused("TOKEN_EXPIRED")
            try await first.refresh(again.refreshToken).expectOK()
        }
    }

    @Test("without the setting none ends, and with it tenants follow their project")
    func othersAndTenants() async throws {
        try await TestService.run { service in
            let user = try await service.signUp("ada@example.com")
            service.clock.advance(by: 4000 * Self.day)
            let renewed = try await service.refresh(user.refreshToken)
            renewed.expectOK()
        }
        var options = Self.options(days: 1)
        options.settings.allowsTenants = true
        try await TestService.run(options) { service in
            let made = try await service.admin(
                "tenants",
                ["displayName": "Acme", "allowPasswordSignup": true],
                version: "v2"
            )
            let tenant = try #require(made["name"]?.string?.split(separator: "/").last, "\(made)")
            let user = try await service.call(
                "accounts:signUp",
                ["tenantId": .string(String(tenant)), "email": "ada@example.com", "password": "correct horse"]
            )
            service.clock.advance(by: Self.day)
            try await service.refresh(user.refreshToken).expectOK()
            service.clock.advance(by: Self.day + 61)
            try await service.refresh(user.refreshToken).expectRefused("TOKEN_EXPIRED")
        }
    }

    @Test("in a batch, each session goes by its own project's setting")
    func batch() async throws {
        try await TestService.run(Self.options(days: 2)) { strict in
            var options = Self.options(days: 0)
            options.clock = strict.clock
            try await TestService.run(options) { lax in
                var ended: [String?] = []
                var living: [String?] = []
                for _ in 0..<6 {
                    ended.append(try await strict.call("accounts:signUp").refreshToken)
                    living.append(try await lax.call("accounts:signUp").refreshToken)
                }
                strict.clock.advance(by: 3 * Self.day)
                living += [try await strict.call("accounts:signUp").refreshToken]
                try await withThrowingTaskGroup { group in
                    for token in ended {
                        group.addTask { try await strict.refresh(token).expectRefused("TOKEN_EXPIRED") }
                    }
                    let last = living.last ?? nil
                    for (token, node) in living.dropLast().map({ ($0, lax) }) + [(last, strict)] {
                        group.addTask {
                            let reply = try await node.refresh(token)
                            reply.expectOK()
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }
}
