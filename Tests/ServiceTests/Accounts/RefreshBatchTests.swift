import Postgres
import Secrets
import Sessions
import Storage
import TestKit
import Testing

/// Refreshes that wait for each other's statement.
@Suite("Refreshes that share a statement", .database, .serialized)
struct RefreshBatchTests {
    /// Runs refreshes that wait, in their order, behind one of another session that a lock holds up.
    ///
    /// - Returns: their replies, and how many statements all of them took.
    private static func together(_ tokens: [String?], _ service: TestService) async throws -> ([Reply], Int) {
        let other = try await service.call("accounts:signUp")
        let (count, replies) = try await StatementCount.during {
            let tasks = try await TestDatabase.current.client.transaction { transaction in
                try await transaction.execute("LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE")
                let holder = try await transaction.query("SELECT pg_backend_pid()") { try $0.next(Int32.self) }.first
                var tasks = [Task { try await service.refresh(other.refreshToken) }]
                try await waitUntil {
                    try await transaction.query(
                        "SELECT count(*) FROM pg_stat_activity WHERE \(holder ?? 0) = ANY (pg_blocking_pids(pid))"
                    ) { try $0.next(Int64.self) } == [1]
                }
                for token in tokens {
                    tasks.append(Task { try await service.refresh(token) })
                    try await waitUntil {
                        service.stores.batchCounts.contains {
                            $0.name == "refresh" && $0.counts.waiting == tasks.count - 1
                        }
                    }
                }
                return tasks
            }
            var replies: [Reply] = []
            for task in tasks { replies.append(try await task.value) }
            return replies
        }
        #expect(replies[0].status == 200, "\(replies[0])")
        let asked = count.statements.filter { $0.text.hasPrefix("WITH found AS") }.reduce(0) { $0 + $1.calls }
        return (Array(replies.dropFirst()), asked)
    }

    @Test("T-E11: wrong tokens that name a user's session do not stand in front of the right one")
    func wrongSecrets() async throws {
        try await TestService.run(RotationTests.options()) { service in
            let user = try await service.call("accounts:signUp")
            let good = try #require(user.refreshToken.flatMap { RefreshToken($0) })
            let wrong = try (0..<20).map { _ in try good.forged().text }
            let (replies, asked) = try await Self.together(wrong + [good.text], service)
            #expect(replies.last?.status == 200, "\(replies)")
            #expect(replies.dropLast().allSatisfy { $0.error == "INVALID_REFRESH_TOKEN" }, "\(replies)")
            // The first one's, and one for all others.
            #expect(asked == 2)
        }
    }

    @Test(
        "T-D5: a token and its successor that wait together each get what they would get alone",
        arguments: [true, false]
    )
    func successors(isOlderFirst: Bool) async throws {
        try await TestService.run(RotationTests.options()) { service in
            let first = try await service.call("accounts:signUp").refreshToken
            let second = try await service.refresh(first).refreshToken
            let tokens = isOlderFirst ? [first, second] : [second, first]
            let (replies, _) = try await Self.together(tokens, service)
            #expect(replies.allSatisfy { $0.status == 200 }, "\(replies)")
            let (older, newer) = isOlderFirst ? (replies[0], replies[1]) : (replies[1], replies[0])
            #expect(older.refreshToken == second)
            let third = newer.refreshToken
            #expect(third != second)
            try await service.refresh(third).expectOK()
        }
    }
}
