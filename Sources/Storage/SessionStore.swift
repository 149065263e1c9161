package import Linking
package import Postgres
package import Projects
package import Sessions
package import struct Foundation.Date

/// Sessions: refresh, list, sign out.
package struct SessionStore: Sendable {
    let database: PostgresClient

    package init(database: PostgresClient) { self.database = database }
}

/// What a refresh token found.
package struct RefreshCandidate: Sendable {
    package var session: StoredSession
    /// Nil when the account is gone.
    package var account: Account?
    package var tenant: TenantID
}

extension SessionStore {
    /// Finds the session of a refresh token by its key, compares the hashes, and notes the use at most once a minute:
    /// one statement.
    ///
    /// The secret before the current one stays good until a minute after the current one was first used; then its session
    /// reads as revoked.
    /// - Returns: nil when no session has this secret.
    package func refresh(
        project: ProjectID,
        account: AccountID,
        session: SessionID,
        secretHash: [UInt8],
        now: Date
    ) async throws -> RefreshCandidate? {
        let rows = try await database.query(
            """
            WITH found AS MATERIALIZED (
                SELECT project, account, session, tenant, auth_time, sign_in_provider, claims, sign_in_attributes,
                    last_used_at, previous_hash, successor_used_at, secret_hash = \(secretHash) AS current,
                    CASE WHEN secret_hash <> \(secretHash)
                        AND successor_used_at <= \(now.addingTimeInterval(-60))
                        THEN coalesce(revoked_at, successor_used_at) ELSE revoked_at END AS revoked_at
                FROM sessions
                WHERE project = \(project.rawValue) AND account = \(account.rawValue)
                    AND session = \(session.rawValue)
                    AND (secret_hash = \(secretHash) OR previous_hash = \(secretHash))
            ), used AS (
                UPDATE sessions s SET last_used_at = \(now),
                    successor_used_at = CASE WHEN s.secret_hash = \(secretHash) AND s.previous_hash IS NOT NULL
                        THEN coalesce(s.successor_used_at, \(now)) ELSE s.successor_used_at END
                FROM found f
                WHERE s.project = f.project AND s.account = f.account AND s.session = f.session
                    AND f.revoked_at IS NULL
                    AND (f.last_used_at < \(now.addingTimeInterval(-60))
                        OR (f.current AND f.previous_hash IS NOT NULL AND f.successor_used_at IS NULL))
                RETURNING s.project, s.account
            ), activity AS (
                UPDATE account_activity v SET last_refresh_at = \(now) FROM used u
                WHERE v.project = u.project AND v.account = u.account
            )
            SELECT s.tenant, \(sql: SessionRow.columns), a.account IS NOT NULL, \(sql: AccountRow.columns)
            FROM found s
            LEFT JOIN accounts a ON a.project = s.project AND a.account = s.account AND a.tenant = s.tenant
            \(sql: AccountRow.joins)
            """
        ) { row in
            let tenant: String = try row.next()
            let session = try SessionRow.decode(&row)
            let exists: Bool = try row.next()
            return (tenant, session, exists ? try AccountRow.decode(&row) : nil)
        }
        guard let first = rows.first, let session = first.1 else { return nil }
        return RefreshCandidate(
            session: session,
            account: AccountRow.merge(rows.compactMap(\.2)).first,
            tenant: TenantID(rawValue: first.0)
        )
    }

    /// The live sessions of an account, newest use first.
    package func list(
        of account: AccountID,
        in scope: Scope
    ) async throws -> [SessionListing] {
        try await database.query(
            """
            SELECT s.session, s.created_at, s.last_used_at, s.sign_in_provider, s.user_agent, s.address_prefix
            FROM sessions s JOIN accounts a ON a.project = s.project AND a.account = s.account
            WHERE s.project = \(scope.project.rawValue) AND s.account = \(account.rawValue)
                AND s.tenant = \(scope.tenant.rawValue) AND s.revoked_at IS NULL AND s.auth_time >= a.valid_since
            ORDER BY s.last_used_at DESC, s.session
            """
        ) { row in
            guard let id = SessionID(rawValue: try row.next()) else { return nil }
            return SessionListing(
                id: id,
                createdAt: try row.next(),
                lastUsedAt: try row.next(),
                signInProvider: ProviderID(try row.next(String.self)),
                userAgent: try row.next(),
                addressPrefix: try row.next()
            )
        }.compactMap(\.self)
    }

    /// Ends sessions: one, all but one, or all.
    ///
    /// - Returns: how many ended now.
    package func revoke(_ which: Which, of account: AccountID, in scope: Scope, now: Date) async throws -> Int {
        let condition: SQL =
            switch which {
            case .only(let session): "session = \(session.rawValue)"
            case .allBut(let session): "session <> \(session.rawValue)"
            case .all: "true"
            }
        return try await database.execute(
            """
            UPDATE sessions SET revoked_at = \(now)
            WHERE project = \(scope.project.rawValue) AND account = \(account.rawValue)
                AND tenant = \(scope.tenant.rawValue) AND revoked_at IS NULL AND \(sql: condition)
            """
        )
    }

    package enum Which: Sendable {
        case only(SessionID)
        case allBut(SessionID)
        case all
    }
}

/// A live session as lists show it.
package struct SessionListing: Sendable {
    package var id: SessionID
    package var createdAt: Date
    package var lastUsedAt: Date
    package var signInProvider: ProviderID
    package var userAgent: String?
    package var addressPrefix: String?
}
