import Development
import Postgres
import Projects
import Secrets
import Storage
import TestKit
import Testing

/// Sign-ins that share a statement with one that is refused or cannot be answered.
@Suite("Sign-ins in a batch with a bad one", .database, .testProvider, .serialized)
struct PoisonedBatchTests {
    /// Runs sign-ins that wait for a statement and are asked together.
    private static func together(
        behind first: (user: TestUser, id: String),
        _ world: LinkingWorld,
        _ signIns: [@Sendable () async throws -> Reply]
    ) async throws -> [Reply] {
        let database = world.service.stores.database
        let (head, others) = try await database.transaction { transaction in
            // The first one's statement waits for its activity, and the others for its end.
            try await transaction.execute("SELECT FROM account_activity WHERE account = \(first.id) FOR UPDATE")
            let holder = try await transaction.query("SELECT pg_backend_pid()") { try $0.next(Int32.self) }.first
            let head = Task { try await world.acme(first.user) }
            try await waitUntil {
                let blocked = try await TestDatabase.current.client.query(
                    "SELECT count(*) FROM pg_stat_activity WHERE \(holder ?? 0) = ANY (pg_blocking_pids(pid))"
                ) { try $0.next(Int64.self) }
                return blocked == [1]
            }
            let others = signIns.map { signIn in Task { try await signIn() } }
            try await waitUntil {
                world.service.stores.batchCounts.contains {
                    $0.name == "sign_in" && $0.counts.waiting == signIns.count
                }
            }
            return (head, others)
        }
        try await head.value.expectOK()
        var replies: [Reply] = []
        for task in others { replies.append(try await task.value) }
        return replies
    }

    @Test("T-E12: the statement finds a used one-time token, and no other sign-in fails")
    func replayedToken() async throws {
        try await LinkingWorld.run { world in
            let people = try await SignInBatchTests.people(12, world)
            let once = try world.acme.mintIDToken(for: people[1].user, nonce: SecureHash.sha256Hex("n"))
            let body = "id_token=\(once)&nonce=n&providerId=oidc.acme"
            let replay: @Sendable () async throws -> Reply = { try await world.service.signInWithIdP(postBody: body) }
            try await replay().expectOK()
            let before = try await SignInBatchTests.sessions(world)
            let (count, replies) = try await StatementCount.during {
                try await Self.together(
                    behind: people[0],
                    world,
                    [replay] + people.dropFirst(2).map { person in { try await world.acme(person.user) } }
                )
            }
            #expect(replies[0].error?.hasPrefix("MISSING_OR_INVALID_NONCE : Duplicate credential") == true)
            #expect(replies.dropFirst().allSatisfy { $0.status == 200 })
            let after = try await SignInBatchTests.sessions(world)
            for (_, id) in people where id != people[1].id { #expect((after[id] ?? 0) - (before[id] ?? 0) == 1) }
            #expect(after[people[1].id] == before[people[1].id])
            // The first one's, and one for all others; those that fail are not counted, and what is asked again would be.
            let asked = count.statements.filter { $0.text.hasPrefix("WITH asked AS") }.reduce(0) { $0 + $1.calls }
            #expect(asked == 2, "\(count)")
        }
    }

    @Test("T-C4: a one-time token that another node uses at the same moment signs no one in here")
    func takenMeanwhile() async throws {
        try await LinkingWorld.run { world in
            let project = world.service.project.id.rawValue
            let person = try await SignInBatchTests.people(1, world)[0]
            let once = try world.acme.mintIDToken(for: person.user, nonce: SecureHash.sha256Hex("n"))
            let body = "id_token=\(once)&nonce=n&providerId=oidc.acme"
            try await world.service.signInWithIdP(postBody: body).expectOK()
            let hash = try await TestDatabase.current.client.query(
                "DELETE FROM used_id_tokens WHERE project = \(project) RETURNING token_hash"
            ) { try $0.next([UInt8].self) }
            let reply = try await Race.run(
                world.service,
                hold: {
                    try await $0.execute(
                        """
                        INSERT INTO used_id_tokens (project, token_hash, expires_at)
                        VALUES (\(project), \(hash[0]), now() + interval '1 day')
                        """
                    )
                },
                { try await world.service.signInWithIdP(postBody: body) }
            )
            #expect(reply.error?.hasPrefix("MISSING_OR_INVALID_NONCE : Duplicate credential") == true, "\(reply)")
        }
    }

    @Test("T-E12: an account that cannot be read fails its own sign-in alone, and nothing is done twice")
    func unreadableRow() async throws {
        try await LinkingWorld.run { world in
            let people = try await SignInBatchTests.people(12, world)
            try await world.service.stores.database.execute(
                "UPDATE accounts SET second_factors = 'unreadable' WHERE account = \(people[1].id)"
            )
            let before = try await SignInBatchTests.sessions(world)
            let replies = try await Self.together(
                behind: people[0],
                world,
                people.dropFirst().map { person in { try await world.acme(person.user) } }
            )
            #expect(replies[0].status == 500, "\(replies[0])")
            #expect(replies.dropFirst().allSatisfy { $0.status == 200 })
            let after = try await SignInBatchTests.sessions(world)
            for (_, id) in people where id != people[1].id { #expect((after[id] ?? 0) - (before[id] ?? 0) == 1) }
        }
    }
}
