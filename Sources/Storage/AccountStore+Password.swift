import Delivery
package import Domain
import Passwords
import Postgres
package import Projects
import Sessions
package import struct Foundation.Date

extension AccountStore {
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
                    SELECT FROM holder h JOIN sessions s ON s.project = \(scope.project.rawValue) AND s.tenant = h.tenant
                        AND s.account = h.account
                    WHERE s.address_prefix = \(network) AND s.last_used_at > \(lately)
                ) AS open FROM limits
            )
            SELECT g.passed, g.open, a.account IS NOT NULL, \(sql: AccountRow.columnsWithoutActivity),
                \(sql: StoredPassword.columns)
            FROM gate g
            LEFT JOIN (holder e JOIN accounts a ON a.project = \(scope.project.rawValue) AND a.tenant = e.tenant
                AND a.account = e.account) ON g.open
            \(sql: AccountRow.joinsWithoutActivity(.of(scope.project)))
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
        var isOpened = false
        if let session, rehashed == nil, amendment == nil {
            isOpened = try await openSession(session, for: candidate.account, in: scope, now: now)
        }
        if !isOpened {
            // What changed since may be nothing that the sign-in depends on.
            let known = candidate.account
            isOpened = try await signIn(to: known.id, opening: session, in: scope, now: now) { current in
                guard !current.isDisabled, current.validSince == known.validSince,
                    current.secondFactors.isEmpty == known.secondFactors.isEmpty,
                    current.passkeys.isEmpty == known.passkeys.isEmpty,
                    amendment == nil || amendment?.version == current.version, current.createdAt == known.createdAt
                else { return nil }
                var changes = AccountChanges()
                changes.provedPassword = password
                changes.rehashed = rehashed
                changes.amend(amendment, current)
                return changes
            }
        }
        // The user is signed in, whatever becomes of this.
        if isOpened { try? await RateLimitStore(database: database).giveBack(candidate.taken) }
        return isOpened
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
        var changes = AccountChanges()
        changes.isByCustomToken = true
        changes.amend(amendment, account)
        return try await open(session, for: account, with: changes, in: scope, now: now)
    }
}

/// An account whose password is about to be checked.
package struct PasswordCandidate: Sendable {
    package var account: Account
    package var password: StoredPassword?
    /// What a success returns to the limits.
    package var taken: RateLimits
}
