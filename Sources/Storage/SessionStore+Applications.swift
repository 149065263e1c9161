import Delivery
package import Domain
package import OAuth
import Postgres
package import Projects
import Requests
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

struct GrantQuestion: Sendable {
    var browser: SessionKey
    var new: NewApplicationSession
    var origin: AuditOrigin
    var now: Date

    /// A batch has one grant of an account.
    var batchKey: String { "\(browser.scope.project)/\(browser.scope.tenant)/\(browser.account)" }
}

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

    /// Opens an application's session from that of the browser: with the same sign-in, once, and only if that still
    /// stands; in one statement shared with other simultaneous grants.
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
        let question = GrantQuestion(browser: browser, new: new, origin: RequestContext.current.origin, now: now)
        do {
            // One that is told writes the message, too.
            if !isTold, let opened = try await grants.answer(to: question, for: question.batchKey) { return opened }
            // A request whose row is locked waits for it alone.
            return try await gate.pass(browser.account, in: browser.scope, .session) {
                let telling = isTold ? try telling(of: question) : ""
                let opened = try await Self.open([question], skipsLocked: false, telling: telling, database).first
                return try opened?.get() ?? nil
            }
        } catch let error as PostgresError where error.constraint == "sessions_pkey" {
            return nil
        }
    }

    /// A further part of a statement, which writes the webhook.
    private func telling(of question: GrantQuestion) throws -> SQL {
        let (browser, new) = (question.browser, question.new)
        let notice = GrantNotice(
            .grantCreated,
            client: new.client,
            session: new.id.rawValue,
            account: browser.account,
            granted: (new.grant.scopes, new.grant.resources),
            in: browser.scope,
            date: question.now
        )
        return try part("telling", notice, browser.scope, from: "opened")
    }

    /// Opens several sessions with one statement.
    ///
    /// Accounts are locked in the order of their keys, so two nodes never deadlock.
    static func open(
        _ questions: [GrantQuestion],
        skipsLocked: Bool,
        telling: SQL = "",
        _ database: some PostgresExecutor
    ) async throws -> [Result<ApplicationSession?, any Error>] {
        let now = questions.map(\.now).max() ?? Date()
        let skip: SQL = skipsLocked ? "SKIP LOCKED" : ""
        let surplus = SessionStore.surplus(
            of: "SELECT DISTINCT project, tenant, account FROM browser",
            ofApplications: true,
            now: now
        )
        return try await database.query(
            """
            WITH asked AS MATERIALIZED (
                SELECT * FROM unnest(\(questions.map(\.browser.scope.project.rawValue))::text[],
                    \(questions.map(\.browser.scope.tenant.rawValue))::text[],
                    \(questions.map(\.browser.account.rawValue))::text[],
                    \(questions.map(\.browser.session.rawValue))::text[],
                    \(questions.map(\.new.id.rawValue))::text[], \(questions.map(\.new.secretHash))::bytea[],
                    \(questions.map(\.new.client))::text[], \(try questions.map { try $0.new.grant.json })::text[],
                    \(questions.map(\.new.revokedVersion))::int8[],
                    \(questions.map(\.origin.addressPrefix))::text[],
                    \(sql: AuditOrigin.arrays(of: questions.map(\.origin)))) WITH ORDINALITY
                    n (project, tenant, account, browser, new_session, new_hash, new_client, granted, agreed_version,
                        caller_prefix, \(sql: AuditOrigin.arrayNames), number)
            ), browser AS MATERIALIZED (
                SELECT s.*, n.number, n.new_session, n.new_hash, n.new_client, n.granted, n.caller_prefix,
                    \(sql: AuditOrigin.arrayNames)
                FROM asked n
                JOIN accounts a ON a.project = n.project AND a.tenant = n.tenant AND a.account = n.account
                JOIN sessions s ON s.project = n.project AND s.tenant = n.tenant AND s.account = n.account
                    AND s.session = n.browser
                JOIN oauth_clients c ON c.project = n.project AND c.client = n.new_client
                    AND c.origin <> \(OAuthClient.Origin.blocked.rawValue)
                WHERE \(sql: stands(now: now))
                    AND (n.agreed_version IS NULL OR a.revoked_version = n.agreed_version)
                    AND NOT EXISTS (SELECT FROM ended_clients e WHERE e.project = n.project AND e.client = n.new_client)
                    AND NOT EXISTS (
                        SELECT FROM sessions o WHERE o.project = n.project AND o.tenant = n.tenant
                            AND o.account = n.account AND o.session = n.new_session
                    )
                ORDER BY a.project, a.tenant, a.account
                FOR SHARE OF a, s \(sql: skip) FOR KEY SHARE OF c \(sql: skip)
            ), opened AS (
                INSERT INTO sessions (project, account, session, tenant, secret_hash, auth_time, sign_in_provider,
                    second_factor, second_factor_identifier, claims, sign_in_attributes, created_at, last_used_at,
                    user_agent, address_prefix, client, application_grant, browser_session, tells_client)
                SELECT project, account, new_session, tenant, new_hash, auth_time, sign_in_provider,
                    second_factor, second_factor_identifier, claims, sign_in_attributes, \(now), \(now), user_agent,
                    address_prefix, new_client, granted::jsonb, session, true
                FROM browser
                RETURNING *
            ), audit AS (
                INSERT INTO audit_log (project, recorded_at, tenant, account, resource, action, changes, address_prefix,
                    \(sql: AuditOrigin.arrayNames))
                SELECT project, \(now), tenant, account, new_session, \(AuditAction.applicationGranted.rawValue),
                    ARRAY[new_client], caller_prefix, \(sql: AuditOrigin.arrayNames)
                FROM browser
            ) \(sql: telling), \(sql: surplus), surplus_audit AS (
                INSERT INTO audit_log (project, recorded_at, tenant, account, resource, action, changes, address_prefix,
                    \(sql: AuditOrigin.arrayNames))
                SELECT o.project, \(now), o.tenant, o.account, o.session, \(AuditAction.sessionRevoked.rawValue),
                    \([surplusReason]), t.caller_prefix, \(sql: AuditOrigin.arrayNames)
                FROM surplus o
                CROSS JOIN LATERAL (
                    SELECT * FROM browser WHERE project = o.project AND tenant = o.tenant
                        AND account = o.account ORDER BY number LIMIT 1
                ) t
            )
            SELECT b.number, \(sql: applicationColumns)
            FROM opened s JOIN browser b ON b.project = s.project AND b.tenant = s.tenant AND b.account = s.account
                AND b.new_session = s.session
            \(sql: applicationJoins)
            """,
            into: BatchAnswers<ApplicationSession?>(repeating: nil, count: questions.count)
        ) { answers, row in try answers.read(&row, add) }.results
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

    /// An application's session, for its current refresh token.
    package func application(_ key: SessionKey, secretHash: [UInt8]) async throws -> ApplicationSession? {
        try await database.query(
            """
            SELECT \(sql: Self.applicationColumns) FROM sessions s \(sql: Self.applicationJoins)
            WHERE s.project = \(key.scope.project.rawValue) AND s.tenant = \(key.scope.tenant.rawValue)
                AND s.account = \(key.account.rawValue) AND s.session = \(key.session.rawValue) AND s.client IS NOT NULL
                AND s.secret_hash = \(secretHash)
            """,
            into: ApplicationSession?.none,
            Self.add
        )
    }

    private static let applicationColumns: SQL = """
        s.application_grant::text, \(sql: SessionRow.columns), \(sql: AccountRow.columnsWithoutActivity)
        """

    private static let applicationJoins: SQL = """
        JOIN \(sql: AccountRow.keyed(by: "s")) a ON a.merged_into IS NULL
        \(sql: AccountRow.joinsWithoutActivity)
        """

    /// A row for each linked credential.
    private static func add(_ found: inout ApplicationSession?, _ row: inout PostgresRow) throws {
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
