package import Linking
import Postgres
package import Projects
package import struct Foundation.Date

/// The account that has a passkey; nil if none has.
package struct PasskeyOwner: Sendable {
    package var account: Account?
}

/// Passkeys: a claim for each credential ID, and their records in the account's row.
extension AccountStore {
    /// Takes the challenge of a sign-in and reads the account that has the passkey, in one statement.
    ///
    /// - Parameter credential: the passkey's ID.
    /// - Returns: nil if the challenge cannot be taken.
    package func find(
        passkey credential: String,
        taking challenge: PasskeyChallenge,
        in scope: Scope,
        now: Date
    ) async throws -> PasskeyOwner? {
        let rows = try await database.query(
            """
            WITH challenge AS MATERIALIZED (\(sql: challenge.taking(scope, now: now)))
            SELECT a.account IS NOT NULL, \(sql: AccountRow.columns)
            FROM challenge
            LEFT JOIN \(sql: Self.owner(of: credential, scope)) ON true
            \(sql: AccountRow.joins)
            """
        ) { row in try row.next(Bool.self) ? try AccountRow.decode(&row) : nil }
        guard !rows.isEmpty else { return nil }
        return PasskeyOwner(account: AccountRow.merge(rows.compactMap(\.self)).first)
    }

    /// The account that has the passkey, when the challenge was taken before.
    package func find(passkey credential: String, in scope: Scope) async throws -> Account? {
        let rows = try await database.query(
            """
            SELECT \(sql: AccountRow.columns)
            FROM \(sql: Self.owner(of: credential, scope)) \(sql: AccountRow.joins)
            """
        ) { row in try AccountRow.decode(&row) }
        return AccountRow.merge(rows).first
    }

    private static func owner(of credential: String, _ scope: Scope) -> SQL {
        """
        (
            SELECT o.* FROM account_passkeys p
            JOIN accounts o ON o.project = p.project AND o.account = p.account AND o.tenant = p.tenant
            WHERE p.project = \(scope.project.rawValue) AND p.tenant = \(scope.tenant.rawValue)
                AND p.credential = \(credential) AND o.merged_into IS NULL
        ) a
        """
    }

    /// Opens a session unless the account changed since it was read, and stores the new state of its passkeys.
    ///
    /// - Parameter passkeys: nil if their state stays the same.
    /// - Returns: false for an account that changed.
    package func signIn(
        to account: Account,
        session: NewSession,
        passkeys: [Passkey]?,
        amendment: Amendment? = nil,
        in scope: Scope,
        now: Date
    ) async throws -> Bool {
        guard let passkeys else {
            return try await openSession(session, for: account, amendment: amendment, in: scope, now: now)
        }
        let target = try storing(passkeys, of: account, scope)
        let parts = opening(session, of: account.id, scope, now: now)
        guard let amendment else { return try await write(target: target, parts: parts) }
        return try await amending(amendment, account.id, scope, now: now) { executor in
            try await write(target: target, parts: parts, by: executor)
        }
    }

    /// Stores the state of passkeys without a sign-in, as before a second factor.
    ///
    /// - Returns: false for an account that changed.
    package func store(_ passkeys: [Passkey], of account: Account, in scope: Scope) async throws -> Bool {
        try await write(target: try storing(passkeys, of: account, scope), parts: [])
    }

    /// The new version makes a simultaneous use of another passkey read this state first.
    private func storing(_ passkeys: [Passkey], of account: Account, _ scope: Scope) throws -> SQL {
        """
        UPDATE accounts SET version = version + 1, passkeys = \(try PasskeyColumn.text(of: passkeys))
        WHERE project = \(scope.project.rawValue) AND account = \(account.id.rawValue)
            AND tenant = \(scope.tenant.rawValue) AND version = \(account.version) AND disabled IS NOT TRUE
        RETURNING account, valid_since
        """
    }

    // MARK: Claims

    /// Releases and takes the claims of a change; another account's claim fails the transaction.
    func applyPasskeys(_ transition: Transition) async throws {
        let (before, after) = (Set(transition.before.passkeys.map(\.id)), Set(transition.after.passkeys.map(\.id)))
        let (scope, account) = (transition.scope, transition.before.id)
        let (lost, new) = (before.subtracting(after).sorted(), after.subtracting(before).sorted())
        guard !lost.isEmpty || !new.isEmpty else { return }
        try await transition.transaction.execute(
            """
            WITH released AS (
                DELETE FROM account_passkeys
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND credential = ANY (\(lost)::text[]) AND account = \(account.rawValue)
            )
            INSERT INTO account_passkeys (project, tenant, credential, account)
            SELECT \(scope.project.rawValue), \(scope.tenant.rawValue), credential, \(account.rawValue)
            FROM unnest(\(new)::text[]) credential
            """
        )
    }

    /// The part of a statement that releases all passkeys of its `target`.
    func releasePasskeys(of account: Account, _ scope: Scope) -> SQL {
        """
        DELETE FROM account_passkeys WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
            AND credential = ANY (\(account.passkeys.map(\.id))::text[]) AND account IN (SELECT account FROM target)
        """
    }
}
