import Foundation
import Logging
import Postgres
import Storage
import TestKit
import Testing

/// The months of the audit log, and who may do what with it.
@Suite("Months of the audit log", .database, .serialized)
struct AuditPartitionTests {
    private let database = TestDatabase.current.client

    private func partitions(_ days: Int, at date: String) throws -> AuditLogPartitions {
        let now = try Date(date, strategy: .iso8601)
        let conninfo = TestDatabase.current.conninfo
        return AuditLogPartitions(retentionDays: days, logger: Logger(label: "test"), now: { now }) {
            PostgresClient(quietly: .patient(conninfo, connections: 1))
        }
    }

    private func record(_ date: String) async throws {
        try await database.execute(
            """
            INSERT INTO audit_log (project, recorded_at, tenant, action, actor)
            VALUES ('months', \(try Date(date, strategy: .iso8601)), '', 'SIGNED_IN', 'account')
            """
        )
    }

    /// Table and number of its entries.
    private func tables() async throws -> [String: Int64] {
        let rows = try await database.query(
            """
            SELECT c.relname::text, (SELECT count(*) FROM audit_log a WHERE a.tableoid = c.oid)
            FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'audit_log'::regclass
            """
        ) { (try $0.next(String.self), try $0.next(Int64.self)) }
        return Dictionary(uniqueKeysWithValues: rows)
    }

    @Test("months are made ahead, take what was written before them, and go as a whole when their time is over")
    func months() async throws {
        for date in ["2026-10-31T23:59:59Z", "2026-11-01T00:00:00Z", "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z"] {
            try await record(date)
        }
        #expect(try await tables() == ["audit_log_rest": 4])
        // Two nodes at once, and again.
        let november = try partitions(60, at: "2026-11-20T12:00:00Z")
        async let one: Void = november.keep(database)
        async let other: Void = november.keep(database)
        _ = try await (one, other)
        try await november.keep(database)
        #expect(
            try await tables()
                == ["audit_log_rest": 1, "audit_log_202611": 1, "audit_log_202612": 1, "audit_log_202701": 1]
        )
        try await record("2026-11-20T12:00:00Z")
        #expect(try await tables()["audit_log_202611"] == 2)
        // The last of November is 60 days ago at the end of the 29th of January, and not before.
        try await partitions(60, at: "2027-01-29T12:00:00Z").keep(database)
        var counts = try await tables()
        #expect(counts["audit_log_202611"] == 2 && counts["audit_log_rest"] == 0)
        try await partitions(60, at: "2027-01-30T00:00:00Z").keep(database)
        counts = try await tables()
        #expect(Set(counts.keys) == Set(["rest", "202612", "202701", "202702", "202703"].map { "audit_log_\($0)" }))
        // Nothing goes where everything is kept.
        try await partitions(0, at: "2036-01-30T00:00:00Z").keep(database)
        #expect(try await tables()["audit_log_202612"] == 1)
        let left = try await database.query("SELECT count(*) FROM audit_log") { try $0.next(Int64.self) }
        #expect(left == [2])
    }

    @Test("a long read delays creating or dropping a month, but not writing entries")
    func longReader() async throws {
        try await partitions(60, at: "2040-01-20T12:00:00Z").keep(database)
        try await database.execute("DROP TABLE audit_log_204003")
        try await keep(at: "2040-01-21T12:00:00Z", refusedWhileReading: "audit_log_rest")
        #expect(try await tables()["audit_log_204003"] == 0)
        try await keep(at: "2040-04-20T12:00:00Z", refusedWhileReading: "audit_log_204001")
        let left = try await tables()
        #expect(left["audit_log_204001"] == nil && left["audit_log_204003"] == 0, "\(left)")
    }

    private func keep(at date: String, refusedWhileReading table: String) async throws {
        let partitions = try partitions(60, at: date)
        try await database.transaction { reader in
            try await reader.execute("LOCK TABLE \(identifier: table) IN ACCESS SHARE MODE")
            do {
                try await partitions.keep(database)
                Issue.record("\(table) was changed under its reader")
            } catch let error as PostgresError {
                // Its own limit, since this client has none: those who sign in then wait no longer.
                #expect(error.sqlState == "55P03", "\(error)")
            }
            try await record(date)
        }
        try await partitions.keep(database)
    }

    @Test("a month takes what is written while it is made")
    func busyRest() async throws {
        try await record("2050-03-01T12:00:00Z")
        let march = try partitions(0, at: "2050-03-20T12:00:00Z")
        try await withThrowingTaskGroup { group in
            for _ in 0..<3 {
                group.addTask {
                    for _ in 0..<40 { try await record("2050-03-20T12:00:00Z") }
                }
            }
            group.addTask { try await march.keep(database) }
            try await group.waitForAll()
        }
        #expect(try await tables()["audit_log_205003"] == 121)
    }

    @Test("no role but the owner can change or remove an entry, whatever it was granted")
    func appendOnly() async throws {
        let role = "audit_\(UInt32.random(in: 0...UInt32.max))"
        try await database.execute("CREATE ROLE \(identifier: role)")
        try await database.execute("GRANT ALL ON audit_log, audit_log_rest TO \(identifier: role), PUBLIC")
        try await database.execute("ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO \(identifier: role)")
        try await partitions(0, at: "2030-05-20T12:00:00Z").keep(database)
        func refused(_ statement: SQL) async throws -> String? {
            do {
                try await database.transaction { transaction in
                    try await transaction.execute("SET LOCAL ROLE \(identifier: role)")
                    try await transaction.execute(statement)
                }
                return nil
            } catch let error as PostgresError {
                return error.sqlState
            }
        }
        #expect(
            try await refused(
                """
                INSERT INTO audit_log (project, recorded_at, tenant, action, actor)
                VALUES ('append', '2026-11-20', '', 'SIGNED_IN', 'account')
                """
            ) == nil
        )
        for statement: SQL in [
            "UPDATE audit_log SET actor = 'nobody'", "DELETE FROM audit_log", "TRUNCATE audit_log",
            "DROP TABLE audit_log",
            "DELETE FROM audit_log_rest", "DELETE FROM audit_log_203005",
            "UPDATE audit_log_203006 SET actor = 'nobody'",
            "INSERT INTO audit_log_203005 SELECT * FROM audit_log", "TRUNCATE audit_log_203007",
            "ALTER TABLE audit_log DETACH PARTITION audit_log_rest",
        ] {
            #expect(try await refused(statement) == "42501", "\(statement)")
        }
        try await database.execute("DROP OWNED BY \(identifier: role)")
        try await database.execute("DROP ROLE \(identifier: role)")
    }
}
