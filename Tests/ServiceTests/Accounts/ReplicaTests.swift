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
            try await database.execute("TRUNCATE replica.accounts, replica.replica_marks")
            try await database.execute("INSERT INTO replica.accounts SELECT * FROM public.accounts")
            try await database.execute("INSERT INTO replica.replica_marks SELECT * FROM public.replica_marks")
        }

        func replicateMark() async throws {
            try await database.execute(
                """
                UPDATE replica.replica_marks r SET elapsed = p.elapsed FROM public.replica_marks p
                WHERE p.process = r.process
                """
            )
        }

        /// Makes every query of a table fail.
        func damage(_ schema: SQL, _ table: SQL) async throws {
            try await database.execute("ALTER TABLE \(sql: schema).\(sql: table) RENAME TO away")
            try await database.execute("CREATE VIEW \(sql: schema).\(sql: table) AS SELECT 1 AS project")
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
            let expression: JSON = ["expression": [["email": .string(ReplicaTests.email)]]]
            let replies = try await [
                service.admin("accounts:lookup", ["localId": [JSON(user.localID)]])["users"]?[0],
                service.admin("accounts:lookup", ["email": [.string(ReplicaTests.email)]])["users"]?[0],
                service.admin("accounts:query", expression)["userInfo"]?[0],
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
        for table: SQL in ["accounts", "replica_marks"] {
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
                    conninfo: database.conninfo
                        + " options='-c search_path=replica,public -c default_transaction_read_only=on'",
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
            #expect(try await MetricsPage(scene.service).values["identity_standby_age_seconds"] == 5)
            // What decides, and what its user sees, is never behind.
            #expect(try await scene.service.lookUp(scene.user.idToken)["users"]?[0]?["displayName"] == "now")
            scene.time.advance(by: .milliseconds(1))
            #expect(try await scene.names() == ["now"])
            // It is measured again, and the replica stays as it was: nothing becomes newer by that.
            try await scene.measure()
            #expect(try await scene.names() == ["now"])
            try await scene.replicateMark()
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

    @Test(
        "an account that the replica does not have yet is found, as Admin SDKs expect after they created it",
        .database
    )
    func finds() async throws {
        try await Self.run(allowing: 5) { scene in
            let new = try await scene.service.signUp("new@example.com")
            for ids in [[new.localID], [scene.user.localID, new.localID]] {
                let found = try await scene.service.admin("accounts:lookup", ["localId": .array(ids.map { JSON($0) })])
                #expect(found["users"]?.array?.count == ids.count, "\(found)")
            }
            // A count is of one moment, and may be behind; an export is recorded, and never is.
            let count = try await scene.service.admin("accounts:query", ["returnUserInfo": false])
            #expect(count["recordsCount"] == "1", "\(count)")
            let export = try await scene.service.admin("accounts:batchGet")
            #expect(export["users"]?.array?.count == 2, "\(export)")
        }
    }

    @Test("a query that fails at the replica is one for the primary", .database)
    func fails() async throws {
        try await Self.run(allowing: 5) { scene in
            try await scene.damage("replica", "accounts")
            #expect(try await scene.names() == ["now"])
        }
    }

    @Test("a replica that cannot be measured is not read", .database)
    func isAway() async throws {
        try await Self.run(allowing: 5) { scene in
            #expect(try await scene.names() == ["then"])
            try await scene.damage("replica", "replica_marks")
            await #expect(throws: PostgresError.self) { try await scene.measure() }
            #expect(try await scene.names() == ["now"])
        }
    }

    @Test("while no primary can be written to, the replica is read for as long as the project allows", .database)
    func primaryIsAway() async throws {
        try await Self.run(allowing: 5) { scene in
            scene.time.advance(by: .seconds(4))
            try await scene.measure()
            // The last mark arrives after the primary went away.
            try await scene.replicateMark()
            try await scene.damage("public", "replica_marks")
            await #expect(throws: PostgresError.self) { try await scene.measure() }
            scene.time.advance(by: .seconds(5))
            #expect(try await scene.names() == ["then"])
            scene.time.advance(by: .milliseconds(1))
            #expect(try await scene.names() == ["now"])
        }
    }

    @Test("a server that never got this process's marks, or lost the latest, is as old as what it has", .database)
    func goesBack() async throws {
        try await Self.run(allowing: 5) { scene in
            let database = TestDatabase.current.client
            scene.time.advance(by: .seconds(4))
            try await scene.measure()
            try await scene.replicateMark()
            try await scene.measure()
            scene.time.advance(by: .seconds(5))
            #expect(try await scene.names() == ["then"])
            scene.time.advance(by: .seconds(1))
            // A new primary without the last seconds of the old one, or a copy of earlier.
            try await database.execute("UPDATE replica.replica_marks SET elapsed = 0")
            try await scene.measure()
            #expect(try await scene.names() == ["now"])
            try await scene.replicateMark()
            try await scene.measure()
            #expect(try await scene.names() == ["then"])
            try await database.execute("DELETE FROM replica.replica_marks")
            await #expect(throws: NotReplicated.self) { try await scene.measure() }
            #expect(try await scene.names() == ["now"])
        }
    }
}
