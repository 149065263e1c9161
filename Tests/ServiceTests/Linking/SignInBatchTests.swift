import Development
import Postgres
import Projects
import Secrets
import Storage
import TestKit
import Testing

/// Sign-ins of known identities at the same moment, which share their statements.
@Suite("Sign-ins in batches", .database, .testProvider)
struct SignInBatchTests {
    /// People who have signed in before, each with the ID of the account.
    private static func people(_ count: Int, _ world: LinkingWorld) async throws -> [(user: TestUser, id: String)] {
        var people: [(user: TestUser, id: String)] = []
        for number in 0..<count {
            let user = world.person("P\(number)", email: "p\(number)@example.com")
            people.append((user, try #require(try await world.acme(user).localID)))
        }
        return people
    }

    private static func sessions(_ world: LinkingWorld) async throws -> [String: Int64] {
        let rows = try await world.service.stores.database.query(
            """
            SELECT account, count(*) FROM sessions WHERE project = \(world.service.project.id.rawValue)
            GROUP BY account
            """
        ) { row in (try row.next(String.self), try row.next(Int64.self)) }
        return Dictionary(uniqueKeysWithValues: rows)
    }

    @Test("each gets its own account and session, however often the same person comes")
    func manyAtOnce() async throws {
        try await LinkingWorld.run { world in
            let people = try await Self.people(12, world)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (user, id) in people + people + people {
                    group.addTask {
                        let reply = try await world.acme(user)
                        #expect(reply.status == 200 && reply.localID == id, "\(reply)")
                        #expect(try await world.service.refresh(reply.refreshToken ?? "").status == 200)
                    }
                }
                try await group.waitForAll()
            }
            let sessions = try await Self.sessions(world)
            for (_, id) in people { #expect(sessions[id] == 4) }
        }
    }

    @Test("a refused one, and a one-time token that comes twice, leave the others alone")
    func refusals() async throws {
        try await LinkingWorld.run { world in
            let people = try await Self.people(8, world)
            try await world.update(people[0].id, ["disableUser": true])
            let once = try world.acme.mintIDToken(for: people[1].user, nonce: SecureHash.sha256Hex("n"))
            let before = try await Self.sessions(world)
            let replies = try await withThrowingTaskGroup(of: (String, Reply).self) { group in
                for (user, id) in people where id != people[1].id {
                    group.addTask { (id, try await world.acme(user)) }
                }
                for _ in 0..<3 {
                    group.addTask {
                        let body = "id_token=\(once)&nonce=n&providerId=oidc.acme"
                        return (people[1].id, try await world.service.signInWithIdP(postBody: body))
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let after = try await Self.sessions(world)
            for (_, id) in people {
                let mine = replies.filter { $0.0 == id }.map(\.1)
                let good = mine.filter { $0.status == 200 }
                #expect(good.count == (id == people[0].id ? 0 : 1), "\(mine)")
                #expect((after[id] ?? 0) - (before[id] ?? 0) == Int64(good.count))
            }
            #expect(replies.filter { $0.0 == people[0].id }.allSatisfy { $0.1.error == "USER_DISABLED" })
            let repeated = replies.filter { $0.0 == people[1].id && $0.1.status != 200 }.map(\.1)
            #expect(
                repeated.allSatisfy { $0.error?.hasPrefix("MISSING_OR_INVALID_NONCE : Duplicate credential") == true }
            )
        }
    }

    @Test("one account that is locked keeps nobody waiting but itself")
    func lockedAccount() async throws {
        try await LinkingWorld.run { world in
            let people = try await Self.people(12, world)
            let waiting = try await world.service.stores.database.transaction { transaction in
                try await transaction.execute("SELECT FROM accounts WHERE account = \(people[0].id) FOR UPDATE")
                let waiting = Task { try await world.acme(people[0].user) }
                try await withThrowingTaskGroup(of: Reply.self) { group in
                    for (user, _) in people.dropFirst() { group.addTask { try await world.acme(user) } }
                    for try await reply in group { #expect(reply.status == 200, "\(reply)") }
                }
                return waiting
            }
            let late = try await waiting.value
            #expect(late.status == 200 && late.localID == people[0].id, "\(late)")
        }
    }
}
