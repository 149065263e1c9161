import Domain
package import OAuth
import Postgres
package import Projects
import Secrets
import Sessions
package import struct Foundation.Date

/// What devices without a browser ask for, until a user has agreed at another one (RFC 8628).
package struct DeviceCodeStore: Sendable {
    let database: PostgresClient
    let keyRing: KeyRing

    package struct Asked: Sendable {
        package var codeHash: [UInt8]
        package var client: String
        package var grant: ApplicationGrant
        package var expiresAt: Date

        package init(codeHash: [UInt8], client: String, grant: ApplicationGrant, expiresAt: Date) {
            self.codeHash = codeHash
            self.client = client
            self.grant = grant
            self.expiresAt = expiresAt
        }
    }

    /// - Parameter userCode: what the user types, in its canonical form.
    /// - Throws: ``RateLimitReached``.
    package func insert(
        _ asked: Asked,
        userCode: String,
        within limits: RateLimits,
        in project: ProjectID,
        now: Date
    ) async throws {
        let passed = try await database.query(
            """
            WITH \(sql: limits.taking), asked AS (
                INSERT INTO device_codes (project, code_hash, user_code_hash, client, application_grant, created_at,
                    expires_at)
                SELECT \(project.rawValue), \(asked.codeHash), \(hash(of: userCode, project)), \(asked.client),
                    \(try asked.grant.json)::jsonb, \(now), \(asked.expiresAt)
                FROM limits WHERE \(sql: limits.havePassed)
            )
            SELECT passed FROM limits
            """
        ) { row in try row.next(Int64.self) }
        try limits.check(passed: passed.first ?? 0)
    }

    /// What a user's code stands for; nil if it is unknown, expired or decided.
    ///
    /// - Throws: ``RateLimitReached``: anybody may guess.
    package func asked(
        userCode: String,
        within limits: RateLimits,
        in project: ProjectID,
        now: Date
    ) async throws -> Asked? {
        try await database.query(
            """
            WITH \(sql: limits.taking)
            SELECT m.passed, d.code_hash, d.client, d.application_grant::text, d.expires_at
            FROM limits m LEFT JOIN device_codes d ON \(sql: limits.havePassed) AND d.project = \(project.rawValue)
                AND d.user_code_hash = \(hash(of: userCode, project)) AND d.session IS NULL AND NOT d.denied
                AND d.expires_at > \(now)
            """
        ) { row -> Asked? in
            try limits.check(passed: try row.next())
            guard let hash: [UInt8] = try row.next() else { return nil }
            let (client, grant): (String, String) = (try row.next(), try row.next())
            return Asked(codeHash: hash, client: client, grant: try .init(json: grant), expiresAt: try row.next())
        }.first ?? nil
    }

    /// The user's decision, once.
    ///
    /// - Parameters:
    ///   - agreed: the browser's session, from which the grant begins when the device asks, and what the page showed; nil
    ///     if the user refuses.
    ///   - revokedVersion: the account's.
    /// - Returns: false if it is expired or decided.
    package func decide(
        _ codeHash: [UInt8],
        _ agreed: (browser: SessionKey, grant: ApplicationGrant)?,
        revokedVersion: Int64?,
        in project: ProjectID,
        now: Date
    ) async throws -> Bool {
        try await database.execute(
            """
            UPDATE device_codes SET tenant = \(agreed?.browser.scope.tenant.rawValue),
                account = \(agreed?.browser.account.rawValue), session = \(agreed?.browser.session.rawValue), denied = \(agreed == nil),
                revoked_version = \(revokedVersion),
                application_grant = coalesce(\(try agreed?.grant.json)::jsonb, application_grant)
            WHERE project = \(project.rawValue) AND code_hash = \(codeHash) AND session IS NULL AND NOT denied
                AND expires_at > \(now)
            """
        ) > 0
    }

    package enum Answer: Sendable, Hashable {
        case pending
        /// It asks more often than every five seconds.
        case tooFast
        case denied
        /// From the browser's session, while the account has that version (``NewApplicationSession/revokedVersion``).
        case granted(SessionKey, revokedVersion: Int64?, ApplicationGrant)
        case expired
    }

    /// A device asks; too soon, it writes nothing.
    ///
    /// - Returns: nil if the code is unknown, or another client's.
    package func poll(
        _ codeHash: [UInt8],
        by client: String,
        interval: Double,
        in project: ProjectID,
        now: Date
    ) async throws -> Answer? {
        try await database.query(
            """
            WITH before AS MATERIALIZED (
                SELECT *, coalesce(polled_at > \(now.addingTimeInterval(-interval)), false) AS is_fast FROM device_codes
                WHERE project = \(project.rawValue) AND code_hash = \(codeHash) AND client = \(client)
            ), polled AS (
                UPDATE device_codes d SET polled_at = \(now) FROM before b
                WHERE d.project = b.project AND d.code_hash = b.code_hash AND NOT b.is_fast
            )
            SELECT tenant, account, session, revoked_version, application_grant::text, denied, expires_at <= \(now), is_fast
            FROM before
            """
        ) { row -> Answer in
            let tenant: String? = try row.next()
            let (account, session): (String?, String?) = (try row.next(), try row.next())
            let revokedVersion: Int64? = try row.next()
            let grant: String = try row.next()
            let (isDenied, isOver, isFast): (Bool, Bool, Bool) = (try row.next(), try row.next(), try row.next())
            if isOver { return .expired }
            if isDenied { return .denied }
            if let tenant, let account, let session = session.flatMap(SessionID.init(rawValue:)) {
                let scope = Scope(project: project, tenant: TenantID(rawValue: tenant))
                let browser = SessionKey(scope: scope, account: AccountID(account), session: session)
                return .granted(browser, revokedVersion: revokedVersion, try ApplicationGrant(json: grant))
            }
            return isFast ? .tooFast : .pending
        }.first
    }

    /// A plain hash of so few letters would reveal them to a reader of the database.
    private func hash(of userCode: String, _ project: ProjectID) -> [UInt8] {
        keyRing.authenticationCode(of: Array("device_codes/\(project)/\(userCode)".utf8))
    }
}
