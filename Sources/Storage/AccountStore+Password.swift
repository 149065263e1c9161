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
        let target: SQL = """
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
            RETURNING account, valid_since
            """
        var parts: [SQL] = []
        if let email = account.email { parts.append(claimEmail(email, scope)) }
        if let phone = account.phoneNumber { parts.append(claimPhone(phone, scope)) }
        if let session {
            parts.append(insertSession(session, scope, now: now))
            parts.append(recordSignIn(scope, session.pace, now: now))
        }
        if isTold {
            let notice = WebhookNotice(.accountCreated, about: account, of: scope, date: now)
            parts.append(try telling(notice, scope, from: "target"))
        }
        let entry = AuditEntry(
            .accountCreated,
            in: scope,
            account: account.id,
            providers: session.map { [$0.signInProvider] } ?? [],
            resource: session?.id.rawValue,
            at: now
        )
        parts.append(entry.insertion(from: "target"))
        var written = account
        let conflict = try await claiming {
            written.validSince = try await displacing(displaced, spending: code, scope, now: now) { [parts] executor in
                let validSince = try await write(
                    spending: spent?.parts(scope),
                    within: limits,
                    target: target,
                    parts: parts,
                    by: executor
                )
                if let spent, validSince == nil { throw SpentCode(code: spent) }
                return validSince ?? account.validSince
            }
        }
        if let conflict { throw conflict }
        return written
    }

    /// The account whose own email this is, with its password hash.
    ///
    /// - Parameters:
    ///   - limits: the last one does not apply to networks where the account was used recently, so that
    ///     attackers cannot lock its user out.
    ///   - network: the caller's, as sessions store it.
    /// - Throws: ``RateLimitReached``.
    package func findForPassword(
        email: EmailAddress,
        within limits: RateLimits,
        from network: String?,
        in scope: Scope
    ) async throws -> PasswordCandidate? {
        let lately = limits.now.addingTimeInterval(-Self.familiarity)
        let rows = try await database.query(
            """
            WITH \(sql: limits.taking), holder AS MATERIALIZED (
                SELECT project, account, tenant FROM account_emails
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND email_key = \(email.canonical)
            ), gate AS MATERIALIZED (
                SELECT passed, \(sql: limits.havePassed) OR \(sql: limits.onlyLastIsFull) AND EXISTS (
                    SELECT FROM holder h JOIN sessions s ON s.project = h.project AND s.tenant = h.tenant
                        AND s.account = h.account
                    WHERE s.address_prefix = \(network) AND s.last_used_at > \(lately)
                ) AS open FROM limits
            )
            SELECT g.passed, g.open, a.account IS NOT NULL, \(sql: AccountRow.columnsWithoutActivity),
                \(sql: StoredPassword.columns)
            FROM gate g
            LEFT JOIN (holder e JOIN accounts a ON a.project = e.project AND a.tenant = e.tenant
                AND a.account = e.account) ON g.open
            \(sql: AccountRow.joinsWithoutActivity)
            \(sql: StoredPassword.joins)
            """
        ) { [keyRing] row -> (passed: Int, account: Account, password: StoredPassword?)? in
            let passed: Int64 = try row.next()
            if try !row.next(Bool.self) { try limits.check(passed: passed) }
            guard try row.next(Bool.self) else { return nil }
            return (
                Int(passed), try AccountRow.decode(&row), try StoredPassword.decode(&row, of: scope.project, keyRing)
            )
        }.compactMap(\.self)
        guard let first = rows.first, let account = AccountRow.merge(rows.map(\.account)).first else { return nil }
        return PasswordCandidate(account: account, password: first.password, taken: limits.prefix(first.passed))
    }

    /// How long a network counts as one where the account was used recently, in seconds.
    static let familiarity = 30.0 * 86_400

    /// Opens a session for an account whose password was just checked, unless the password, the account or its state
    /// changed in the meantime; returns what the attempt took from the limits.
    ///
    /// - Throws: ``RateLimitReached``.
    /// - Parameters:
    ///   - rehashed: the same password with other parameters, which replaces the hash.
    ///   - session: nil if a second factor is still required.
    package func signIn(
        to candidate: PasswordCandidate,
        checked password: StoredPassword,
        rehashed: StoredPassword? = nil,
        session: NewSession?,
        amendment: Amendment? = nil,
        in scope: Scope,
        now: Date
    ) async throws -> Bool {
        let condition: SQL = """
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND account = \(candidate.account.id.rawValue) AND disabled IS NOT TRUE
                AND valid_since = \(candidate.account.validSince) AND password_hash = \(password.hash.hash)
                AND (second_factors IS NULL) = \(candidate.account.secondFactors.isEmpty)
                AND (passkeys IS NULL) = \(candidate.account.passkeys.isEmpty) AND \(sql: amendment.stillFits)
                AND \(sql: session.map { hasRoom(for: $0, candidate.account.id, scope, now: now) } ?? "true")
            """
        let rehashing = rehashed.map { new -> SQL in
            """
            UPDATE accounts SET password_hash = \(new.hash.hash), password_salt = \(new.hash.salt),
                password_parameters = \(new.parameters)
            \(sql: condition) RETURNING account, valid_since
            """
        }
        let target = rehashing ?? "SELECT account, valid_since FROM accounts \(sql: condition) FOR SHARE"
        var parts: [SQL] = []
        if let session { parts = opening(session, of: candidate.account.id, scope, now: now) }
        if !candidate.taken.isEmpty { parts.append(candidate.taken.givingBack) }
        let surplus = session.map { _ in SessionStore.surplus(of: candidate.account.id, scope, now: now) }
        let isOpened = try await amending(amendment, candidate.account.id, scope, now: now) { [parts] executor in
            try await write(target: target, parts: parts, ending: surplus, by: executor) != nil
        }
        guard !isOpened, let session else { return isOpened }
        let room = hasRoom(for: session, candidate.account.id, scope, now: now)
        guard try await database.query("SELECT \(sql: room)", { try $0.next(Bool.self) }) == [true] else {
            throw SignInPace.reached
        }
        return false
    }

    private func hasRoom(for session: NewSession, _ account: AccountID, _ scope: Scope, now: Date) -> SQL {
        session.pace.hasRoom(of: account, in: scope, now: now)
    }

    /// Opens a session for a user with a custom token, unless the account changed since it was read.
    ///
    /// The first one makes it another version: a takeover that was decided on the one before must not apply.
    package func signInByCustomToken(
        to account: Account,
        session: NewSession,
        amendment: Amendment? = nil,
        in scope: Scope,
        now: Date
    ) async throws -> Bool {
        // The row is written only once; later sign-ins find it set.
        guard !account.customAuth else {
            return try await openSession(session, for: account, amendment: amendment, in: scope, now: now)
        }
        let target: SQL = """
            UPDATE accounts SET custom_auth = true, version = version + 1
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND account = \(account.id.rawValue) AND version = \(account.version)
            RETURNING account, valid_since
            """
        let parts = opening(session, of: account.id, scope, now: now)
        let surplus = SessionStore.surplus(of: account.id, scope, now: now)
        return try await amending(amendment, account.id, scope, now: now) { executor in
            try await write(target: target, parts: parts, ending: surplus, by: executor) != nil
        }
    }

    /// Parts of a statement that open a session for the account of `target`.
    func opening(_ session: NewSession, of account: AccountID, _ scope: Scope, now: Date) -> [SQL] {
        let entry = AuditEntry(
            .signedIn,
            in: scope,
            account: account,
            providers: [session.signInProvider],
            resource: session.id.rawValue,
            at: now
        )
        return [
            insertSession(session, scope, now: now), recordSignIn(scope, session.pace, now: now),
            entry.insertion(from: "target"),
        ]
    }

    /// Runs a statement without a provider; returns its target's `valid_since`, nil if it had none.
    ///
    /// - Parameters:
    ///   - spending: the parts that end a one-time code, the `code` of the target.
    ///   - limits: the `limits` of the target.
    ///   - surplus: the sessions that a new one makes too many.
    /// - Throws: ``RateLimitReached``.
    func write(
        spending: SQL? = nil,
        within limits: RateLimits = .none,
        target: SQL,
        parts: [SQL],
        ending surplus: SQL? = nil,
        by executor: (any PostgresExecutor)? = nil
    ) async throws -> Int64? {
        let code: SQL = spending.map { "\(sql: $0)," } ?? ""
        let rows = try await (executor ?? database).query(
            """
            WITH \(sql: limits.taking), \(sql: code) target AS (\(sql: target)) \(sql: SQL.further(parts))
            \(sql: surplus.map { ", \(sql: $0)" } ?? "")
            SELECT passed, (SELECT valid_since FROM target) FROM limits
            """
        ) { row in
            try limits.check(passed: try row.next())
            return try row.next(Int64?.self)
        }
        return rows.first ?? nil
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

    func claimPhone(_ phoneNumber: String, _ scope: Scope) -> SQL {
        """
        INSERT INTO account_phones (project, tenant, phone_number, account)
        SELECT \(scope.project.rawValue), \(scope.tenant.rawValue), \(phoneNumber), account FROM target
        """
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

/// An account whose password is about to be checked.
package struct PasswordCandidate: Sendable {
    package var account: Account
    package var password: StoredPassword?
    /// What a success returns to the limits.
    package var taken: RateLimits
}

/// A claim that another account holds, by the name of the violated constraint.
package enum ClaimConflict: String, Error, Sendable {
    case email = "account_emails_pkey"
    case phoneNumber = "account_phones_pkey"
    case accountID = "accounts_pkey"
    case subject = "credential_subjects_pkey"
    case passkey = "account_passkeys_pkey"
}
