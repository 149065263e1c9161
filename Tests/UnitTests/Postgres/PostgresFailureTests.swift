import Development
import Foundation
import Logging
import Postgres
import ServiceLifecycle
import TestKit
import Testing

@Suite("PostgreSQL: failures", .database, .timeLimit(.minutes(10)))
struct PostgresFailureTests {
    /// What became of one query that echoes a value of its own.
    private enum Echo: Hashable {
        case right
        case wrong
        case failed(PostgresError.Code)
        case untyped
    }

    private func echo(_ value: Int, through executor: some PostgresExecutor) async -> Echo {
        do {
            let text = "value \(value)"
            let rows = try await executor.query("SELECT \(value), \(text), repeat(\(text), 50)") { row in
                (try row.next(Int.self), try row.next(String.self), try row.next(String.self))
            }
            guard rows.count == 1, rows[0] == (value, text, String(repeating: text, count: 50)) else { return .wrong }
            return .right
        } catch let error as PostgresError {
            return .failed(error.code)
        } catch {
            return .untyped
        }
    }

    @Test func killedBackendsGiveTypedErrorsOrRightRowsAndRecovery() async throws {
        let client = PostgresClient(
            quietly: .patient(TestDatabase.current.conninfo + " application_name=victim", connections: 6)
        )
        let killer = PostgresClient(quietly: .patient(TestDatabase.current.conninfo, connections: 1))
        // There is something to kill from the start.
        try await client.onEachConnection { _ in }
        let (echoes, kills) = try await withThrowingTaskGroup(of: [Echo].self) { group in
            for task in 0..<32 {
                group.addTask {
                    var echoes: [Echo] = []
                    for index in 0..<60 {
                        let value = task * 1000 + index
                        if index.isMultiple(of: 5) {
                            let outcome = try? await client.transaction { transaction in
                                [await echo(value, through: transaction), await echo(value + 1, through: transaction)]
                            }
                            echoes += outcome ?? []
                        } else {
                            echoes.append(await echo(value, through: client))
                        }
                    }
                    return echoes
                }
            }
            var kills = 0
            for _ in 0..<40 {
                kills += try await killer.query(
                    """
                    SELECT count(pg_terminate_backend(pid)) FROM (
                        SELECT pid FROM pg_stat_activity
                        WHERE datname = current_database() AND application_name = 'victim' ORDER BY random() LIMIT 2
                    ) t
                    """
                ) { try $0.next(Int.self) }.reduce(0, +)
            }
            return (try await group.reduce(into: []) { $0 += $1 }, kills)
        }
        #expect(kills > 0)
        #expect(!echoes.contains(.wrong))
        #expect(!echoes.contains(.untyped))
        #expect(echoes.contains(.right))
        let failures = Set(echoes.filter { $0 != .right })
        #expect(failures.isSubset(of: [.failed(.connectionLost), .failed(.unavailable)]), "\(failures)")
        // The last kill may have hit an attempt to connect, and then none is made for a moment.
        try await waitUntil { await echo(0, through: client) == .right }
        for value in 0..<50 { #expect(await echo(value, through: client) == .right) }
        await client.close()
        await killer.close()
    }

    @Test func anIdleConnectionThatDiedIsReplacedWithoutAnError() async throws {
        let client = PostgresClient(quietly: .patient(TestDatabase.current.conninfo, connections: 1))
        let before = try await client.query("SELECT pg_backend_pid()") { try $0.next(Int.self) }
        let other = TestDatabase.current.client
        try await other.execute("SELECT pg_terminate_backend(\(before[0])::int, 5000)")
        let after = try await client.query("SELECT pg_backend_pid()") { try $0.next(Int.self) }
        #expect(before != after)
        await client.close()
    }

    @Test(.database) func aConnectionThatIsLeftRunsWhatAnotherCannot() async throws {
        let conninfo = TestDatabase.current.conninfo
        let client = PostgresClient(quietly: .patient(conninfo, connections: 2))
        let admin = PostgresClient(
            quietly: .patient(try ConnectionString.replacingDatabase(in: conninfo, with: "postgres"), connections: 1)
        )
        try await client.onEachConnection { _ in }
        let name = try await client.query("SELECT current_database()::text") { try $0.next(String.self) }
        try await waitUntil { client.load.idle == 2 }
        let last = try await client.query("SELECT pg_backend_pid()") { try $0.next(Int.self) }
        try await waitUntil { client.load.idle == 2 }
        // The connection that is asked next is dead, and no other can be opened in its place.
        try await admin.execute("ALTER DATABASE \(identifier: name[0]) ALLOW_CONNECTIONS false")
        try await admin.execute("SELECT pg_terminate_backend(\(last[0])::int, 5000)")
        #expect(await echo(1, through: client) == .right)
        await client.close()
        await admin.close()
    }

    @Test func aBackendKilledInMidTransactionEndsItWithOneError() async throws {
        let client = PostgresClient(quietly: .patient(TestDatabase.current.conninfo, connections: 2))
        try await client.execute("CREATE TABLE killed (a INT)")
        let error = await #expect(throws: PostgresError.self) {
            try await client.transaction { transaction in
                try await transaction.execute("INSERT INTO killed VALUES (1)")
                let pid = try await transaction.query("SELECT pg_backend_pid()") { try $0.next(Int.self) }
                try await client.execute("SELECT pg_terminate_backend(\(pid[0])::int, 5000)")
                try await transaction.execute("INSERT INTO killed VALUES (2)")
            }
        }
        #expect(error?.code == .connectionLost)
        #expect(try await client.query("SELECT count(*) FROM killed") { try $0.next() } == [0])
        await client.close()
    }

