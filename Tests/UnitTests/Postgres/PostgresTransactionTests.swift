import Postgres
import TestKit
import Testing

@Suite("PostgreSQL: transactions", .database, .timeLimit(.minutes(10)))
struct PostgresTransactionTests {
    private var client: PostgresClient { TestDatabase.current.client }

    private struct Refusal: Error, Equatable {}

    private func table(_ name: String, rows: Int = 0) async throws {
        try await client.execute("CREATE TABLE \(identifier: name) (k INT PRIMARY KEY, v INT NOT NULL)")
        try await client.execute("INSERT INTO \(identifier: name) SELECT i, 0 FROM generate_series(1, \(rows)) i")
    }

    private func count(_ name: String) async throws -> Int {
        try #require(try await client.query("SELECT count(*) FROM \(identifier: name)") { try $0.next(Int.self) }.first)
    }

    @Test func whatWasDoneTogetherIsKeptTogether() async throws {
        try await table("kept")
        let value = try await client.transaction { transaction in
            try await transaction.execute("INSERT INTO kept VALUES (1, 1)")
            #expect(try await count("kept") == 0)
            try await transaction.execute("INSERT INTO kept VALUES (2, 2)")
            return try await transaction.query("SELECT count(*) FROM kept") { try $0.next(Int.self) }
        }
        #expect(value == [2])
        #expect(try await count("kept") == 2)
    }

