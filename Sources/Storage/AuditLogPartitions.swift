import AsyncAlgorithms
package import Foundation
package import Logging
package import Postgres
import ServiceLifecycle

/// Maintains the audit log's monthly partitions: creates the next ones, drops those past their retention time, and
/// ensures that only the owner can change entries.
///
/// Only the table's owner can do this; the service's own role need not be the owner. Several nodes can run it: one does
/// the work, and the others find it done.
package struct AuditLogPartitions: Service {
    private let connect: @Sendable () -> PostgresClient
    private let retentionDays: Int
    private let logger: Logger
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - retentionDays: how long entries are kept at least; 0 keeps them forever.
    ///   - connect: to the database, as the table's owner; closed after each use.
    package init(
        retentionDays: Int,
        logger: Logger,
        now: @escaping @Sendable () -> Date,
        connect: @escaping @Sendable () -> PostgresClient
    ) {
        self.retentionDays = retentionDays
        self.logger = logger
        self.now = now
        self.connect = connect
    }

    /// Runs now and every hour until stopped.
    package func run() async throws {
        await keep()
        let ticks = AsyncTimerSequence(interval: .seconds(3600), clock: .continuous).cancelOnGracefulShutdown()
        for await _ in ticks { await keep() }
    }

    private func keep() async {
        let database = connect()
        do {
            try await keep(database)
        } catch {
            logger.warning(
                "The audit log's partitions could not be maintained; entries are still written",
                metadata: ["error": "\(error)"]
            )
        }
        await database.close()
    }

    /// Creates this month and the next two, and drops months whose last day is past the retention time.
    package func keep(_ database: PostgresClient) async throws {
        let months = try await Self.months(database)
        for month in Month(now()).following(2) where !months.contains(month) { try await make(month, database) }
        try await protect(database)
        guard retentionDays > 0 else { return }
        let end = now().addingTimeInterval(-86_400 * Double(retentionDays))
        for month in months where month.next.start <= end { try await drop(month, database) }
        try await database.execute("DELETE FROM audit_log_rest WHERE recorded_at < \(end)")
    }

    fileprivate static func months(_ executor: some PostgresExecutor) async throws -> [Month] {
        try await executor.query(
            """
            SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
            WHERE i.inhparent = 'audit_log'::regclass
            """
        ) { row in Month(table: try row.next()) }.compactMap(\.self)
    }

    /// Creates a month and moves entries of it that were written to the rest.
    ///
    /// Writers wait only for the end of it, while new entries since the first move are moved and the rest is read
    /// again. No writer may hold a pending entry for the rest, because the rest refuses entries of the month
    /// afterwards.
    private func make(_ month: Month, _ database: PostgresClient) async throws {
        try await alone(database) { transaction in
            guard try await !Self.months(transaction).contains(month) else { return }
            let table: SQL = "\(identifier: month.table)"
            try await transaction.execute("CREATE TABLE \(sql: table) (LIKE audit_log INCLUDING ALL)")
            let move: SQL = """
                WITH moved AS (
                    DELETE FROM audit_log_rest
                    WHERE recorded_at >= \(month.start) AND recorded_at < \(month.next.start) RETURNING *
                )
                INSERT INTO \(sql: table) SELECT * FROM moved
                """
            try await transaction.execute(move)
            try await transaction.execute("LOCK TABLE audit_log IN SHARE ROW EXCLUSIVE MODE")
            try await transaction.execute(move)
            try await transaction.execute(
                """
                ALTER TABLE audit_log ATTACH PARTITION \(sql: table)
                FOR VALUES FROM (to_timestamp(\(literal: month.start.seconds)))
                    TO (to_timestamp(\(literal: month.next.start.seconds)))
                """
            )
        }
    }

    /// Revokes from every other role, whatever default privileges grant, all rights that could change entries: through
    /// the log itself, reading and inserting remain; for a month, reading.
    private func protect(_ database: PostgresClient) async throws {
        let grants = try await database.query(
            """
            SELECT DISTINCT c.relname::text, x.grantee = 0, coalesce(r.rolname, '')::text, c.relkind = 'p'
            FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) x LEFT JOIN pg_roles r ON r.oid = x.grantee
            WHERE (c.oid = 'audit_log'::regclass
                    OR c.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'audit_log'::regclass))
                AND x.grantee <> c.relowner
                AND x.privilege_type <> 'SELECT' AND (c.relkind <> 'p' OR x.privilege_type <> 'INSERT')
            """
        ) { row in
            (
                table: try row.next(String.self), isPublic: try row.next(Bool.self), role: try row.next(String.self),
                isLog: try row.next(Bool.self)
            )
        }
        for grant in grants {
            let rights: SQL = grant.isLog ? "" : "INSERT,"
            let role: SQL = grant.isPublic ? "PUBLIC" : "\(identifier: grant.role)"
            try await database.execute(
                """
                REVOKE \(sql: rights) UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER
                ON \(identifier: grant.table) FROM \(sql: role)
                """
            )
        }
    }

    private func drop(_ month: Month, _ database: PostgresClient) async throws {
        try await alone(database) { transaction in
            try await transaction.execute("DROP TABLE IF EXISTS \(identifier: month.table)")
        }
    }

    /// Runs on one node at a time and never blocks others for long: sign-ins queue behind a lock that waits for a long
    /// reader, so the lock attempt ends quickly and is retried an hour later.
    private func alone(
        _ database: PostgresClient,
        _ body: @escaping @Sendable (PostgresTransaction) async throws -> Void
    ) async throws {
        try await database.transaction { transaction in
            try await transaction.execute("SET LOCAL lock_timeout = '2s'")
            _ = try await transaction.query("SELECT version FROM configuration FOR UPDATE") { row in
                try row.next(Int64.self)
            }
            try await transaction.execute("SET LOCAL lock_timeout = '250ms'")
            try await body(transaction)
        }
    }
}