    @Test func aServerThatRefusesWritesIsLeft() async throws {
        let conninfo = TestDatabase.current.conninfo
        let client = PostgresClient(quietly: .patient(conninfo, connections: 1))
        try await client.execute("CREATE TABLE written (a INT)")
        let before = try await client.query("SELECT pg_backend_pid()") { try $0.next(Int.self) }
        // As a standby does after a failover.
        try await client.execute("SET default_transaction_read_only = on")
        let error = await #expect(throws: PostgresError.self) {
            try await client.execute("INSERT INTO written VALUES (1)")
        }
        #expect(error?.code == .connectionLost)
        #expect(error?.sqlState == "25006")
        #expect(try await client.execute("INSERT INTO written VALUES (1)") == 1)
        #expect(try await client.query("SELECT pg_backend_pid()") { try $0.next(Int.self) } != before)
        await client.close()
    }

    @Test func aRestartInMidTransactionGivesOneErrorAndRecovery() async throws {
        try await withTemporaryFolder { folder in
            let cluster = PrivateCluster(folder: folder, durable: false)
            try await cluster.start()
            let client = PostgresClient(
                quietly: .patient(try #require(cluster.conninfo), connections: 4)
            )
            try await client.execute("CREATE TABLE restarted (a INT)")
            let error = await #expect(throws: PostgresError.self) {
                try await client.transaction { transaction in
                    try await transaction.execute("INSERT INTO restarted VALUES (1)")
                    await cluster.stop()
                    let down = await echo(0, through: client)
                    #expect(down == .failed(.unavailable))
                    try await cluster.start()
                    try await transaction.execute("INSERT INTO restarted VALUES (2)")
                }
            }
            #expect(error?.code == .connectionLost)
            // The pause after a failed attempt is short.
            while await echo(0, through: client) == .failed(.unavailable) {}
            for value in 0..<20 { #expect(await echo(value, through: client) == .right) }
            #expect(try await client.query("SELECT count(*) FROM restarted") { try $0.next() } == [0])
            await client.close()
            await cluster.stop()
        }
    }

    @Test func aCrashUnderLoadGivesTypedErrorsAndRecovery() async throws {
        try await withTemporaryFolder { folder in
            let cluster = PrivateCluster(folder: folder, durable: false)
            try await cluster.start()
            let client = PostgresClient(quietly: .patient(try #require(cluster.conninfo), connections: 4))
            let echoes = await withTaskGroup(of: [Echo].self) { group in
                for task in 0..<16 {
                    group.addTask {
                        var echoes: [Echo] = []
                        for index in 0..<100 { echoes.append(await echo(task * 1000 + index, through: client)) }
                        return echoes
                    }
                }
                // A backend that dies by signal 9 makes the server restart all of them.
                group.addTask {
                    let pid = try? await client.query("SELECT pg_backend_pid()") { try $0.next(Int.self) }
                    if let pid = pid?.first { kill(pid_t(pid), SIGKILL) }
                    return []
                }
                return await group.reduce(into: []) { $0 += $1 }
            }
            let kinds = Set(echoes)
            #expect(kinds.isSubset(of: [.right, .failed(.connectionLost), .failed(.unavailable)]), "\(kinds)")
            while await echo(0, through: client) != .right {}
            await client.close()
            await cluster.stop()
        }
    }

    @Test("T-E12: a server that falls silent under a statement may have run it, or may yet")
    func silence() async throws {
        try await withTemporaryFolder { folder in
            let cluster = PrivateCluster(folder: folder, durable: false)
            try await cluster.start()
            let conninfo = try #require(cluster.conninfo)
            let client = PostgresClient(
                quietly: .init(
                    conninfo: conninfo,
                    connections: 1,
                    statementTimeout: .seconds(2),
                    silence: .seconds(2)
                )
            )
            let other = PostgresClient(quietly: .patient(conninfo, connections: 1))
            // What has no time for more than a moment's work gets no more.
            try await other.execute("CREATE TABLE written (a INT)")
            let insertion: SQL = "INSERT INTO written VALUES (1)"
            try await client.execute(insertion)
            let server = try await client.query("SELECT pg_backend_pid()") { try $0.next(Int.self) }
            let process = pid_t(try #require(server.first))
            kill(process, SIGSTOP)
            let error = await #expect(throws: PostgresError.self) { try await client.execute(insertion) }
            kill(process, SIGCONT)
            #expect(error?.code == .connectionLost)
            // It had the statement all along.
            try await waitUntil { try await other.query("SELECT count(*) FROM written") { try $0.next() } == [2] }
            await client.close()
            await other.close()
            await cluster.stop()
        }
    }

    @Test(arguments: ["host=/nowhere dbname=x", "host=127.0.0.1 port=1 dbname=x user=x", "not a conninfo", "a\0b"])
    func withoutAServerEveryCallGetsOneTypedError(_ conninfo: String) async throws {
        let client = PostgresClient(quietly: .patient(conninfo, connections: 4))
        let codes = await withTaskGroup(of: Echo.self) { group in
            for value in 0..<50 { group.addTask { await echo(value, through: client) } }
            return await group.reduce(into: Set<Echo>()) { $0.insert($1) }
        }
        #expect(codes == [.failed(.unavailable)])
        let error = await #expect(throws: PostgresError.self) { try await client.transaction { _ in } }
        #expect(error?.code == .unavailable)
        await client.close()
    }

    @Test func aServerThatComesLateIsFound() async throws {
        try await withTemporaryFolder { folder in
            let conninfo = "host=\(folder) port=5432 user=postgres dbname=postgres"
            let client = PostgresClient(quietly: .patient(conninfo))
            #expect(await echo(1, through: client) == .failed(.unavailable))
            let cluster = PrivateCluster(folder: folder, durable: false)
            try await cluster.start()
            while await echo(2, through: client) != .right {}
            await client.close()
            await cluster.stop()
        }
    }

    @Test func theFirstOfSeveralHostsThatTakesWritesIsUsed() async throws {
        try await TestDatabase.withEmpty { conninfo in
            let pairs = try ConnectionString.parse(conninfo)
            func value(_ keyword: String) -> String { pairs.first { $0.keyword == keyword }?.value ?? "" }
            let conninfo = """
                host=/nonexistent,\(value("host")) port=1,\(value("port").isEmpty ? "5432" : value("port")) \
                user=\(value("user")) password='\(value("password"))' dbname=\(value("dbname")) \
                target_session_attrs=read-write
                """
            let client = PostgresClient(quietly: .patient(conninfo, connections: 2))
            #expect(await echo(3, through: client) == .right)
            let name = try await client.query("SELECT current_database()::text") { try $0.next(String.self) }
            let database = try #require(name.first)
            try await client.execute("ALTER DATABASE \(identifier: database) SET default_transaction_read_only = on")
            await client.close()
            let reader = PostgresClient(quietly: .patient(conninfo, connections: 1))
            #expect(await echo(3, through: reader) == .failed(.unavailable), "no host takes writes")
            await reader.close()
        }
    }

    @Test func aServerWithoutRoomLeavesTheClientWithWhatItHas() async throws {
        try await withTemporaryFolder { folder in
            let cluster = PrivateCluster(
                folder: folder,
                durable: false,
                settings: ["max_connections": "3", "superuser_reserved_connections": "0", "max_wal_senders": "0"]
            )
            try await cluster.start()
            let client = PostgresClient(quietly: .patient(try #require(cluster.conninfo), connections: 8))
            try await client.ping()
            let echoes = await withTaskGroup(of: Echo.self) { group in
                for value in 0..<200 { group.addTask { await echo(value, through: client) } }
                return await group.reduce(into: Set<Echo>()) { $0.insert($1) }
            }
            #expect(echoes == [.right])
            await client.close()
            await cluster.stop()
        }
    }

    @Test func aGracefulShutdownFinishesWhatIsQueued() async throws {
        let client = PostgresClient(quietly: .patient(TestDatabase.current.conninfo, connections: 1))
        let began = Barrier(2)
        let echoes = try await withThrowingTaskGroup(of: Echo?.self) { group in

            let services = ServiceGroup(
                services: [client],
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
            )
            group.addTask {
                try await services.run()
                return nil
            }
            group.addTask {
                let rows = try await client.transaction { transaction in
                    await began.wait()
                    return try await transaction.query("SELECT 1, pg_sleep(0.05)") { try $0.next(Int.self) }
                }
                return rows == [1] ? .right : .wrong
            }
            await began.wait()
            for value in 0..<20 { group.addTask { await echo(value, through: client) } }
            group.addTask {
                await services.triggerGracefulShutdown()
                return nil
            }
            return try await group.reduce(into: [Echo]()) { if let echo = $1 { $0.append(echo) } }
        }
        #expect(echoes.contains(.right))
        #expect(Set(echoes).isSubset(of: [.right, .failed(.unavailable)]))
        #expect(await echo(1, through: client) == .failed(.unavailable))
    }
}
