import Development
import Foundation
import Postgres
import TestKit
import Testing

/// What a client with patience does while its server is gone.
@Suite("PostgreSQL: failover", .database, .timeLimit(.minutes(10)))
struct FailoverTests {
    private static let patience = Patience.limit

    @Test("statements and transactions wait for the server, and none fails")
    func waits() async throws {
        try await withTemporaryFolder { folder in
            let cluster = PrivateCluster(folder: folder, durable: false)
            try await cluster.start()
            let client = PostgresClient(
                quietly: .patient(try #require(cluster.conninfo), connections: 4, patience: Self.patience)
            )
            try await client.execute("CREATE TABLE waited (a INT)")
            await cluster.stop()
            let ended = Counter()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<40 {
                    group.addTask {
                        defer { ended.increment() }
                        guard number.isMultiple(of: 4) else {
                            try await client.execute("INSERT INTO waited VALUES (\(number))")
                            return
                        }
                        _ = try await client.transaction {
                            try await $0.execute("INSERT INTO waited VALUES (\(number))")
                        }
                    }
                }
                try await waitUntil { client.load.waiting == 40 }
                #expect(ended.value == 0)
                try await cluster.start()
                try await group.waitForAll()
            }
            #expect(try await client.query("SELECT count(*) FROM waited") { try $0.next() } == [40])
            await client.close()
            await cluster.stop()
        }
    }

    @Test("a server that stays away fails what has waited long enough, and then everything at once")
    func givesUp() async throws {
        let client = PostgresClient(
            quietly: .init(conninfo: "host=127.0.0.1 port=1 dbname=x user=x", patience: .milliseconds(300))
        )
        for minimum in [Duration.milliseconds(250), .zero] {
            let start = ContinuousClock.now
            let error = await #expect(throws: PostgresError.self) { try await client.execute("SELECT") }
            #expect(error?.code == .unavailable)
            #expect(start.duration(to: .now) >= minimum)
        }
        #expect(client.load.refused > 0)
        await client.close()
    }

    @Test("a server that takes no writes any more is left, and the statement runs at another one")
    func leavesReaders() async throws {
        let client = PostgresClient(
            quietly: .patient(TestDatabase.current.conninfo, connections: 1, patience: Self.patience)
        )
        try await client.execute("CREATE TABLE moved (a INT)")
        // As a primary that was demoted.
        try await client.execute("SET default_transaction_read_only = on")
        #expect(try await client.execute("INSERT INTO moved VALUES (1)") == 1)
        try await client.execute("SET default_transaction_read_only = on")
        _ = try await client.transaction { try await $0.execute("INSERT INTO moved VALUES (2)") }
        #expect(try await client.query("SELECT count(*) FROM moved") { try $0.next() } == [2])
        await client.close()
    }

    @Test("what a stopping server ended is run again, once, whole transactions too")
    func stopped() async throws {
        let (database, other) = (TestDatabase.current, TestDatabase.current.client)
        let client = PostgresClient(
            quietly: .patient(
                database.conninfo + " application_name=stopped",
                connections: 2,
                patience: Self.patience
            )
        )
        try await client.execute("CREATE TABLE stopped (a INT)")
        try await client.execute("CREATE TABLE runs (a INT)")
        let runs = Counter()
        let held = TestGate()
        let end = TestGate()
        async let holder: Void = other.transaction { transaction in
            try await transaction.execute("LOCK TABLE stopped")
            held.open()
            await end.pass()
        }
        await held.pass()
        async let single = client.execute("INSERT INTO stopped VALUES (1)")
        async let double: Void = client.transaction { transaction in
            runs.increment()
            try await transaction.execute("INSERT INTO runs VALUES (1)")
            _ = try await transaction.execute("INSERT INTO stopped VALUES (2)")
        }
        let waiting: SQL = """
            SELECT pid FROM pg_stat_activity
            WHERE application_name = 'stopped' AND wait_event_type = 'Lock' AND datname = current_database()
            """
        try await waitUntil { try await other.query(waiting) { try $0.next(Int.self) }.count == 2 }
        // As pg_ctl stop -m fast does with each backend.
        try await other.execute("SELECT pg_terminate_backend(pid, 5000) FROM (\(sql: waiting)) t")
        end.open()
        try await holder
        #expect(try await single == 1)
        try await double
        #expect(runs.value == 2)
        #expect(try await other.query("SELECT count(*) FROM stopped") { try $0.next() } == [2])
        #expect(try await other.query("SELECT count(*) FROM runs") { try $0.next() } == [1])
        await client.close()
    }

    @Test("a commit whose wait for its standby was cancelled does not count as one")
    func unreplicated() async throws {
        try await withTemporaryFolder { folder in
            let cluster = PrivateCluster(
                folder: folder,
                durable: false,
                settings: ["synchronous_standby_names": "nobody", "synchronous_commit": "local"]
            )
            try await cluster.start()
            let conninfo = try #require(cluster.conninfo)
            let client = PostgresClient(quietly: .patient(conninfo, connections: 1, patience: Self.patience))
            let other = PostgresClient(quietly: .patient(conninfo, connections: 1))
            try await client.execute("CREATE TABLE replicated (a INT)")
            // Commits wait once the checkpointer has read the setting, which it does before its first checkpoint.
            try await other.execute("CHECKPOINT")
            async let error = #expect(throws: PostgresError.self) {
                try await client.execute("SET synchronous_commit = on")
                try await client.execute("INSERT INTO replicated VALUES (1)")
            }
            try await waitUntil {
                try await other.execute(
                    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
                ) == 1
            }
            #expect(await error?.code == .connectionLost)
            await client.close()
            await other.close()
            await cluster.stop()
        }
    }

    @Test("after a crash only what may run twice is run again")
    func crashed() async throws {
        try await withTemporaryFolder { folder in
            let cluster = PrivateCluster(folder: folder, durable: false)
            try await cluster.start()
            let conninfo = try #require(cluster.conninfo)
            let client = PostgresClient(quietly: .patient(conninfo, connections: 3, patience: Self.patience))
            let holder = PostgresClient(quietly: .patient(conninfo, connections: 1))
            try await holder.execute("CREATE TABLE sevens (a INT)")
            try await holder.execute("INSERT INTO sevens VALUES (7)")
            // The crash is not to take it.
            try await holder.execute("CHECKPOINT")
            let (locked, end) = (TestGate(), TestGate())
            // The crash ends this as well.
            async let held = #expect(throws: PostgresError.self) {
                try await holder.transaction { transaction in
                    try await transaction.execute("LOCK TABLE sevens")
                    locked.open()
                    await end.pass()
                }
            }
            await locked.pass()
            let wait: SQL = "SELECT a FROM sevens"
            func seven(_ executor: some PostgresExecutor) async throws -> [Int32] {
                try await executor.query(wait) { try $0.next(Int32.self) }
            }
            async let repeated = seven(client.repeating)
            async let once = #expect(throws: PostgresError.self) { _ = try await seven(client) }
            let waiting: SQL = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            var pids: [Int] = []
            try await waitUntil {
                pids = try await client.query(waiting) { try $0.next(Int.self) }
                return pids.count == 2
            }
            // The server restarts all backends.
            kill(pid_t(pids[0]), SIGKILL)
            #expect(try await repeated == [7])
            #expect(await once?.code == .connectionLost)
            end.open()
            _ = await held
            await client.close()
            await holder.close()
            await cluster.stop()
        }
    }
}
