package import Linking
import Postgres
package import Projects
package import struct Foundation.Date

/// What the audit log says: who changed what, when, from where and why.
package struct RecordedChange: Sendable {
    package var id: String
    package var recordedAt: Date
    package var action: String
    /// Nil for what belongs to the deployment.
    package var project: String?
    package var tenant: TenantID
    package var account: AccountID?
    package var provider: ProviderID?
    /// The id of what else it is about: a session, a key, the other account.
    package var resource: String?
    /// The names of the members that changed.
    package var changes: [String]
    package var actor: String
    package var addressPrefix: String?
    package var request: String?
    package var operation: String?
    package var reason: String?
}

/// Which entries of the audit log are meant: those that meet all that is not nil.
package struct AuditQuery: Sendable {
    package var account: AccountID?
    package var action: AuditAction?
    package var provider: ProviderID?
    /// As ``AuditOrigin/Actor`` has it in text.
    package var actor: String?
    /// Recorded at this moment or later.
    package var since: Date?
    /// Recorded before.
    package var until: Date?
    package var tenant: TenantID?

    package init() {}

    /// Whether it asks for more than an index knows.
    fileprivate var isFiltered: Bool { action != nil || provider != nil || actor != nil || tenant != nil }
}

/// The place of an entry among those of its project.
package struct AuditPosition: Sendable, Hashable, Codable {
    package var date: Date
    package var entry: String
}

/// Reads the audit log; what writes it are the statements that change something, and ``record(_:in:account:provider:at:)``.
package struct AuditLogStore: Sendable {
    let database: PostgresClient

    /// Records what changes nothing: that a secret was handed out, or something refused that only an attack explains.
    ///
    /// The caller answers after it alone: nobody gets what is not on record.
    package func record(
        _ action: AuditAction,
        in scope: Scope,
        account: AccountID? = nil,
        provider: ProviderID? = nil,
        at date: Date
    ) async throws {
        let entry = AuditEntry(action, in: scope, account: account, providers: provider.map { [$0] } ?? [], at: date)
        try await database.execute(entry.insertion())
    }

    /// Entries, the newest first.
    ///
    /// It costs the same however many there are: it looks at 10,000 of them at most, and then ends early, even without an
    /// entry, but with the position where the next page goes on.
    ///
    /// - Parameters:
    ///   - project: nil for what belongs to the deployment.
    ///   - size: 1 to 1000.
    package func page(
        _ query: AuditQuery,
        of project: ProjectID?,
        after position: AuditPosition?,
        size: Int
    ) async throws -> (changes: [RecordedChange], next: AuditPosition?) {
        let follows: SQL = position.map { "AND (recorded_at, entry) < (\($0.date), \($0.entry)::uuid)" } ?? ""
        let account: SQL = query.account.map { "AND account = \($0.rawValue)" } ?? ""
        // The limits stand in the text: the planner must know that it reads a few rows of an index.
        let reach: SQL = query.isFiltered ? "10000" : "1000"
        let columns: SQL = """
            entry::text, recorded_at, action, nullif(project, ''), tenant, account, provider, resource, changes, actor,
            address_prefix, request, operation, reason
            """
        let rows = try await database.query(
            """
            WITH scanned AS MATERIALIZED (
                SELECT * FROM (
                    SELECT * FROM audit_log
                    WHERE project = \(project?.rawValue ?? "") \(sql: account) \(sql: follows)
                        AND recorded_at >= \(query.since ?? .distantPast)
                        AND recorded_at < \(query.until ?? .distantFuture)
                    ORDER BY recorded_at DESC, entry DESC LIMIT \(sql: reach)
                ) a LIMIT \(query.isFiltered ? 10_000 : size)
            ), page AS (
                SELECT * FROM scanned
                WHERE (\(query.action?.rawValue)::text IS NULL OR action = \(query.action?.rawValue))
                    AND (\(query.provider?.rawValue)::text IS NULL OR provider = \(query.provider?.rawValue))
                    AND (\(query.actor)::text IS NULL OR actor = \(query.actor))
                    AND (\(query.tenant?.rawValue)::text IS NULL OR tenant = \(query.tenant?.rawValue))
                ORDER BY recorded_at DESC, entry DESC LIMIT \(size)
            )
            SELECT is_meant, \(sql: columns) FROM (
                SELECT *, true AS is_meant FROM page
                UNION ALL
                SELECT * FROM (SELECT *, false FROM scanned ORDER BY recorded_at, entry LIMIT 1) a
                WHERE (SELECT count(*) FROM scanned) = 10000 AND (SELECT count(*) FROM page) < \(size)
            ) a
            ORDER BY recorded_at DESC, entry DESC, is_meant DESC
            """
        ) { row in (isMeant: try row.next(Bool.self), change: try RecordedChange(&row)) }
        let changes = rows.filter(\.isMeant).map(\.change)
        let last = changes.count == size ? changes.last : rows.last { !$0.isMeant }?.change
        return (changes, last.map { AuditPosition(date: $0.recordedAt, entry: $0.id) })
    }
}

extension RecordedChange {
    fileprivate init(_ row: inout PostgresRow) throws {
        id = try row.next()
        recordedAt = try row.next()
        action = try row.next()
        project = try row.next()
        tenant = TenantID(rawValue: try row.next())
        account = try row.next(String?.self).map { AccountID($0) }
        provider = try row.next(String?.self).map { ProviderID($0) }
        resource = try row.next()
        changes = try row.next()
        actor = try row.next()
        addressPrefix = try row.next()
        request = try row.next()
        operation = try row.next()
        reason = try row.next()
    }
}
