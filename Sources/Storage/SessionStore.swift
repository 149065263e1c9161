package import Domain
import Postgres
package import Projects
import Secrets
package import Sessions
package import struct Foundation.Date

/// Sessions: refresh, list, sign out.
package struct SessionStore: Sendable {
    let database: PostgresClient
    let keyRing: KeyRing
    let gate: AccountGate
    /// Whether simultaneous requests share a statement.
    let batches: Bool
    let refreshes: Batcher<[UInt8], RefreshQuestion, RefreshAnswer>
    let browsers: Batcher<[UInt8], BrowserQuestion, BrowserSession?>
    let grants: Batcher<String, GrantQuestion, ApplicationSession?>

    init(database: PostgresClient, keyRing: KeyRing, gate: AccountGate, batches: Bool = true) {
        self.database = database
        self.keyRing = keyRing
        self.gate = gate
        self.batches = batches
        // In a batch, a request whose row is locked must not delay the others; alone, it waits.
        refreshes = Batcher(
            isOn: batches,
            asking: { questions in
                try await Self.ask(questions, skipsLocked: batches, shared: batches, database.repeating)
            }
        )
        browsers = Batcher(isOn: batches, asking: { try await Self.find($0, shared: batches, database) })
        grants = Batcher(
            isOn: batches,
            asking: { try await Self.open($0, skipsLocked: batches, shared: batches, database) }
        )
    }

    /// The counts of each kind of batch, by name.
    var batchCounts: [(name: String, counts: BatchCounts)] {
        [("refresh", refreshes.counts), ("browser", browsers.counts), ("grant", grants.counts)]
    }
}

extension SessionStore {
    /// The active sessions of an account, most recently used first.
    ///
    /// - Parameter idleSince: sessions last used before this time have ended; nil if idle sessions do not end.
    package func list(
        of account: AccountID,
        idleSince: Date?,
        in scope: Scope
    ) async throws -> [SessionListing] {
        try await database.query(
            """
            SELECT s.session, s.created_at, s.last_used_at, s.sign_in_provider, s.user_agent, s.address_prefix, s.client
            FROM sessions s JOIN accounts a ON a.project = s.project AND a.tenant = s.tenant AND a.account = s.account
            WHERE s.project = \(scope.project.rawValue) AND s.tenant = \(scope.tenant.rawValue)
                AND s.account = \(account.rawValue) AND s.revoked_at IS NULL AND s.auth_time >= a.valid_since
                AND s.last_used_at >= \(idleSince ?? .distantPast)
            ORDER BY s.last_used_at DESC, s.session LIMIT 1000
            """
        ) { row in
            guard let id = SessionID(rawValue: try row.next()) else { return nil }
            return SessionListing(
                id: id,
                createdAt: try row.next(),
                lastUsedAt: try row.next(),
                signInProvider: ProviderID(try row.next(String.self)),
                userAgent: try row.next(),
                addressPrefix: try row.next(),
                client: try row.next()
            )
        }.compactMap(\.self)
    }

    /// Ends one, all but one, or all sessions, and any email change that one of them started (T-A4).
    ///
    /// Ending all or all others also ends an email change that an admin started, and sign-ins that wait for their second
    /// factor, which have no session yet (T-A2). So does ending an application's, or its approved device, and it ends the
    /// account's unredeemed codes (T-F34).
    ///
    /// A session ends none that signed in later: whoever has an old one could keep the owner out. Ending all others therefore
    /// needs the newest sign-in of all, also because `validSince`, which is all that who checks a session cookie looks at,
    /// tells an older session from a later one, but not the other way round.
    ///
    /// - Parameter caller: the session that requests it. Nil for an admin.
    /// - Returns: the number of ended sessions; nil if the caller's session had ended, so that none was ended.
    /// - Throws: ``NewerSignIn``.
    package func revoke(
        _ which: Which,
        of account: AccountID,
        by caller: SessionID? = nil,
        in scope: Scope,
        now: Date
    ) async throws -> Int? {
        try await gate.pass(account, in: scope, .signOut) {
            // Changes that end or open sessions lock the account; after the lock, the statement sees whether the
            // caller's session ended, and the last grant that began from one.
            try await database.transaction { transaction in
                transaction.write(AccountStore.locking(account, scope))
                return try await end(which, of: account, by: caller, in: scope, now: now, transaction)
            }
        }
    }

