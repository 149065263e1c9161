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
        let isOfScope: SQL = "project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)"
        let given: SQL = """
            UPDATE sessions SET secret_hash = \(token.browserHash), previous_hash = NULL, successor_used_at = NULL,
                browser_session = session
            WHERE \(sql: isOfScope) AND account = \(token.account.rawValue)
                AND session = \(token.session.rawValue) AND secret_hash = \(token.secretHash) AND client IS NULL
            """
        guard let old = replaced, old.session != token.session else {
            try await database.execute(given)
            return
        }
        try await database.transaction { transaction in
            guard try await transaction.execute(given) > 0 else { return }
            let ended = try await transaction.execute(
                """
                UPDATE sessions SET revoked_at = \(now)
                WHERE \(sql: isOfScope) AND account = \(old.account.rawValue) AND session = \(old.session.rawValue)
                    AND secret_hash = \(old.browserHash) AND client IS NULL AND revoked_at IS NULL
                """
            )
            guard ended > 0 else { return }
            let entry = AuditEntry(
                .sessionRevoked,
                in: scope,
                account: old.account,
                resource: old.session.rawValue,
                changes: ["REPLACED"],
                at: now
            )
            transaction.write(entry.insertion())
            guard old.account == token.account else { return }
            transaction.write(
                """
                UPDATE sessions SET browser_session = \(token.session.rawValue)
                WHERE \(sql: isOfScope) AND account = \(old.account.rawValue) AND browser_session = \(old.session.rawValue)
                    AND session <> \(old.session.rawValue) AND revoked_at IS NULL
                """
            )
        }
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
