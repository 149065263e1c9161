package import Domain
import Postgres
package import Projects
package import struct Foundation.Date

/// A recorded change: who changed what, when, from where and why.
package struct RecordedChange: Sendable {
    package var id: String
    package var recordedAt: Date
    package var action: String
    /// Nil for the deployment.
    package var project: String?
    package var tenant: TenantID
    package var account: AccountID?
    package var provider: ProviderID?
    /// The ID of another object: a session, a key, or the other account of a merge.
    package var resource: String?
    /// The names of the changed members.
    package var changes: [String]
    package var actor: String
    package var addressPrefix: String?
    package var request: String?
    package var operation: String?
    package var reason: String?
}

/// A query for entries; all members that are not nil must match.
package struct AuditQuery: Sendable {
    /// Of ``tenant``, or without one of the project itself.
    package var account: AccountID?
    package var action: AuditAction?
    package var provider: ProviderID?
    /// In the text form of ``AuditOrigin/Actor``.
    package var actor: String?
    /// Recorded at or after this time.
    package var since: Date?
    /// Recorded before this time.
    package var until: Date?
    /// Nil for the project with all its tenants.
    package var tenant: TenantID?

    package init() {}

    /// Whether the query needs more than an index.
    fileprivate var isFiltered: Bool {
        action != nil || provider != nil || actor != nil || tenant != nil && account == nil
    }
}

/// The position of an entry in its project.
package struct AuditPosition: Sendable, Hashable, Codable {
    package var date: Date
    package var entry: String
}

/// Reads the audit log; entries are written by the statements that make changes, and by
/// ``record(_:in:account:provider:at:)``.
package struct AuditLogStore: Sendable {
    let database: PostgresClient

    /// Records an event that changes nothing: a secret that was handed out, or a refusal that only an attack explains.
    ///
    /// The caller responds only afterwards, so every such response is on record.
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

    /// Entries, newest first.
    ///
    /// The cost does not depend on their number: it examines at most 10,000 of them and may then end early, even
    /// without an entry, but with the position where the next page continues.
    ///
    /// - Parameters:
    ///   - project: nil for the deployment.
    ///   - size: 1 to 1000.
    package func page(
        _ query: AuditQuery,
        of project: ProjectID?,
        after position: AuditPosition?,
        size: Int
    ) async throws -> (changes: [RecordedChange], next: AuditPosition?) {
        let follows: SQL = position.map { "AND (recorded_at, entry) < (\($0.date), \($0.entry)::uuid)" } ?? ""
        let tenant = query.tenant?.rawValue ?? ""
        let account: SQL = query.account.map { "AND tenant = \(tenant) AND account = \($0.rawValue)" } ?? ""
        // The limits are literals, so that the planner knows that it reads a few rows of an index.
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
