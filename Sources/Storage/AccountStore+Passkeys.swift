package import Domain
import Postgres
package import Projects
package import struct Foundation.Date

/// The account that has a passkey; nil if none has.
package struct PasskeyOwner: Sendable {
    package var account: Account?
}

struct PasskeyQuestion: Sendable {
    var scope: Scope
    var challenge: PasskeyChallenge
    var credential: String
    var now: Date
}

/// Passkeys: a claim for each credential ID, and their records in the account's row.
extension AccountStore {
    /// Takes the challenge of a sign-in and reads the account that has the passkey, in one statement shared with other
    /// simultaneous sign-ins.
    ///
    /// - Parameter credential: the passkey's ID.
    /// - Returns: nil if the challenge cannot be taken.
    package func find(
        passkey credential: String,
        taking challenge: PasskeyChallenge,
        in scope: Scope,
        now: Date
    ) async throws -> PasskeyOwner? {
        let question = PasskeyQuestion(scope: scope, challenge: challenge, credential: credential, now: now)
        return try await passkeyReads.answer(to: question, for: challenge.hash)
    }

    /// Challenges are locked in the order of their keys, so that two nodes never deadlock.
    static func find(
        _ questions: [PasskeyQuestion],
        shared: Bool,
        _ database: some PostgresExecutor
    ) async throws -> [Result<PasskeyOwner?, any Error>] {
        let challenges = questions.map(\.challenge)
        let place = Placement(questions.map(\.scope), shared: shared)
        return try await database.query(
            """
            WITH asked AS MATERIALIZED (
                SELECT * FROM unnest(\(questions.map(\.scope.project.rawValue))::text[],
                    \(questions.map(\.scope.tenant.rawValue))::text[], \(challenges.map(\.hash))::bytea[],
                    \(challenges.map(\.name))::text[], \(challenges.map(\.ownerHash))::bytea[],
                    \(questions.map(\.credential))::text[], \(questions.map(\.now))::timestamptz[]) WITH ORDINALITY
                    n (project, tenant, state_hash, purpose, session_hash, credential, now, number)
            ), locked AS MATERIALIZED (
                SELECT n.number, f.project, f.state_hash
                FROM asked n JOIN flows f ON f.project = \(sql: place.project(of: "n")) AND f.state_hash = n.state_hash
                WHERE f.tenant = n.tenant AND f.purpose = n.purpose AND f.session_hash = n.session_hash
                    AND f.expires_at > n.now
                ORDER BY f.project, f.state_hash
                FOR UPDATE OF f
            ), taken AS (
                DELETE FROM flows f USING locked k WHERE f.project = \(sql: place.project(of: "k")) AND f.state_hash = k.state_hash
                RETURNING k.number
            )
            SELECT n.number, a.account IS NOT NULL, \(sql: AccountRow.columns)
            FROM taken t JOIN asked n ON n.number = t.number
            LEFT JOIN account_passkeys p ON p.project = \(sql: place.project(of: "n")) AND p.tenant = n.tenant AND p.credential = n.credential
            LEFT JOIN accounts a ON a.project = \(sql: place.project(of: "p")) AND a.tenant = p.tenant AND a.account = p.account
                AND a.merged_into IS NULL
            \(sql: AccountRow.joins(place))
            """,
            into: BatchAnswers<PasskeyOwner?>(repeating: nil, count: questions.count)
        ) { answers, row in
            try answers.read(&row) { found, row in
                guard try row.next(Bool.self) else {
                    found = PasskeyOwner()
                    return
                }
                let account = try AccountRow.decode(&row)
                if found == nil { found = PasskeyOwner(account: account) } else { found?.account?.add(account.linked) }
            }
        }.results
    }

    /// The account that has the passkey, when the challenge was taken before.
    package func find(passkey credential: String, in scope: Scope) async throws -> Account? {
        let rows = try await database.query(
            """
            SELECT \(sql: AccountRow.columns)
            FROM \(sql: Self.owner(of: credential, scope)) \(sql: AccountRow.joins(.of(scope.project)))
            """
        ) { row in try AccountRow.decode(&row) }
        return AccountRow.merge(rows).first
    }

    private static func owner(of credential: String, _ scope: Scope) -> SQL {
        """
        (
            SELECT o.* FROM account_passkeys p
            JOIN accounts o ON o.project = p.project AND o.tenant = p.tenant AND o.account = p.account
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
        var changes = AccountChanges()
        // The new version makes a simultaneous use of another passkey read this state first.
        changes.passkeys = passkeys
        changes.amend(amendment, account)
        return try await open(session, for: account, with: changes, in: scope, now: now)
    }

    /// Stores the state of passkeys without a sign-in, as before a second factor.
    ///
    /// - Returns: false for an account that changed.
    package func store(_ passkeys: [Passkey], of account: Account, in scope: Scope, now: Date) async throws -> Bool {
        try await signIn(to: account.id, opening: nil, in: scope, now: now) { current in
            guard current.stands(as: account), !current.isDisabled else { return nil }
            var changes = AccountChanges()
            changes.passkeys = passkeys
            return changes
        }
    }

    // MARK: Claims

    /// Releases and takes the claims of a change; another account's claim fails the transaction.
    func applyPasskeys(_ transition: Transition) {
        let (before, after) = (Set(transition.before.passkeys.map(\.id)), Set(transition.after.passkeys.map(\.id)))
        let (scope, account) = (transition.scope, transition.before.id)
        let (lost, new) = (before.subtracting(after).sorted(), after.subtracting(before).sorted())
        if !lost.isEmpty {
            transition.transaction.write(
                """
                DELETE FROM account_passkeys
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND credential = ANY (\(lost)::text[]) AND account = \(account.rawValue)
                """
            )
        }
        guard !new.isEmpty else { return }
        transition.transaction.write(
            """
            INSERT INTO account_passkeys (project, tenant, credential, account)
            SELECT \(scope.project.rawValue), \(scope.tenant.rawValue), credential, \(account.rawValue)
            FROM unnest(\(new)::text[]) credential
            """
        )
    }
}