    private func end(
        _ which: Which,
        of account: AccountID,
        by caller: SessionID?,
        in scope: Scope,
        now: Date,
        _ executor: some PostgresExecutor
    ) async throws -> Int? {
        let condition: SQL =
            switch which {
            case .only(let session): "(session = \(session.rawValue) OR browser_session = \(session.rawValue))"
            case .browser(let session):
                """
                (session = \(session.rawValue) OR browser_session = \(session.rawValue)
                    AND application_grant -> 'scopes' @> '"openid"'
                    AND NOT application_grant -> 'scopes' @> '"offline_access"')
                """
            case .application(let client): "client = \(client)"
            case .allBut(let session): "session <> \(session.rawValue)"
            case .all: "true"
            }
        let standing: SQL =
            caller.map { session -> SQL in
                """
                EXISTS (
                    SELECT FROM sessions c JOIN accounts a ON a.project = c.project AND a.tenant = c.tenant
                        AND a.account = c.account
                    WHERE c.project = \(scope.project.rawValue) AND c.tenant = \(scope.tenant.rawValue)
                        AND c.account = \(account.rawValue)
                        AND c.session = \(session.rawValue) AND c.revoked_at IS NULL AND c.auth_time >= a.valid_since
                )
                """
            } ?? "true"
        let ended: SQL? =
            switch which {
            case .only(let session): "o.session = \(session.rawValue)"
            case .allBut: "true"
            case .browser, .application, .all: nil
            }
        let isOlder: SQL =
            if let caller, let ended { Self.isOlder(caller, than: ended, of: account, scope) } else { "false" }
        let isBegun: SQL =
            switch which {
            case .only, .browser, .application: "c.session IN (SELECT session FROM ended)"
            case .allBut, .all: "true"
            }
        // Withdrawing what was not granted changes nothing: other applications' codes would end.
        let isAny: SQL =
            if case .application(let client) = which {
                """
                (EXISTS (TABLE ended) OR EXISTS (
                    SELECT FROM device_codes WHERE project = \(scope.project.rawValue) AND client = \(client)
                        AND tenant = \(scope.tenant.rawValue) AND account = \(account.rawValue)
                        AND session IS NOT NULL AND expires_at > \(now)
                ))
                """
            } else { "true" }
        // Custom tokens and session cookies of before end with the sessions; the caller's own session goes on.
        let validSince: SQL =
            switch which {
            case .only, .browser, .application: ""
            case .allBut(let session):
                """
                , valid_since = greatest(valid_since, (
                    SELECT auth_time FROM sessions
                    WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                        AND account = \(account.rawValue)
                        AND session = \(session.rawValue)
                ))
                """
            case .all:
                """
                , valid_since = greatest(valid_since, \(Int64(now.timeIntervalSince1970)), (
                    SELECT max(auth_time) + 1 FROM sessions
                    WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                        AND account = \(account.rawValue)
                ))
                """
            }
        let pending: SQL =
            switch which {
            case .only, .browser: ""
            // Codes that were not redeemed yet are stored nowhere, but name this version.
            case .application, .allBut, .all:
                """
                pending AS (
                    UPDATE accounts SET version = version + 1, revoked_version = version + 1 \(sql: validSince)
                    WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                        AND account = \(account.rawValue) AND (SELECT may FROM caller) AND \(sql: isAny)
                    RETURNING NULL::text AS session
                ),
                """
            }
        let recorded: SQL =
            switch which {
            case .only, .browser, .application: "ended"
            case .allBut, .all: "(TABLE ended UNION ALL SELECT session FROM pending WHERE NOT EXISTS (TABLE ended)) e"
            }
        let entry = AuditEntry(.sessionRevoked, in: scope, account: account, at: now)
        return try await executor.query(
            """
            WITH caller AS MATERIALIZED (
                SELECT stands, is_older, stands AND NOT is_older AS may
                FROM (SELECT \(sql: standing) AS stands, \(sql: isOlder) AS is_older) c
            ),
            ended AS (
                UPDATE sessions SET revoked_at = \(now)
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND account = \(account.rawValue) AND revoked_at IS NULL AND \(sql: condition)
                    AND (SELECT may FROM caller)
                RETURNING session
            ), codes AS (
                \(sql: OOBCodeStore.voiding([.verifyAndChangeEmail], of: account.rawValue, scope))
                    AND (SELECT may FROM caller) AND \(sql: isBegun)
            ), \(sql: pending) audit AS (\(sql: entry.insertion(from: recorded, resource: "session")))
            SELECT stands AND is_older, CASE WHEN may THEN (SELECT count(*) FROM ended) END FROM caller
            """
        ) { row in
            guard try !row.next(Bool.self) else { throw NewerSignIn() }
            return try row.next(Int64?.self).map { Int($0) }
        }.first ?? nil
    }

    /// Whether a session signed in before one of the account's that fulfil a condition, in which they are `o`.
    ///
    /// Those that have ended count: their session cookies may live on.
    static func isOlder(_ session: SessionID, than others: SQL, of account: AccountID, _ scope: Scope) -> SQL {
        """
        EXISTS (
            SELECT FROM sessions c JOIN sessions o ON o.project = c.project AND o.tenant = c.tenant
                AND o.account = c.account
            WHERE c.project = \(scope.project.rawValue) AND c.tenant = \(scope.tenant.rawValue)
                AND c.account = \(account.rawValue)
                AND c.session = \(session.rawValue) AND o.auth_time > c.auth_time AND \(sql: others)
        )
        """
    }

    /// A session that was to end signed in after the one that wants that.
    package struct NewerSignIn: Error {}

    package enum Which: Sendable {
        /// One, and what was granted through it.
        case only(SessionID)
        /// A browser's that its user leaves, and those of applications to which it led that have no access while the user
        /// is away (OpenID Connect Back-Channel Logout 1.0 §2.7).
        case browser(SessionID)
        /// All of an application.
        case application(_ client: String)
        case allBut(SessionID)
        case all
    }
}

/// An active session, as lists show it.
package struct SessionListing: Sendable {
    package var id: SessionID
    package var createdAt: Date
    package var lastUsedAt: Date
    package var signInProvider: ProviderID
    package var userAgent: String?
    package var addressPrefix: String?
    /// The application that the user granted it to; nil for one of the project's own apps.
    package var client: String?
}
