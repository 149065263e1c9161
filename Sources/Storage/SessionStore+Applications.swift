import Delivery
package import Domain
package import OAuth
import Postgres
package import Projects
import Sessions
package import struct Foundation.Date

/// An application's session with its account.
package struct ApplicationSession: Sendable {
    package var session: StoredSession
    package var account: Account
    package var grant: ApplicationGrant
}

extension StoredSession {
    /// Whether it still is one: neither it nor its account has ended.
    package func isAlive(of account: Account) -> Bool {
        !revoked && authTime >= account.validSince && !account.isDisabled
    }
}

/// A session that a user granted an application, as the user sees it.
package struct GrantedSession: Sendable {
    package var client: String
    package var grant: ApplicationGrant
    package var createdAt: Date
    package var lastUsedAt: Date
}

extension SessionStore {
    /// The sessions of an account's applications, earliest first, and those that approved devices have yet to begin.
    ///
    /// - Parameter idleSince: as in ``list(of:idleSince:in:)``.
    package func grants(
        of account: AccountID,
        idleSince: Date?,
        in scope: Scope,
        now: Date
    ) async throws -> [GrantedSession] {
        try await database.query(
            """
            SELECT s.client, s.application_grant::text, s.created_at, s.last_used_at
            FROM sessions s JOIN accounts a ON a.project = s.project AND a.tenant = s.tenant AND a.account = s.account
            WHERE s.project = \(scope.project.rawValue) AND s.tenant = \(scope.tenant.rawValue)
                AND s.account = \(account.rawValue) AND s.client IS NOT NULL
                AND s.revoked_at IS NULL AND s.auth_time >= a.valid_since
                AND s.last_used_at >= \(idleSince ?? .distantPast)
            UNION ALL
            SELECT d.client, d.application_grant::text, \(now), \(now)
            FROM device_codes d JOIN accounts a ON a.project = d.project AND a.tenant = d.tenant
                AND a.account = d.account
            WHERE d.project = \(scope.project.rawValue) AND d.tenant = \(scope.tenant.rawValue)
                AND d.account = \(account.rawValue) AND d.session IS NOT NULL AND d.expires_at > \(now)
                AND d.revoked_version IS NOT DISTINCT FROM a.revoked_version
            ORDER BY created_at LIMIT 1000
            """
        ) { row in
            GrantedSession(
                client: try row.next(),
                grant: try ApplicationGrant(json: row.next()),
                createdAt: try row.next(),
                lastUsedAt: try row.next()
            )
        }
    }

    /// Ends the session of a code that was redeemed before: a thief may have been the first, or be the second (RFC 9700
    /// §4.2.4).
    ///
    /// - Returns: whether there was one.
    package func endReplayed(_ key: SessionKey, of client: String, now: Date) async throws -> Bool {
        try await endApplication(
            key,
            where: "client = \(client)",
            because: "CODE_REUSED",
            now: now
        )
    }

    /// Ends an application's session, as it asked (RFC 7009), so it is not told.
    ///
    /// - Parameter secretHash: of a refresh token; nil for an access token, whose signature proves it.
    package func endApplication(
        _ key: SessionKey,
        of client: String,
        secretHash: [UInt8]?,
        isTold: Bool = false,
        now: Date
    ) async throws -> Bool {
        let notice = GrantNotice(
            .grantEnded,
            client: client,
            session: key.session.rawValue,
            account: key.account,
            in: key.scope,
            date: now
        )
        return try await endApplication(
            key,
            where: """
                client = \(client)
                    AND (\(secretHash)::bytea IS NULL OR secret_hash = \(secretHash) OR previous_hash = \(secretHash))
                """,
            because: nil,
            tells: false,
            telling: isTold ? try part("telling", notice, key.scope, from: "ended") : "",
            now: now
        )
    }

    private func endApplication(
        _ key: SessionKey,
        where condition: SQL,
        because reason: String?,
        tells: Bool = true,
        telling: SQL = "",
        now: Date
    ) async throws -> Bool {
        let entry = AuditEntry(
            .sessionRevoked,
            in: key.scope,
            account: key.account,
            changes: reason.map { [$0] } ?? [],
            at: now
        )
        let count = try await database.query(
            """
            WITH ended AS (
                UPDATE sessions SET revoked_at = \(now), tells_client = tells_client AND \(tells)
                WHERE project = \(key.scope.project.rawValue) AND tenant = \(key.scope.tenant.rawValue)
                    AND account = \(key.account.rawValue) AND session = \(key.session.rawValue) AND client IS NOT NULL AND revoked_at IS NULL
                    AND \(sql: condition)
                RETURNING session
            ), audit AS (\(sql: entry.insertion(from: "ended", resource: "session")))
            \(sql: telling)
            SELECT count(*) FROM ended
            """
        ) { row in try row.next(Int64.self) }
        return count.first == 1
    }

    /// A further part of a statement, which writes the webhook.
    func part(_ name: SQL, _ notice: GrantNotice, _ scope: Scope, from source: SQL) throws -> SQL {
        let insertion = try OutboxStore.insertion(
            kind: GrantNotice.kind,
            notice,
            in: scope,
            keyRing: keyRing,
            due: notice.date,
            from: source
        )
        return ", \(sql: name) AS (\(sql: insertion))"
    }

    /// An application's session, for its current refresh token.
    package func application(_ key: SessionKey, secretHash: [UInt8]) async throws -> ApplicationSession? {
        try await database.query(
            """
            SELECT \(sql: Self.applicationColumns) FROM sessions s \(sql: Self.applicationJoins(.of(key.scope.project)))
            WHERE s.project = \(key.scope.project.rawValue) AND s.tenant = \(key.scope.tenant.rawValue)
                AND s.account = \(key.account.rawValue) AND s.session = \(key.session.rawValue) AND s.client IS NOT NULL
                AND s.secret_hash = \(secretHash)
            """,
            into: ApplicationSession?.none,
            Self.add
        )
    }

    static let applicationColumns: SQL = """
        s.application_grant::text, \(sql: SessionRow.columns), \(sql: AccountRow.columnsWithoutActivity)
        """

    static func applicationJoins(_ place: Placement) -> SQL {
        """
        JOIN \(sql: AccountRow.keyed(by: "s", place)) a ON a.merged_into IS NULL
        \(sql: AccountRow.joinsWithoutActivity(place))
        """
    }

    /// A row for each linked credential.
    static func add(_ found: inout ApplicationSession?, _ row: inout PostgresRow) throws {
        let grant: String = try row.next()
        guard let session = try SessionRow.decode(&row) else { return }
        let account = try AccountRow.decode(&row)
        if found == nil {
            found = ApplicationSession(session: session, account: account, grant: try ApplicationGrant(json: grant))
        } else {
            found?.account.add(account.linked)
        }
    }
}
