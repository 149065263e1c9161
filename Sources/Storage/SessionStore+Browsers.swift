import Domain
import Postgres
package import Projects
package import Sessions
package import struct Foundation.Date

extension SessionStore {
    /// How long a browser's session lasts after its sign-in, in seconds; likewise its cookie.
    package static let browserLifetime = 30.0 * 86_400

    /// Gives a session that the sign-in page has just opened to the browser: its refresh token is none any more.
    ///
    /// It takes the place of the one that the browser had, which ends. What the same user granted through that one counts
    /// as granted through it, so that signing out at the browser ends both.
    ///
    /// - Parameter replaced: of the browser's cookie; nil without one.
    package func give(
        _ token: RefreshToken,
        toBrowserWith replaced: RefreshToken?,
        in scope: Scope,
        now: Date
    ) async throws {
        let entry = AuditEntry(.sessionRevoked, in: scope, changes: ["REPLACED"], at: now)
        try await database.execute(
            """
            WITH given AS (
                UPDATE sessions SET secret_hash = \(token.browserHash), previous_hash = NULL, successor_used_at = NULL,
                    browser_session = session
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND account = \(token.account.rawValue)
                    AND session = \(token.session.rawValue) AND secret_hash = \(token.secretHash) AND client IS NULL
                RETURNING project, tenant, account, session
            ), replaced AS (
                UPDATE sessions s SET revoked_at = \(now) FROM given g
                WHERE s.project = g.project AND s.tenant = g.tenant AND s.account = \(replaced?.account.rawValue)
                    AND s.session = \(replaced?.session.rawValue) AND s.secret_hash = \(replaced?.browserHash)
                    AND s.client IS NULL AND s.revoked_at IS NULL AND s.session <> g.session
                RETURNING s.account, s.session
            ), audit AS (\(sql: entry.insertion(from: "replaced", account: "account", resource: "session")))
            UPDATE sessions s SET browser_session = g.session
            FROM given g JOIN replaced r ON r.account = g.account
            WHERE s.project = g.project AND s.tenant = g.tenant
                AND s.account = g.account AND s.browser_session = r.session
                AND s.session <> r.session AND s.revoked_at IS NULL
            """
        )
    }

    /// Whether an account, `a`, can be used.
    static let isUsable: SQL = "a.merged_into IS NULL AND a.disabled IS NOT TRUE"

    /// Whether the session of a browser, `s`, has not ended.
    static func stands(since validSince: SQL, now: Date) -> SQL {
        """
        s.client IS NULL AND s.revoked_at IS NULL AND s.auth_time >= \(sql: validSince)
            AND s.created_at > \(now.addingTimeInterval(-browserLifetime))
        """
    }
}
