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
        let user: Reply

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

        func rename(_ name: String) async throws {
            let reply = try await service.admin(
                "accounts:update",
                ["localId": JSON(user.localID), "displayName": .string(name)]
            )
            #expect(reply.status == 200, "\(reply)")
        }

        /// What an admin's look-ups and queries say of the account's name.
        func names() async throws -> Set<String?> {
            let replies = try await [
                service.admin("accounts:lookup", ["localId": [JSON(user.localID)]])["users"]?[0],
                service.admin("accounts:lookup", ["email": [.string(ReplicaTests.email)]])["users"]?[0],
                service.admin("accounts:query", ["expression": [["email": .string(ReplicaTests.email)]]])["userInfo"]?[
                    0
                ],
            ]
            return Set(replies.map { $0?["displayName"]?.string })
        }
    }

    private static let email = "ada@example.com"

    /// An account that is named "then" at the replica and "now" at the primary.
    private static func run(
        allowing seconds: Int64,
        isMeasured: Bool = true,
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
        try await TestService.run(options) { service in
            let scene = Scene(service: service, time: time, user: try await service.signUp(email))
            try await scene.rename("then")
            if isMeasured { try await scene.measure() }
            try await scene.replicate()
            if isMeasured { try await scene.measure() }
            try await scene.rename("now")
            try await body(scene)
        }
    }

    @Test("a project that allows five seconds is answered by a replica that is at most five seconds behind", .database)
    func bounded() async throws {
        try await Self.run(allowing: 5) { scene in
            for passed in [0, 5] {
                scene.time.advance(by: .seconds(passed))
                #expect(try await scene.names() == ["then"], "\(passed)")
            }
            // What decides, and what its user sees, is never behind.
            #expect(try await scene.service.lookUp(scene.user.idToken)["users"]?[0]?["displayName"] == "now")
            scene.time.advance(by: .milliseconds(1))
            #expect(try await scene.names() == ["now"])
            // It counts on at the primary, and the replica stays as it was: nothing becomes newer by that.
            try await scene.measure()
            #expect(try await scene.names() == ["now"])
            try await scene.replicateCount()
            try await scene.measure()
            #expect(try await scene.names() == ["then"])
        }
    }

    @Test("where nothing is allowed, or nothing was measured, the primary answers", .database, arguments: [0, 5])
    func notAllowed(_ seconds: Int64) async throws {
        try await Self.run(allowing: seconds, isMeasured: seconds == 0) { scene in
            let names = try await scene.names()
            #expect(names == ["now"])
        }
    }

    @Test("a replica that fails is left to the primary", .database)
    func fails() async throws {
        try await Self.run(allowing: 5) { scene in
            try await TestDatabase.current.client.execute("ALTER TABLE replica.accounts RENAME TO accounts_away")
            try await TestDatabase.current.client.execute("CREATE VIEW replica.accounts AS SELECT 1 AS project")
            #expect(try await scene.names() == ["now"])
        }
    }

    @Test(
        "a primary that counts again from less, or a replica that has less, is measured anew",
        .database,
        arguments: [true, false]
    )
    func goesBack(_ isPrimary: Bool) async throws {
        try await Self.run(allowing: 5) { scene in
            #expect(try await scene.names() == ["then"])
            if isPrimary { try await TestDatabase.current.client.execute("UPDATE public.replica_count SET number = 0") }
            try await TestDatabase.current.client.execute("UPDATE replica.replica_count SET number = 0")
            try await scene.measure()
            #expect(try await scene.names() == ["now"])
        }
    }
}
