import Delivery
package import Domain
package import OAuth
import Postgres
package import Projects
package import Sessions
package import struct Foundation.Date

/// A session that begins for an application when it redeems its code.
package struct NewApplicationSession: Sendable {
    /// The code's: it has no second one.
    package var id: SessionID
    package var client: String
    package var grant: ApplicationGrant
    /// Of the first refresh token.
    package var secretHash: [UInt8]
    /// The account's when its user agreed: what was withdrawn since does not begin.
    ///
    /// Nil for what a node of the release before wrote.
    package var revokedVersion: Int64?

    package init(
        id: SessionID,
        client: String,
        grant: ApplicationGrant,
        secretHash: [UInt8],
        revokedVersion: Int64?
    ) {
        self.id = id
        self.client = client
        self.grant = grant
        self.secretHash = secretHash
        self.revokedVersion = revokedVersion
    }
}

/// An application's session with its account.
package struct ApplicationSession: Sendable {
    package var client: String
    package var session: StoredSession
    package var account: Account
    package var grant: ApplicationGrant

    package init(client: String, session: StoredSession, account: Account, grant: ApplicationGrant) {
        self.client = client
        self.session = session
        self.account = account
        self.grant = grant
    }

    /// Whether it still is one: neither it nor the account has ended.
    package var isAlive: Bool { !session.revoked && session.authTime >= account.validSince && !account.isDisabled }
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

    /// Opens an application's session from that of the browser: with the same sign-in, once, and only if that still
    /// stands.
    ///
    /// The account is locked, so whatever ends all its sessions, or those of an application, ends this one too, or comes
    /// first. So is the client, against its deletion. Of simultaneous requests, the one whose statement inserts the row
    /// gets the session.
    ///
    /// - Parameter isTold: whether the project's webhook is told, likewise below.
    /// - Returns: nil if the browser's session has ended, the user has withdrawn a grant since, the client was deleted, or
    ///   the session has begun before.
    package func open(
        _ new: NewApplicationSession,
        from browser: SessionKey,
        isTold: Bool = false,
        now: Date
    ) async throws -> ApplicationSession? {
        let notice = GrantNotice(
            .grantCreated,
            client: new.client,
            session: new.id.rawValue,
            account: browser.account,
            granted: (new.grant.scopes, new.grant.resources),
            in: browser.scope,
            date: now
        )
        let telling = isTold ? try part("telling", notice, browser.scope, from: "opened") : ""
        let entry = AuditEntry(
            .applicationGranted,
            in: browser.scope,
            account: browser.account,
            changes: [new.client],
            at: now
        )
        let surplus = AuditEntry(
            .sessionRevoked,
            in: browser.scope,
            account: browser.account,
            changes: [Self.surplusReason],
            at: now
        )
        do {
            return try await gate.pass(browser.account, in: browser.scope, .session) {
                try await applicationSessions(
                    """
                    WITH browser AS MATERIALIZED (
                        SELECT s.* \(sql: Self.standing(browser, joining: Self.client(new.client), now: now))
                            AND (\(new.revokedVersion)::bigint IS NULL OR a.revoked_version = \(new.revokedVersion))
                        FOR SHARE OF a, s FOR KEY SHARE OF c
                    ), opened AS (
                        INSERT INTO sessions (project, account, session, tenant, secret_hash, auth_time, sign_in_provider,
                            second_factor, second_factor_identifier, claims, sign_in_attributes, created_at, last_used_at,
                            user_agent, address_prefix, client, application_grant, browser_session, tells_client)
                        SELECT project, account, \(new.id.rawValue), tenant, \(new.secretHash), auth_time, sign_in_provider,
                            second_factor, second_factor_identifier, claims, sign_in_attributes, \(now), \(now), user_agent,
                            address_prefix, \(new.client), \(try new.grant.json)::jsonb, session, true
                        FROM browser
                        RETURNING *
                    ), audit AS (\(sql: entry.insertion(from: "opened", resource: "session"))) \(sql: telling),
                    \(sql: Self.surplus(of: "SELECT project, tenant, account FROM opened", ofApplications: true, now: now)),
                    surplus_audit AS (\(sql: surplus.insertion(from: "surplus", resource: "session")))
                    \(sql: Self.applicationColumns) FROM opened s \(sql: Self.applicationJoins)
                    """
                )
            }
        } catch let error as PostgresError where error.constraint == "sessions_pkey" {
            return nil
        }
    }

    /// A client that was not deleted, as `c`.
    private static func client(_ id: String) -> SQL {
        """
        JOIN oauth_clients c ON c.project = a.project AND c.client = \(id)
            AND c.origin <> \(OAuthClient.Origin.blocked.rawValue)
            AND NOT EXISTS (SELECT FROM ended_clients e WHERE e.project = c.project AND e.client = c.client)
        """
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
    private func part(_ name: SQL, _ notice: GrantNotice, _ scope: Scope, from source: SQL) throws -> SQL {
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

    /// An application's session, for a token that names it.
    ///
    /// - Parameter secretHash: of a refresh token, which must be the current one; nil for an access token.
    package func application(_ key: SessionKey, secretHash: [UInt8]?) async throws -> ApplicationSession? {
        try await applicationSessions(
            """
            \(sql: Self.applicationColumns) FROM sessions s \(sql: Self.applicationJoins)
            WHERE s.project = \(key.scope.project.rawValue) AND s.tenant = \(key.scope.tenant.rawValue)
                AND s.account = \(key.account.rawValue) AND s.session = \(key.session.rawValue) AND s.client IS NOT NULL
                AND (\(secretHash)::bytea IS NULL OR s.secret_hash = \(secretHash))
            """
        )
    }

    private static let applicationColumns: SQL = """
        SELECT s.client, s.application_grant::text, \(sql: SessionRow.columns), \(sql: AccountRow.columnsWithoutActivity)
        """

    private static let applicationJoins: SQL = """
        JOIN accounts a ON a.project = s.project AND a.tenant = s.tenant AND a.account = s.account
            AND a.merged_into IS NULL
        \(sql: AccountRow.joinsWithoutActivity)
        """

    /// A row for each linked credential.
    private func applicationSessions(_ statement: SQL) async throws -> ApplicationSession? {
        let rows = try await database.query(statement) { row -> ApplicationSession? in
            let (client, grant): (String, String) = (try row.next(), try row.next())
            guard let session = try SessionRow.decode(&row) else { return nil }
            let account = try AccountRow.decode(&row)
            let granted = try ApplicationGrant(json: grant)
            return ApplicationSession(client: client, session: session, account: account, grant: granted)
        }.compactMap(\.self)
        guard var first = rows.first else { return nil }
        for row in rows.dropFirst() { first.account.add(row.account.linked) }
        return first
    }
}
