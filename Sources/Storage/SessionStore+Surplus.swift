import Domain
import Postgres
import Projects

import struct Foundation.Date

/// An account keeps at most 200 sessions with the project's own apps, and as many with applications (T-E27).
///
/// Otherwise whoever can sign in could open so many that listing or ending them takes longer than a request may. Of
/// applications', those without refresh tokens end first, then those of one with more than a hundred: neither a page that
/// has its visitor signed in again and again, nor an application, ends what the user granted to others.
extension SessionStore {
    /// A part of a statement that opens a session: ends those of its accounts that were used least recently and are too
    /// many with the new one; named `surplus`.
    ///
    /// A statement does not see sessions that others open at the same time, so an account may have a few more until its
    /// next sign-in. One whose row is locked is in use, and left to that sign-in too.
    ///
    /// - Parameters:
    ///   - accounts: a table of different accounts, with the columns `project`, `tenant` and `account`.
    ///   - ofApplications: the new sessions are those of applications.
    static func surplus(
        of accounts: SQL,
        _ place: Placement = .ofEachRow,
        ofApplications: Bool = false,
        now: Date
    ) -> SQL {
        let project = place.project(of: "t")
        let columns: SQL = ofApplications ? ", client, application_grant ->> 'refreshes' AS refreshes" : ""
        let first: SQL =
            ofApplications
            ? """
            coalesce(refreshes = 'false', false), row_number() OVER (PARTITION BY client ORDER BY last_used_at DESC, session) > 100,
            """ : ""
        // Not `IS NOT NULL`, by which the planner may choose the index of all grants of a project.
        let isMeant: SQL = ofApplications ? "coalesce(client, '') <> ''" : "client IS NULL"
        // The numbers are literals, so that the planner knows that it reads a few rows of an index.
        return """
            surplus AS (
                UPDATE sessions s SET revoked_at = \(now)
                FROM (
                    SELECT t.project, t.tenant, t.account, o.session
                    FROM (\(sql: accounts)) t
                    CROSS JOIN LATERAL (
                        SELECT session FROM (
                            SELECT session, last_used_at\(sql: columns) FROM sessions
                            WHERE project = \(sql: project) AND tenant = t.tenant
                                AND account = t.account AND revoked_at IS NULL
                                AND \(sql: isMeant)
                            ORDER BY auth_time LIMIT 1000
                        ) active
                        ORDER BY \(sql: first) last_used_at DESC, session OFFSET 199
                    ) o
                    CROSS JOIN LATERAL (
                        SELECT FROM sessions l
                        WHERE project = \(sql: project) AND tenant = t.tenant
                            AND account = t.account AND session = o.session AND revoked_at IS NULL
                        FOR NO KEY UPDATE OF l SKIP LOCKED
                    ) l
                    OFFSET 0
                ) o
                WHERE s.project = \(sql: place.project(of: "o")) AND s.tenant = o.tenant AND s.account = o.account AND s.session = o.session
                RETURNING s.project, s.tenant, s.account, s.session
            )
            """
    }

    /// The statement that does so before a session of one account is opened, with its entries in the audit log.
    static func endingSurplus(of account: AccountID, _ scope: Scope, now: Date) -> SQL {
        let accounts: SQL = """
            SELECT \(scope.project.rawValue)::text AS project, \(scope.tenant.rawValue)::text AS tenant,
                \(account.rawValue)::text AS account
            """
        let entry = AuditEntry(.sessionRevoked, in: scope, account: account, changes: [surplusReason], at: now)
        return """
            WITH \(sql: surplus(of: accounts, .of(scope.project), now: now)),
            audit AS (\(sql: entry.insertion(from: "surplus", resource: "session"))) SELECT FROM surplus
            """
    }

    /// The reason in the audit log.
    static let surplusReason = "SESSION_LIMIT"
}
