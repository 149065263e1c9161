import Delivery
import Postgres
package import Projects
package import struct Foundation.Date

/// Webhooks that were given up: kept for a month, so that a receiver can have them once it works again.
extension OutboxStore {
    package struct GivenUp: Sendable {
        package var summary: Summary
        package var createdAt: Date
        package var givenUpAt: Date
    }

    /// The kinds whose payloads are kept.
    ///
    /// Other messages contain secrets, which end.
    static let resendable = [WebhookNotice.kind, GrantNotice.kind]

    /// Those that were given up last, the newest first.
    ///
    /// - Parameter project: nil for those of all projects.
    package func givenUp(of project: ProjectID?, limit: Int = 1000) async throws -> [GivenUp] {
        let ofProject: SQL = project.map { "AND o.project = \($0.rawValue)" } ?? ""
        return try await database.query(
            """
            SELECT o.project, o.message, o.kind, o.attempts, o.trace_parent, o.trace_state, o.payload, o.created_at,
                o.abandoned_at
            FROM outbox o
            WHERE o.abandoned_at IS NOT NULL AND o.kind = ANY(\(Self.resendable)) AND o.payload <> '' \(sql: ofProject)
            ORDER BY o.abandoned_at DESC, o.message LIMIT \(Int64(limit))
            """
        ) { row -> GivenUp? in
            guard let summary = try summary(&row) else { return nil }
            return GivenUp(summary: summary, createdAt: try row.next(), givenUpAt: try row.next())
        }.compactMap(\.self)
    }

    /// Makes given-up webhooks due again, with the same IDs and as many attempts as new ones.
    ///
    /// - Parameter messages: their IDs; nil for all of the project.
    /// - Returns: how many there were.
    package func resend(_ messages: [String]?, of project: ProjectID, now: Date) async throws -> Int {
        let resource = messages.flatMap { $0.count == 1 ? $0[0] : nil }
        let entry = AuditEntry(.webhooksResent, in: Scope(project: project), resource: resource, at: now)
        return try await database.query(
            """
            WITH resent AS (
                UPDATE outbox SET abandoned_at = NULL, attempts = 0, next_attempt_at = \(now), expires_at = NULL
                WHERE project = \(project.rawValue) AND abandoned_at IS NOT NULL AND kind = ANY(\(Self.resendable))
                    AND payload <> '' AND (\(messages == nil) OR message = ANY(\(messages ?? [])))
                RETURNING message
            ), entry AS (
                \(sql: entry.insertion(from: "(SELECT FROM resent LIMIT 1) r"))
            )
            SELECT count(*) FROM resent
            """
        ) { row in Int(try row.next(Int64.self)) }[0]
    }
}
