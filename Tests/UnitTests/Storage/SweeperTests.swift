import Foundation
import Logging
import Postgres
import Storage
import TestKit
import Testing

@Suite("Sweeper", .database, .serialized)
struct SweeperTests {
    @Test("R-06: an unfinished flow is deleted once it has expired; a live one stays")
    func deletesWhatHasExpired() async throws {
        let database = TestDatabase.current.client
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        for (number, expiry) in [-1.0, 0, 60].enumerated() {
            try await database.execute(
                """
                INSERT INTO flows (project, state_hash, tenant, provider, session_hash, purpose, payload, created_at, expires_at)
                VALUES ('sweeper', \([UInt8(number)]), '', 'oidc.x', \([1] as [UInt8]), 'signIn', \([2] as [UInt8]),
                    \(now), \(now.addingTimeInterval(expiry)))
                """
            )
        }
        let sweeper = Sweeper(database: database, logger: Logger(label: "test"), now: { now })
        #expect(try await sweeper.sweep() == 1)
        let left = try await database.query("SELECT count(*) FROM flows WHERE project = 'sweeper'") {
            try $0.next(Int64.self)
        }
        #expect(left == [2])
    }

    @Test("ended sessions are deleted once all their tokens have expired, and live ones stay")
    func endedSessions() async throws {
        let database = TestDatabase.current.client
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        for project in ["first-ended", "second-ended"] {
            try await database.execute(
                """
                INSERT INTO projects (project, number, config, password_signer_key, created_at)
                VALUES (\(project), \(Int64(project.count) + 100_000_000_000), '{}', '', \(now))
                """
            )
            for (id, days) in [("live", nil), ("late", 14.9), ("over", 15.1)] as [(String, Double?)] {
                try await database.execute(
                    """
                    INSERT INTO sessions (project, account, session, tenant, secret_hash, auth_time, sign_in_provider,
                        created_at, last_used_at, revoked_at)
                    VALUES (\(project), 'ada', \(id), '', '', 0, 'password', \(now), \(now),
                        \(days.map { now.addingTimeInterval(-86_400 * $0) }))
                    """
                )
            }
        }
        let sweeper = Sweeper(database: database, logger: Logger(label: "test"), now: { now })
        #expect(try await sweeper.sweep() == 2)
        let left = try await database.query(
            "SELECT project || ' ' || session FROM sessions WHERE project LIKE '%-ended' ORDER BY 1"
        ) { try $0.next(String.self) }
        #expect(left == ["first-ended late", "first-ended live", "second-ended late", "second-ended live"])
    }

    @Test("every table whose rows expire is swept", .database)
    func everyTable() async throws {
        let database = TestDatabase.current.client
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        let columns = try await database.query(
            """
            SELECT table_name::text, column_name::text, data_type::text FROM information_schema.columns c
            WHERE table_schema = 'public' AND (is_nullable = 'NO' OR column_name = 'expires_at')
                AND EXISTS (SELECT FROM information_schema.columns e
                    WHERE e.table_schema = 'public' AND e.table_name = c.table_name AND e.column_name = 'expires_at')
            ORDER BY table_name, ordinal_position
            """
        ) { (table: try $0.next(String.self), name: try $0.next(String.self), type: try $0.next(String.self)) }
        // Those are listed as expired until somebody deletes them.
        let tables = Dictionary(grouping: columns, by: \.table).filter { $0.key != "admin_credentials" }
        #expect(tables.count >= 9)
        for (table, columns) in tables {
            let names: [SQL] = columns.map { "\(identifier: $0.name)" }
            let values: [SQL] = columns.map { column in
                switch (column.name, column.type) {
                case ("expires_at", _): "date"
                case (_, "text"): "'swept ' || n"
                case (_, "bytea"): "sha256(n::text::bytea)"
                case (_, "timestamp with time zone"): "date"
                case (_, "boolean"): "false"
                case (_, "jsonb"): "'{}'"
                default: "0"
                }
            }
            try await database.execute(
                """
                INSERT INTO \(identifier: table) (\(sql: list(names)))
                SELECT \(sql: list(values))
                FROM (VALUES (1, \(now.addingTimeInterval(-86_401))::timestamptz), (2, \(now.addingTimeInterval(1))))
                    AS row (n, date)
                """
            )
        }
        let sweeper = Sweeper(database: database, logger: Logger(label: "test"), now: { now })
        try await sweeper.sweep()
        for table in tables.keys {
            let left = try await database.query("SELECT count(*) FROM \(identifier: table) WHERE expires_at < \(now)") {
                try $0.next(Int64.self)
            }
            #expect(left == [0], "\(table)")
        }
    }

