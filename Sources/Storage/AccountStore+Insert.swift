import Delivery
package import Domain
import Passwords
import Postgres
package import Projects
import Sessions
package import struct Foundation.Date

extension AccountStore {
    /// Creates an account without a provider: with a password, by email link, anonymous, or for an admin.
    ///
    /// - Parameters:
    ///   - code: the one-time code to use.
    ///   - displaced: the account's email, which another one has and loses (S16).
    ///   - isTold: whether a webhook is sent.
    ///   - limits: none with a code, because a refusal would use up the code.
    /// - Returns: the account as it is stored: later than every session of an account that had its ID (threats.md, T-D6).
    /// - Throws: ``ClaimConflict``; ``SpentCode``; ``RateLimitReached``.
    @discardableResult
    package func insert(
        _ account: Account,
        password: StoredPassword?,
        session: NewSession?,
        spending code: OneTimeCode? = nil,
        displacing displaced: DisplacedEmail? = nil,
        isTold: Bool = false,
        within limits: RateLimits = .none,
        in scope: Scope,
        now: Date
    ) async throws -> Account {
        growth.add(1)
        // The code ends with the account that loses the email, as all codes of the address do.
        let spent = displaced == nil ? code : nil
        let entry = AuditEntry(
            .accountCreated,
            in: scope,
            account: account.id,
            providers: session.map { [$0.signInProvider] } ?? [],
            resource: session?.id.rawValue,
            at: now
        )
        var notice: SQL = ""
        if isTold {
            let told = WebhookNotice(.accountCreated, about: account, of: scope, date: now)
            notice = ", notice AS (\(sql: try telling(told, scope, from: "target")))"
        }
        let statement: SQL = """
            WITH \(sql: limits.taking), \(sql: spent.map { "\(sql: $0.parts(scope))," } ?? "") target AS (
                INSERT INTO accounts (project, account, tenant, methods, valid_since, disabled, email, email_original,
                    email_verified, email_link, phone_number, display_name, photo_url, custom_attributes, custom_auth,
                    password_hash, password_salt, password_parameters, password_updated_at, second_factors, created_at)
                SELECT \(scope.project.rawValue), \(account.id.rawValue), \(scope.tenant.rawValue),
                    \(account.methodNames), greatest(\(account.validSince), (
                        SELECT max(auth_time) + 1 FROM sessions
                        WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                            AND account = \(account.id.rawValue)
                    )), \(account.disabled), \(account.email?.canonical),
                    \(account.email?.original), \(account.emailVerified), \(account.emailLinkSignIn),
                    \(account.phoneNumber), \(account.displayName), \(account.photoURL), \(account.customAttributes),
                    \(account.customAuth), \(password?.hash.hash), \(password?.hash.salt),
                    \(password?.parameters), \(account.passwordUpdatedAt),
                    \(try SecondFactorColumn.text(of: account.secondFactors)), \(account.createdAt)
                \(sql: spent == nil ? "FROM limits WHERE \(sql: limits.havePassed)" : "FROM code")
                RETURNING project, tenant, account, valid_since
            ), emails AS (
                INSERT INTO account_emails (project, tenant, email_key, account)
                SELECT project, tenant, \(account.email?.canonical), account FROM target
                WHERE \(account.email != nil)
            ), phones AS (
                INSERT INTO account_phones (project, tenant, phone_number, account)
                SELECT project, tenant, \(account.phoneNumber), account FROM target WHERE \(account.phoneNumber != nil)
            )\(sql: session.map { Self.opening($0, now: now) } ?? ""),
            audit AS (\(sql: entry.insertion(from: "target")))\(sql: notice)
            SELECT passed, (SELECT valid_since FROM target) FROM limits
            """
        var written = account
        let conflict = try await claiming {
            written.validSince = try await displacing(displaced, spending: code, scope, now: now) { executor in
                let rows = try await executor.query(statement) { row in
                    try limits.check(passed: try row.next())
                    return try row.next(Int64?.self)
                }
                if let spent, rows.first ?? nil == nil { throw SpentCode(code: spent) }
                return (rows.first ?? nil) ?? account.validSince
            }
        }
        if let conflict { throw conflict }
        return written
    }

    /// Parts of a statement that open the first session of its `target`.
    private static func opening(_ session: NewSession, now: Date) -> SQL {
        """
        , opened AS (
            INSERT INTO sessions (project, tenant, account, session, secret_hash, auth_time, sign_in_provider, claims,
                sign_in_attributes, second_factor, second_factor_identifier, created_at, last_used_at, user_agent,
                address_prefix)
            SELECT project, tenant, account, \(session.id.rawValue), \(session.secretHash),
                greatest(\(session.authTime), valid_since), \(session.signInProvider.rawValue), \(session.claims),
                \(session.signInAttributes), \(session.secondFactor?.kind), \(session.secondFactor?.enrollment), \(now),
                \(now), \(session.userAgent), \(session.addressPrefix)
            FROM target
        ), activity AS (
            INSERT INTO account_activity (project, tenant, account, last_sign_in_at, last_refresh_at, sign_ins_until)
            SELECT project, tenant, account, \(now), \(now),
                \(now.addingTimeInterval(session.pace.step))
            FROM target
            ON CONFLICT (project, tenant, account) DO UPDATE
                SET last_sign_in_at = EXCLUDED.last_sign_in_at, last_refresh_at = EXCLUDED.last_refresh_at,
                    \(sql: SignInPace.counting(now: now))
        )
        """
    }

    /// The statement, or part of one, that writes a webhook.
    func telling(_ notice: WebhookNotice, _ scope: Scope, from source: SQL? = nil) throws -> SQL {
        try OutboxStore.insertion(
            kind: WebhookNotice.kind,
            notice,
            in: scope,
            keyRing: keyRing,
            due: notice.date,
            from: source
        )
    }

    /// Runs writes and returns the claim that another account holds.
    func claiming(_ body: () async throws -> Void) async throws -> ClaimConflict? {
        do {
            try await body()
            return nil
        } catch let conflict as ClaimConflict {
            return conflict
        } catch let error as PostgresError {
            guard let conflict = error.constraint.flatMap(ClaimConflict.init(rawValue:)) else { throw error }
            return conflict
        }
    }
}

/// A claim that another account holds, by the name of the violated constraint.
package enum ClaimConflict: String, Error, Sendable {
    case email = "account_emails_pkey"
    case phoneNumber = "account_phones_pkey"
    case accountID = "accounts_pkey"
    case subject = "credential_subjects_pkey"
    case passkey = "account_passkeys_pkey"
}