extension AuditLogStore {
    /// Whether this month and the next one exist; otherwise entries go to the rest.
    package func hasMonths(at date: Date) async throws -> Bool {
        let months = try await AuditLogPartitions.months(database)
        return Month(date).following(1).allSatisfy(months.contains)
    }

    /// Whether the current role can change or remove entries.
    package func isChangeable() async throws -> Bool {
        try await database.query(
            """
            SELECT coalesce(bool_or(pg_has_role(c.relowner, 'USAGE') OR has_any_column_privilege(c.oid, 'UPDATE')
                OR has_table_privilege(c.oid, 'DELETE, TRUNCATE, TRIGGER')), false)
            FROM pg_class c
            WHERE c.oid = 'audit_log'::regclass
                OR c.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'audit_log'::regclass)
            """
        ) { try $0.next(Bool.self) }.first ?? false
    }
}

/// A month of the audit log, in UTC.
private struct Month: Sendable, Hashable {
    let start: Date

    init(_ date: Date) { start = Self.calendar.dateInterval(of: .month, for: date)?.start ?? date }

    /// Nil for another table's name.
    init?(table: String) {
        guard table.count == 16, table.hasPrefix("audit_log_"), let year = Int(table.dropFirst(10).prefix(4)),
            let month = Int(table.suffix(2)), (1...12).contains(month),
            let start = Self.calendar.date(from: DateComponents(year: year, month: month))
        else { return nil }
        self.start = start
    }

    /// `audit_log_202611`.
    var table: String {
        let parts = Self.calendar.dateComponents([.year, .month], from: start)
        return "audit_log_\((parts.year ?? 0) * 100 + (parts.month ?? 0))"
    }

    var next: Month { Month(Self.calendar.date(byAdding: .month, value: 1, to: start) ?? start) }

    /// This month and the given number after it.
    func following(_ count: Int) -> [Month] { count == 0 ? [self] : [self] + next.following(count - 1) }

    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()
}

extension Date {
    fileprivate var seconds: Int64 { Int64(timeIntervalSince1970) }
}