    private func list(_ items: [SQL]) -> SQL {
        items.dropFirst().reduce(items.first ?? "") { "\(sql: $0), \(sql: $1)" }
    }

    @Test("numbers of sign-ins go after 400 days", .database)
    func signInCounts() async throws {
        let database = TestDatabase.current.client
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        try await database.execute(
            """
            INSERT INTO sign_in_counts (project, tenant, day, provider, outcome, count)
            SELECT 'counted', '', (\(now) AT TIME ZONE 'UTC')::date - d, 'password', 'signed_in', 1
            FROM unnest(ARRAY[0, 400, 401]) d
            """
        )
        #expect(try await Sweeper(database: database, logger: Logger(label: "test"), now: { now }).sweep() == 1)
        let left = try await database.query("SELECT count(*) FROM sign_in_counts") { try $0.next(Int64.self) }
        #expect(left == [2])
    }

    @Test("a table that cannot be swept keeps no other from it")
    func oneFails() async throws {
        try await TestDatabase.withAnother { conninfo in
            let database = PostgresClient(quietly: .patient(conninfo, connections: 1))
            let now = Date(timeIntervalSince1970: 1_800_000_000)
            try await database.execute("ALTER TABLE flows RENAME TO elsewhere")
            try await database.execute(
                """
                INSERT INTO kept_names (project, tenant, provider, subject, payload, expires_at)
                VALUES ('swept', '', 'apple.com', 'ada', '', \(now.addingTimeInterval(-1)))
                """
            )
            try await database.execute(
                """
                INSERT INTO sign_in_counts (project, tenant, day, provider, outcome, count)
                VALUES ('swept', '', (\(now) AT TIME ZONE 'UTC')::date - 401, 'password', 'signed_in', 1)
                """
            )
            await #expect(throws: PostgresError.self) {
                try await Sweeper(database: database, logger: Logger(label: "test"), now: { now }).sweep()
            }
            for table: SQL in ["kept_names", "sign_in_counts"] {
                let left = try await database.query("SELECT count(*) FROM \(sql: table)") { try $0.next(Int64.self) }
                #expect(left == [0], "\(table)")
            }
            await database.close()
        }
    }

    @Test("of nodes that come in the same minute one sweeps")
    func takesTurns() async throws {
        let database = TestDatabase.current.client
        let clock = SteppableClock(Date(timeIntervalSince1970: 1_900_000_000))
        let sweepers = (0..<4).map { _ in
            Sweeper(database: database, logger: Logger(label: "test"), now: { clock.current })
        }
        for _ in 0..<3 {
            let turns = try await withThrowingTaskGroup { group in
                for sweeper in sweepers { group.addTask { try await sweeper.takesTurn() } }
                return try await group.reduce(into: [Bool]()) { $0.append($1) }
            }
            #expect(turns.count { $0 } == 1, "\(turns)")
            clock.advance(by: 60)
        }
        // A clock that is far ahead keeps nobody from sweeping; one that is a little ahead still takes turns.
        let ahead = SteppableClock(clock.current)
        let other = Sweeper(database: database, logger: Logger(label: "test"), now: { ahead.current })
        for (lead, isFree) in [(60.0, false), (86_400, true)] {
            ahead.advance(by: lead)
            #expect(try await other.takesTurn())
            #expect(try await sweepers[0].takesTurn() == isFree, "\(lead)")
        }
    }
}
