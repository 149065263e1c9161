package import Domain
import Federation
import Postgres
package import Projects
package import Secrets

/// Accounts, their claims and linked credentials.
///
/// Each read is one statement. Writes that follow a decision are one statement that applies only if what was decided on
/// is unchanged, or a transaction that locks the account first.
package struct AccountStore: Sendable {
    let database: PostgresClient
    let keyRing: KeyRing
    let gate: AccountGate
    /// For queries that may examine all accounts of a project.
    let scans = ProjectGate(width: 2, queueLimit: 8)
    let growth: Growth
    /// Whether simultaneous requests share a statement.
    let batches: Bool
    let accountReads: Batcher<Never, AccountQuestion, FoundAccount?>
    let selectorReads: Batcher<Never, SelectorsQuestion, [Account]>
    let candidateReads: Batcher<[UInt8], CandidatesQuestion, SignInCandidates>
    let passkeyReads: Batcher<[UInt8], PasskeyQuestion, PasskeyOwner?>
    let signUps: Batcher<NewAccount.Claim, NewAccount, WriteOutcome?>
    private let plainOpenings: Batcher<[UInt8], OpeningQuestion, OpeningAnswer>
    private let mailOpenings: Batcher<[UInt8], OpeningQuestion, OpeningAnswer>
    private let smsOpenings: Batcher<[UInt8], OpeningQuestion, OpeningAnswer>

    /// - Parameter batches: whether simultaneous requests share a statement.
    init(database: PostgresClient, keyRing: KeyRing, gate: AccountGate, growth: Growth, batches: Bool = true) {
        self.database = database
        self.keyRing = keyRing
        self.gate = gate
        self.growth = growth
        self.batches = batches
        accountReads = Batcher(isOn: batches) { try await Self.find($0, shared: batches, database.repeating) }
        selectorReads = Batcher(isOn: batches) { try await Self.find($0, shared: batches, database.repeating) }
        candidateReads = Batcher(isOn: batches) { try await Self.candidates($0, shared: batches, database.repeating) }
        signUps = Batcher(isOn: batches, asking: { try await Self.signUp(together: $0, database) })
        passkeyReads = Batcher(isOn: batches) { try await Self.find($0, shared: batches, database) }
        let openings = { (kind: OneTimeCode.Kind?) -> Batcher<[UInt8], OpeningQuestion, OpeningAnswer> in
            Batcher(isOn: batches) { try await Self.open($0, spending: kind, skipsLocked: true, database) }
        }
        plainOpenings = openings(nil)
        mailOpenings = openings(.mail)
        smsOpenings = openings(.sms)
    }
}

extension AccountStore {
    /// Each kind of code has its own table.
    func openings(spending kind: OneTimeCode.Kind?) -> Batcher<[UInt8], OpeningQuestion, OpeningAnswer> {
        switch kind {
        case nil: plainOpenings
        case .mail: mailOpenings
        case .sms: smsOpenings
        }
    }

    /// The counts of each kind of batch, by name.
    var batchCounts: [(name: String, counts: BatchCounts)] {
        [
            ("accounts", accountReads.counts), ("selectors", selectorReads.counts), ("sign_in", candidateReads.counts),
            ("sign_up", signUps.counts), ("passkey", passkeyReads.counts), ("session", plainOpenings.counts),
            ("session_mail", mailOpenings.counts), ("session_sms", smsOpenings.counts),
        ]
    }
}

extension AccountStore {
    /// Whether a one-time ID token was used before.
    package func wasUsed(_ idToken: Secret, in scope: Scope) async throws -> Bool {
        let rows = try await database.query(
            """
            SELECT true FROM used_id_tokens
            WHERE project = \(scope.project.rawValue) AND token_hash = \(FederatedCredential.OneTimeToken.hash(of: idToken.reveal()))
            """
        ) { try $0.next(Bool.self) }
        return !rows.isEmpty
    }

    /// The account that has an email as its own, also a merged one, by what it still holds.
    ///
    /// An email that nobody has costs the same: the statement reads the account of the next one, which nobody gets
    /// (threats.md, T-E1).
    package func holder(of email: EmailAddress, in scope: Scope) async throws -> Account? {
        let taken: SQL = """
            FROM account_emails WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
            """
        let rows = try await database.query(
            """
            SELECT e.email_key = \(email.canonical), \(sql: AccountRow.columns)
            FROM account_emails e
            CROSS JOIN \(sql: AccountRow.keyed(by: "e", .of(scope.project))) a
            \(sql: AccountRow.joins(.of(scope.project)))
            WHERE e.project = \(scope.project.rawValue) AND e.tenant = \(scope.tenant.rawValue) AND e.email_key = coalesce(
                (SELECT email_key \(sql: taken) AND email_key >= \(email.canonical) ORDER BY email_key LIMIT 1),
                (SELECT email_key \(sql: taken) ORDER BY email_key DESC LIMIT 1)
            )
            """
        ) { row in (isMeant: try row.next(Bool.self), account: try AccountRow.decode(&row)) }
        let account = AccountRow.merge(rows.map(\.account)).first
        return rows.first?.isMeant == true ? account : nil
    }

    /// The accounts that have an email as their own or from a linked provider.
    ///
    /// - Throws: ``RateLimitReached``.
    package func find(
        anyEmail email: EmailAddress,
        within limits: RateLimits,
        in scope: Scope
    ) async throws -> [Account] {
        let rows = try await database.query(
            """
            WITH \(sql: limits.taking)
            SELECT m.passed, a.account IS NOT NULL, \(sql: AccountRow.columns)
            FROM limits m
            LEFT JOIN accounts a ON \(sql: limits.havePassed) AND a.project = \(scope.project.rawValue) AND a.tenant = \(scope.tenant.rawValue)
                AND a.account IN (
                SELECT account FROM account_emails
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND email_key = \(email.canonical)
                UNION
                SELECT account FROM linked_credentials
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND email = \(email.canonical)
            )
            \(sql: AccountRow.joins(.of(scope.project)))
            ORDER BY a.account
            """
        ) { row in
            try limits.check(passed: try row.next())
            return try row.next() ? try AccountRow.decode(&row) : nil
        }
        return AccountRow.merge(rows.compactMap(\.self))
    }
}

extension Account {
    /// Whether it is still as it was read.
    ///
    /// The version alone does not say so: an ID may be used again after a deletion.
    package func stands(as earlier: Account) -> Bool {
        version == earlier.version && createdAt == earlier.createdAt && validSince == earlier.validSince
            && email?.canonical == earlier.email?.canonical && emailVerified == earlier.emailVerified
    }
}
