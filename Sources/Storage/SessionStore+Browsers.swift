package import Domain
package import OAuth
import Postgres
package import Projects
package import Sessions
package import struct Foundation.Date

/// The session of a browser at the authorization endpoint.
///
/// It is one of the account's own, but its only secret is the browser's cookie: ``Sessions/RefreshToken/browserHash``.
package struct BrowserSession: Sendable {
    package var session: StoredSession
    package var account: Account
    /// What the user granted the application before, in sessions that still exist.
    package var granted: [ApplicationGrant]
    /// Whether the request's limits had room.
    package var hasRoom: Bool
}

extension SessionStore {
    /// How long a browser's session lasts after its sign-in, in seconds; likewise its cookie.
    package static let browserLifetime = 30.0 * 86_400

    /// Reads a browser's session, and notes its use at most once a minute.
    ///
    /// Waits for no lock but that of the limits, from which nobody takes without the cookie.
    ///
    /// - Parameters:
    ///   - client: the application that asks, if one does.
    ///   - idleSince: as in ``list(of:idleSince:in:)``.
    /// - Returns: nil if there is no such session, or it has ended.
    package func browser(
        _ key: SessionKey,
        secretHash: [UInt8],
        client: String?,
        idleSince: Date?,
        within limits: RateLimits,
        now: Date
    ) async throws -> BrowserSession? {
        let rows = try await database.query(
            """
            WITH browser AS MATERIALIZED (
                SELECT s.*, a.valid_since \(sql: Self.standing(key, now: now)) AND s.secret_hash = \(secretHash)
                    AND s.last_used_at >= \(idleSince ?? .distantPast)
            ), \(sql: RateLimits.takingTogether(from: [limits], where: "EXISTS (SELECT FROM browser)", now: now)),
            used AS (
                UPDATE sessions s SET last_used_at = \(now)
                FROM (
                    SELECT l.project, l.tenant, l.account, l.session FROM browser b
                    JOIN sessions l ON l.project = b.project AND l.tenant = b.tenant
                        AND l.account = b.account AND l.session = b.session
                    WHERE b.last_used_at < \(now.addingTimeInterval(-60)) FOR NO KEY UPDATE OF l SKIP LOCKED
                ) l
                WHERE s.project = l.project AND s.tenant = l.tenant AND s.account = l.account AND s.session = l.session
            )
            SELECT ARRAY(
                    SELECT g.application_grant::text FROM sessions g
                    WHERE g.project = s.project AND g.tenant = s.tenant
                        AND g.account = s.account AND g.client = \(client)
                        AND g.revoked_at IS NULL AND g.auth_time >= s.valid_since
                        AND g.last_used_at >= \(idleSince ?? .distantPast)
                ), EXISTS (SELECT FROM admitted), \(sql: SessionRow.columns), \(sql: AccountRow.columnsWithoutActivity)
            FROM browser s JOIN accounts a ON a.project = s.project AND a.tenant = s.tenant AND a.account = s.account
            \(sql: AccountRow.joinsWithoutActivity)
            """
        ) { row -> BrowserSession? in
            let grants: [String] = try row.next()
            let hasRoom: Bool = try row.next()
            guard let session = try SessionRow.decode(&row) else { return nil }
            return BrowserSession(
                session: session,
                account: try AccountRow.decode(&row),
                granted: try grants.map { try ApplicationGrant(json: $0) },
                hasRoom: hasRoom
            )
        }.compactMap(\.self)
        guard var first = rows.first else { return nil }
        for row in rows.dropFirst() { first.account.add(row.account.linked) }
        return first
    }

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

    /// The session of a browser, if neither it nor the account has ended, as `a` and `s`.
    ///
    /// - Parameter joins: more tables, as a literal.
    static func standing(_ key: SessionKey, joining joins: SQL = "", now: Date) -> SQL {
        """
        FROM accounts a JOIN sessions s ON s.project = a.project AND s.tenant = a.tenant
            AND s.account = a.account \(sql: joins)
        WHERE a.project = \(key.scope.project.rawValue) AND a.tenant = \(key.scope.tenant.rawValue)
            AND a.account = \(key.account.rawValue) AND a.merged_into IS NULL AND a.disabled IS NOT TRUE
            AND s.session = \(key.session.rawValue) AND s.client IS NULL AND s.revoked_at IS NULL
            AND s.auth_time >= a.valid_since AND s.created_at > \(now.addingTimeInterval(-browserLifetime))
        """
    }
}
