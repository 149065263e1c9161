import Foundation
import Postgres
import TestKit
import Testing

@Suite("PostgreSQL: errors and limits", .database, .timeLimit(.minutes(10)))
struct PostgresErrorsTests {
    private var client: PostgresClient { TestDatabase.current.client }

    private func client(
        connections: Int = 1,
        statementTimeout: Duration? = Patience.limit,
        lockTimeout: Duration? = Patience.limit,
        queueLimit: Int = 100,
        prepares: Bool = true
    ) -> PostgresClient {
        PostgresClient(
            quietly: .init(
                conninfo: TestDatabase.current.conninfo,
                connections: connections,
                prepares: prepares,
                statementTimeout: statementTimeout,
                lockTimeout: lockTimeout,
                queueLimit: queueLimit
            )
        )
    }

    @Test func aViolatedConstraintIsNamedAndNothingElseIsSaid() async throws {
        try await client.execute("CREATE TABLE claims (k TEXT CONSTRAINT claims_pkey PRIMARY KEY)")
        try await client.execute("INSERT INTO claims VALUES (\("secret@example.com"))")
        let error = await #expect(throws: PostgresError.self) {
            try await client.execute("INSERT INTO claims VALUES (\("secret@example.com"))")
        }
        #expect(error?.code == .server)
        #expect(error?.sqlState == "23505")
        #expect(error?.constraint == "claims_pkey")
        #expect(error?.description == "PostgreSQL: server, SQLSTATE 23505, constraint claims_pkey")
        // Optionals, dumps and enclosing values print in ways of their own.
        var printed = "\(error as Any) \(String(reflecting: error)) \([error])"
        dump(error, to: &printed)
        #expect(!printed.contains("secret"))
        #expect(error?.serverMessage?.contains("secret@example.com") == true)
    }

    @Test func aMistakeInAStatementIsSpelledOut() async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await client.execute("SELECT nothing FROM nowhere")
        }
        #expect(error?.description.contains("relation \"nowhere\" does not exist") == true)
    }

    @Test func aConfigurationDoesNotShowItsPassword() {
        let configuration = PostgresClient.Configuration(conninfo: "host=db password=hunter2")
        var dumped = ""
        dump(configuration, to: &dumped)
        #expect(!"\(configuration) \(String(reflecting: configuration)) \(dumped)".contains("hunter2"))
    }

    @Test func affectedRowsAreCounted() async throws {
        try await client.execute("CREATE TABLE counted (a INT)")
        #expect(try await client.execute("INSERT INTO counted SELECT generate_series(1, 5)") == 5)
        #expect(try await client.execute("UPDATE counted SET a = a WHERE a > \(2)") == 3)
        #expect(try await client.execute("DELETE FROM counted WHERE a = \(0)") == 0)
    }

    @Test func severalStatementsInOneAreRefused() async throws {
        let error = await #expect(throws: PostgresError.self) { try await client.execute("SELECT 1; SELECT 2") }
        #expect(error?.sqlState == "42601")
    }

    @Test func aStatementThatTakesTooLongTimesOut() async throws {
        let client = client(statementTimeout: .seconds(2))
        let error = await #expect(throws: PostgresError.self) { try await client.execute("SELECT pg_sleep(30)") }
        #expect(error?.code == .timeout)
        #expect(try await client.query("SELECT 1") { try $0.next() } == [1])
        await client.close()
    }

    @Test func aLockThatIsHeldTooLongTimesOut() async throws {
        try await client.execute("CREATE TABLE locked (a INT)")
        try await client.execute("INSERT INTO locked VALUES (1)")
        let waiting = client(lockTimeout: .milliseconds(100))
        try await client.transaction { transaction in
            try await transaction.execute("SELECT a FROM locked FOR UPDATE")
            let error = await #expect(throws: PostgresError.self) {
                try await waiting.execute("UPDATE locked SET a = 2")
            }
            #expect(error?.code == .timeout)
            #expect(error?.sqlState == "55P03")
        }
        await waiting.close()
    }

    @Test func theServersSettingsAreWhatWasAsked() async throws {
        let client = client(statementTimeout: .seconds(7), lockTimeout: .milliseconds(1500))
        let settings = try await client.query(
            "SELECT name, setting FROM pg_settings WHERE name IN ('jit', 'statement_timeout', 'lock_timeout', 'client_encoding') ORDER BY name"
        ) { "\(try $0.next(String.self))=\(try $0.next(String.self))" }
        #expect(settings == ["client_encoding=UTF8", "jit=off", "lock_timeout=1500", "statement_timeout=7000"])
        await client.close()
    }

    @Test func settingsOfTheConnectionStringAreKept() async throws {
        let conninfo = "\(TestDatabase.current.conninfo) options='-c work_mem=12345kB -c jit=on' application_name=x"
        let client = PostgresClient(quietly: .patient(conninfo))
        let settings = try await client.query(
            "SELECT current_setting('work_mem'), current_setting('jit'), current_setting('application_name')"
        ) { [try $0.next(String.self), try $0.next(), try $0.next()] }
        #expect(settings == [["12345kB", "on", "x"]])
        await client.close()
    }

    @Test func aFullQueueRefusesAtOnce() async throws {
        let client = client(queueLimit: 2)
        try await client.transaction { _ in
            // The only connection is ours, so these wait.
            try await withThrowingTaskGroup(of: PostgresError.Code?.self) { group in
                for _ in 0..<5 {
                    group.addTask {
                        do {
                            try await client.execute("SELECT 1")
                            return nil
                        } catch let error as PostgresError { return error.code }
                    }
                }
                var codes: [PostgresError.Code?] = []
                for _ in 0..<3 { codes.append(try await group.next() ?? nil) }
                #expect(codes == [.overloaded, .overloaded, .overloaded])
                group.cancelAll()
                for try await code in group { #expect(code == .cancelled) }
            }
        }
        try await client.ping()
        await client.close()
    }

    @Test func aCancelledTasksStatementIsCancelledOnTheServer() async throws {
        let client = client(connections: 2)
        let marker = "cancelled-\(UInt32.random(in: 0...UInt32.max))"
        await withTaskGroup(of: PostgresError.Code?.self) { group in
            group.addTask {
                do {
                    try await client.execute("SELECT pg_sleep(60), \(marker)")
                    return nil
                } catch { return (error as? PostgresError)?.code }
            }
            try? await running(1, "SELECT pg_sleep(60), $1", client)
            group.cancelAll()
            #expect(await group.next() == .cancelled)
        }
        try await running(0, "SELECT pg_sleep(60), $1", client)
        await client.close()
    }

    @Test func aCancelledTaskLeavesTheOthersAlone() async throws {
        let client = client(connections: 3)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<60 {
                group.addTask {
                    if index.isMultiple(of: 2) {
                        let rows: [Int] = try await client.query("SELECT \(index), pg_sleep(0.01)") { try $0.next() }
                        #expect(rows == [index])
                    } else {
                        await withTaskGroup(of: Void.self) { inner in
                            inner.addTask { _ = try? await client.execute("SELECT \(index), pg_sleep(0.02)") }
                            inner.addTask { _ = try? await client.execute("SELECT 1") }
                            await inner.next()
                            inner.cancelAll()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        await client.close()
    }

    @Test func aTaskThatWasCancelledBeforeSendsNothing() async throws {
        try await client.execute("CREATE TABLE untouched (a INT)")
        await withTaskGroup(of: Void.self) { group in
            group.cancelAll()
            group.addTask {
                let error = await #expect(throws: PostgresError.self) {
                    try await client.execute("INSERT INTO untouched VALUES (1)")
                }
                #expect(error?.code == .cancelled)
            }
        }
        #expect(try await client.query("SELECT count(*) FROM untouched") { try $0.next() } == [0])
    }

    @Test(arguments: [true, false])
    func aPlanThatAMigrationMadeStaleIsRenewed(prepares: Bool) async throws {
        let client = client(prepares: prepares)
        let table = "stale_\(prepares)"
        try await client.execute("CREATE TABLE \(identifier: table) (a INT)")
        try await client.execute("INSERT INTO \(identifier: table) VALUES (1)")
        let read: SQL = "SELECT * FROM \(identifier: table)"
        #expect(try await client.query(read) { try $0.next(Int.self) } == [1])
        try await client.execute("ALTER TABLE \(identifier: table) ALTER a TYPE BIGINT")
        #expect(try await client.query(read) { try $0.next(Int.self) } == [1])
        try await client.execute("ALTER TABLE \(identifier: table) ALTER a TYPE INT")
        #expect(try await client.transaction { try await $0.query(read) { try $0.next(Int.self) } } == [1])
        await client.close()
    }

    @Test func unpreparedStatementsLeaveNothingOnTheServer() async throws {
        let client = client(prepares: false)
        #expect(try await client.query("SELECT \(7)") { try $0.next() } == [7])
        #expect(try await client.query("SELECT count(*) FROM pg_prepared_statements") { try $0.next() } == [0])
        await client.close()
    }

    @Test func copyIsRefusedAndTheConnectionReplaced() async throws {
        let client = client()
        await #expect(throws: PostgresError.self) { try await client.execute("COPY (SELECT 1) TO STDOUT") }
        #expect(try await client.query("SELECT 1") { try $0.next() } == [1])
        await client.close()
    }

    @Test func aStrayBeginDoesNotReachTheNextCaller() async throws {
        let client = client()
        try await client.execute("BEGIN")
        try await client.execute("CREATE TABLE stray (a INT)")
        #expect(try await client.query("SELECT to_regclass('stray') IS NOT NULL") { try $0.next() } == [true])
        await client.close()
    }

    @Test func aClosedClientRefuses() async throws {
        let client = client()
        try await client.ping()
        await client.close()
        let error = await #expect(throws: PostgresError.self) { try await client.ping() }
        #expect(error?.code == .unavailable)
        await client.close()
    }

    /// Waits until so many backends run the statement.
    private func running(_ count: Int, _ text: String, _ client: PostgresClient) async throws {
        while try await client.query(
            "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query = \(text)",
            { try $0.next(Int.self) }
        ) != [count] {}
    }
}
