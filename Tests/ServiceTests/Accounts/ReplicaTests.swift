import Logging
import Postgres
import Projects
import Storage
import Synchronization
import TestKit
import Testing

/// `identity.replicaStalenessSeconds`: a schema before the others in the search path stands in for a standby that is
/// behind, because a test decides what is in it.
@Suite("Reads from a replica")
struct ReplicaTests {
    private final class Time: Sendable {
        private let passed = Mutex(Duration.zero)
        private let start = ContinuousClock.now

        func now() -> ContinuousClock.Instant { start + passed.withLock { $0 } }

        func advance(by time: Duration) { passed.withLock { $0 += time } }
    }

    private struct Scene {
        let service: TestService
        let time: Time

        private var database: PostgresClient { TestDatabase.current.client }

        /// What has been replicated so far.
        func replicate() async throws {
            try await database.execute("TRUNCATE replica.accounts, replica.replica_count")
            try await database.execute("INSERT INTO replica.accounts SELECT * FROM public.accounts")
            try await database.execute("INSERT INTO replica.replica_count SELECT number FROM public.replica_count")
        }

        func replicateCount() async throws {
            try await database.execute(
                "UPDATE replica.replica_count SET number = (SELECT number FROM public.replica_count)"
            )
        }

        func measure() async throws { try await service.stores.replica?.measure() }

        func rename(_ id: String?, _ name: String) async throws {
            let reply = try await service.admin(
                "accounts:update",
                ["localId": JSON(id), "displayName": .string(name)]
            )
            #expect(reply.status == 200, "\(reply)")
        }

        /// What an admin's look-ups and queries say of the account's name.
        func names(_ id: String?, _ email: String) async throws -> Set<String?> {
            let replies = try await [
                service.admin("accounts:lookup", ["localId": [JSON(id)]])["users"]?[0],
                service.admin("accounts:lookup", ["email": [.string(email)]])["users"]?[0],
                service.admin("accounts:query", ["expression": [["email": .string(email)]]])["userInfo"]?[0],
            ]
            return Set(replies.map { $0?["displayName"]?.string })
        }
    }

    private static func run(
        allowing seconds: Int64,
        _ body: @Sendable (Scene) async throws -> Void
    ) async throws {
        let database = TestDatabase.current
        try await database.client.execute("CREATE SCHEMA replica")
        for table: SQL in ["accounts", "replica_count"] {
            try await database.client.execute(
                "CREATE TABLE replica.\(sql: table) (LIKE public.\(sql: table) INCLUDING ALL)"
            )
        }
        let time = Time()
        var options = TestService.Options()
        options.settings.replicaStalenessSeconds = seconds
        options.replica = { stores in
            let standby = PostgresClient(
                quietly: .init(
                    conninfo: database.conninfo + " options='-c search_path=replica,public'",
                    connections: 1
                )
            )
            return Replica(standby, of: stores, logger: Logger(label: "replica"), now: time.now)
        }
        try await TestService.run(options) { service in try await body(Scene(service: service, time: time)) }
    }

    @Test("a project that allows five seconds is answered by a replica that is at most five seconds behind", .database)
    func bounded() async throws {
        try await Self.run(allowing: 5) { scene in
            let email = "ada@example.com"
            let user = try await scene.service.signUp(email)
            try await scene.rename(user.localID, "then")
            #expect(try await scene.names(user.localID, email) == ["then"], "nothing was measured yet")
            try await scene.measure()
            try await scene.replicate()
            try await scene.measure()
            try await scene.rename(user.localID, "now")
            for passed in [0, 5] {
                scene.time.advance(by: .seconds(passed))
                #expect(try await scene.names(user.localID, email) == ["then"], "\(passed)")
            }
            // What decides, and what its user sees, is never behind.
            #expect(try await scene.service.lookUp(user.idToken)["users"]?[0]?["displayName"] == "now")
            scene.time.advance(by: .milliseconds(1))
            #expect(try await scene.names(user.localID, email) == ["now"])
            // It counts on at the primary, and the replica stays as it was: nothing becomes newer by that.
            try await scene.measure()
            #expect(try await scene.names(user.localID, email) == ["now"])
            try await scene.replicateCount()
            try await scene.measure()
            #expect(try await scene.names(user.localID, email) == ["then"])
        }
    }

    @Test("where nothing is allowed, the primary answers", .database)
    func notAllowed() async throws {
        try await Self.run(allowing: 0) { scene in
            let email = "ada@example.com"
            let user = try await scene.service.signUp(email)
            try await scene.rename(user.localID, "then")
            try await scene.measure()
            try await scene.replicate()
            try await scene.measure()
            try await scene.rename(user.localID, "now")
            #expect(try await scene.names(user.localID, email) == ["now"])
        }
    }

    @Test("a replica that fails is left to the primary", .database)
    func fails() async throws {
        try await Self.run(allowing: 5) { scene in
            let email = "ada@example.com"
            let user = try await scene.service.signUp(email)
            try await scene.rename(user.localID, "now")
            try await scene.measure()
            try await scene.replicate()
            try await scene.measure()
            try await TestDatabase.current.client.execute("ALTER TABLE replica.accounts RENAME TO accounts_away")
            try await TestDatabase.current.client.execute("CREATE VIEW replica.accounts AS SELECT 1 AS project")
            #expect(try await scene.names(user.localID, email) == ["now"])
        }
    }

    @Test("a primary that counts again from less makes what was measured before worthless", .database)
    func countsAgain() async throws {
        try await Self.run(allowing: 5) { scene in
            let email = "ada@example.com"
            let user = try await scene.service.signUp(email)
            try await scene.rename(user.localID, "then")
            for _ in 0..<3 { try await scene.measure() }
            try await scene.replicate()
            try await scene.measure()
            try await scene.rename(user.localID, "now")
            #expect(try await scene.names(user.localID, email) == ["then"])
            // The new primary lacks the last count, and the replica is one of the old primary's.
            try await TestDatabase.current.client.execute("UPDATE public.replica_count SET number = number - 2")
            try await TestDatabase.current.client.execute("UPDATE replica.replica_count SET number = 0")
            try await scene.measure()
            #expect(try await scene.names(user.localID, email) == ["now"])
        }
    }
}