    @Test func anErrorRollsBack() async throws {
        try await table("refused")
        await #expect(throws: Refusal.self) {
            try await client.transaction { transaction in
                try await transaction.execute("INSERT INTO refused VALUES (1, 1)")
                throw Refusal()
            }
        }
        #expect(try await count("refused") == 0)
    }

    @Test func anErrorThatWasSwallowedDoesNotLookLikeACommit() async throws {
        try await table("swallowed")
        let error = await #expect(throws: PostgresError.self) {
            try await client.transaction { transaction in
                try await transaction.execute("INSERT INTO swallowed VALUES (1, 1)")
                _ = try? await transaction.execute("INSERT INTO swallowed VALUES (1, 1)")
            }
        }
        #expect(error?.sqlState == "25P02")
        #expect(try await count("swallowed") == 0)
    }

    @Test func theLoserOfAConflictRunsAgain() async throws {
        try await table("conflict", rows: 2)
        let runs = Counter()
        let barrier = Barrier(2)
        // Each reads what the other writes: one of them must see the other's value.
        func copy(from: Int, to: Int) async throws {
            let attempts = Counter()
            try await client.transaction(isolation: .serializable) { transaction in
                runs.increment()
                let sum = try await transaction.query("SELECT v FROM conflict WHERE k = \(from)") {
                    try $0.next(Int.self)
                }
                if attempts.increment() == 1 { await barrier.wait() }
                try await transaction.execute("UPDATE conflict SET v = \(sum[0] + 1)::int WHERE k = \(to)")
            }
        }
        async let first: Void = copy(from: 1, to: 2)
        async let second: Void = copy(from: 2, to: 1)
        _ = try await (first, second)
        #expect(runs.value == 3)
        let values = try await client.query("SELECT v FROM conflict ORDER BY v") { try $0.next(Int.self) }
        #expect(values == [1, 2])
    }

    @Test func theVictimOfADeadlockRunsAgain() async throws {
        try await table("deadlock", rows: 2)
        let runs = Counter()
        let barrier = Barrier(2)
        func update(_ first: Int, _ second: Int) async throws {
            let attempts = Counter()
            try await client.transaction { transaction in
                runs.increment()
                try await transaction.execute("UPDATE deadlock SET v = v + 1 WHERE k = \(first)")
                if attempts.increment() == 1 { await barrier.wait() }
                try await transaction.execute("UPDATE deadlock SET v = v + 1 WHERE k = \(second)")
            }
        }
        async let one: Void = update(1, 2)
        async let other: Void = update(2, 1)
        _ = try await (one, other)
        // More often when the victim comes back before the other is awake.
        #expect(runs.value >= 3)
        #expect(try await client.query("SELECT v FROM deadlock") { try $0.next() } == [2, 2])
    }

    @Test func aConflictThatNeverEndsIsGivenUp() async throws {
        let runs = Counter()
        let error = await #expect(throws: PostgresError.self) {
            try await client.transaction { transaction in
                runs.increment()
                try await transaction.execute("DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '40001'; END $$")
            }
        }
        #expect(error?.sqlState == "40001")
        #expect(runs.value == 4)
    }

    @Test func aSingleStatementThatLostRunsAgain() async throws {
        try await client.execute("CREATE SEQUENCE attempts")
        let attempt: SQL = """
            SELECT CASE WHEN n < 3 THEN fail() ELSE n END FROM (SELECT nextval('attempts') AS n OFFSET 0) t
            """
        try await client.execute(
            """
            CREATE FUNCTION fail() RETURNS bigint LANGUAGE plpgsql AS
            'BEGIN RAISE EXCEPTION USING ERRCODE = ''40P01''; END'
            """
        )
        #expect(try await client.query(attempt) { try $0.next() } == [3])
    }

    @Test func aCancelledTransactionIsRolledBack() async throws {
        try await table("cancelled")
        await withTaskGroup(of: PostgresError.Code?.self) { group in
            let inserted = Barrier(2)
            group.addTask {
                do {
                    try await client.transaction { transaction in
                        try await transaction.execute("INSERT INTO cancelled VALUES (1, 1)")
                        await inserted.wait()
                        try await transaction.execute("SELECT pg_sleep(60)")
                    }
                    return nil
                } catch { return (error as? PostgresError)?.code }
            }
            await inserted.wait()
            group.cancelAll()
            #expect(await group.next() == .cancelled)
        }
        #expect(try await count("cancelled") == 0)
    }

    @Test func aTransactionThatWentSilentIsRolledBackAndItsConnectionFreed() async throws {
        try await table("silent")
        var configuration = PostgresClient.Configuration.patient(TestDatabase.current.conninfo, connections: 1)
        configuration.transactionIdleTimeout = .milliseconds(50)
        let client = PostgresClient(quietly: configuration)
        let error = await #expect(throws: PostgresError.self) {
            try await client.transaction { transaction in
                try await transaction.execute("INSERT INTO silent VALUES (1, 1)")
                // The only connection is the transaction's, until the client takes it back.
                try await client.ping()
                try await transaction.execute("INSERT INTO silent VALUES (2, 2)")
            }
        }
        #expect(error?.code == .transactionEnded)
        #expect(try await count("silent") == 0)
        await client.close()
    }

    @Test func aTransactionCannotBeUsedAfterItsEnd() async throws {
        let escaped = try await client.transaction { $0 }
        let error = await #expect(throws: PostgresError.self) { try await escaped.execute("SELECT 1") }
        #expect(error?.code == .transactionEnded)
    }

    @Test func concurrentUseOfOneTransactionKeepsAnswersApart() async throws {
        let values = try await client.transaction { transaction in
            try await withThrowingTaskGroup(of: [Int].self) { group in
                for index in 0..<50 {
                    group.addTask { try await transaction.query("SELECT \(index)") { try $0.next() } }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
        }
        #expect(values.sorted() == Array(0..<50))
    }

    @Test func moreTransactionsThanConnectionsTakeTurns() async throws {
        try await table("turns", rows: 1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    try await client.transaction { transaction in
                        try await transaction.execute("UPDATE turns SET v = v + 1")
                        try await transaction.execute("SELECT 1")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await client.query("SELECT v FROM turns") { try $0.next() } == [40])
    }

    // MARK: Statements that go together

    private func roundTrips(
        _ client: PostgresClient,
        _ body: @Sendable (PostgresTransaction) async throws -> Void
    ) async throws -> Int {
        let before = client.load.roundTrips
        try await client.transaction(body)
        return client.load.roundTrips - before
    }

    @Test func writesGoWithTheNextAnswerOrWithTheCommit() async throws {
        try await table("together")
        let client = PostgresClient(quietly: .patient(TestDatabase.current.conninfo, connections: 1))
        let asked = try await roundTrips(client) { transaction in
            transaction.write("INSERT INTO together VALUES (1, 1)")
            transaction.write("INSERT INTO together VALUES (2, \(2)::int)")
            let count = try await transaction.query("SELECT count(*) FROM together") { try $0.next(Int.self) }
            #expect(count == [2])
            transaction.write("UPDATE together SET v = v + 1")
        }
        #expect(asked == 2)
        #expect(try await client.query("SELECT v FROM together ORDER BY k") { try $0.next() } == [2, 3])
        #expect(try await roundTrips(client) { $0.write("DELETE FROM together") } == 1)
        #expect(try await count("together") == 0)
        await client.close()
    }

    @Test func aTransactionThatAsksNothingIsNone() async throws {
        let client = PostgresClient(quietly: .patient(TestDatabase.current.conninfo, connections: 1))
        #expect(try await roundTrips(client) { _ in } == 0)
        await #expect(throws: Refusal.self) {
            try await client.transaction { transaction in
                transaction.write("SELECT no_such_function()")
                throw Refusal()
            }
        }
        #expect(client.load.roundTrips == 0)
        await client.close()
    }

    @Test("a write that fails takes all with it, whoever learns of it", arguments: ["next", "swallowed", "commit"])
    func aWriteThatFails(_ learner: String) async throws {
        let name = "failing_\(learner)"
        try await table(name)
        for _ in 0..<3 {
            let error = await #expect(throws: PostgresError.self) {
                try await client.transaction { transaction in
                    transaction.write("INSERT INTO \(identifier: name) VALUES (1, 1)")
                    transaction.write("INSERT INTO \(identifier: name) VALUES (1, 1)")
                    transaction.write("INSERT INTO \(identifier: name) VALUES (2, 2)")
                    if learner == "next" { try await transaction.execute("SELECT 1") }
                    if learner == "swallowed" { _ = try? await transaction.execute("SELECT 1") }
                }
            }
            #expect(learner == "swallowed" ? error?.sqlState == "25P02" : error?.constraint == "\(name)_pkey")
            #expect(try await count(name) == 0)
        }
    }

    @Test func aWriteWithAValueThatTheServerCannotHoldTakesAllWithIt() async throws {
        try await table("unsendable")
        let error = await #expect(throws: PostgresError.self) {
            try await client.transaction { transaction in
                transaction.write("INSERT INTO unsendable VALUES (1, 1)")
                transaction.write("SELECT \("a\0b")")
                _ = try? await transaction.execute("SELECT 1")
                // Nothing was sent, so this one would run by itself.
                _ = try? await transaction.execute("INSERT INTO unsendable VALUES (2, 2)")
            }
        }
        #expect(error?.sqlState == "25P02")
        #expect(try await count("unsendable") == 0)
    }

    @Test("a write that does not find its row takes all with it", arguments: [true, false])
    func aWriteWithoutItsRow(isSwallowed: Bool) async throws {
        let name = "missing_\(isSwallowed)"
        try await table(name, rows: 1)
        let error = await #expect(throws: PostgresError.self) {
            try await client.transaction { transaction in
                transaction.write("UPDATE \(identifier: name) SET v = 1 WHERE k = 1", affecting: 1)
                transaction.write("UPDATE \(identifier: name) SET v = 1 WHERE k = 2", affecting: 1)
                do {
                    try await transaction.execute("SELECT 1")
                } catch let error as PostgresError where isSwallowed {
                    #expect(error.sqlState == PostgresError.noSuchRow)
                }
            }
        }
        #expect(error?.sqlState == (isSwallowed ? "25P02" : PostgresError.noSuchRow))
        #expect(try await client.query("SELECT v FROM \(identifier: name)") { try $0.next() } == [0])
    }

    @Test func aWriteThatLostAConflictRunsAgain() async throws {
        try await client.execute("CREATE SEQUENCE tries")
        try await client.execute(
            """
            CREATE FUNCTION win() RETURNS void LANGUAGE plpgsql AS
            'BEGIN IF nextval(''tries'') < 3 THEN RAISE EXCEPTION USING ERRCODE = ''40001''; END IF; END'
            """
        )
        let runs = Counter()
        try await client.transaction { transaction in
            runs.increment()
            transaction.write("SELECT win()")
        }
        #expect(runs.value == 3)
    }

    @Test func aWriteWhosePlanIsOutdatedRunsAgain() async throws {
        try await table("outdated")
        let runs = Counter()
        func read() async throws {
            try await client.transaction { transaction in
                runs.increment()
                transaction.write("SELECT * FROM outdated")
                try await transaction.execute("SELECT 1")
            }
        }
        for _ in 0..<20 { try await read() }
        try await client.execute("ALTER TABLE outdated ADD COLUMN w INT")
        for _ in 0..<20 { try await read() }
        #expect(runs.value > 40)
    }

    @Test func manyWritesDoNotStopOneAnother() async throws {
        try await table("many")
        let text = String(repeating: "x", count: 10_000)
        try await client.transaction { transaction in
            for number in 0..<5_000 {
                transaction.write("INSERT INTO many SELECT \(number)::int, length(\(text))")
            }
        }
        #expect(try await count("many") == 5_000)
    }
}
