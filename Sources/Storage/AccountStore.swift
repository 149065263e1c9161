package import Linking
package import Postgres
package import Projects
package import Secrets
package import Sessions

/// Accounts, their claims and linked credentials.
///
/// Reads are one statement. Writes that a decision asked for are one statement that applies only while what was
/// decided on still stands, or a transaction that locks the account first.
package struct AccountStore: Sendable {
    let database: PostgresClient
    let keyRing: KeyRing
    private let accountReads: Batcher<Never, AccountQuestion, FoundAccount?>
    private let candidateReads: Batcher<Never, CandidatesQuestion, SignInCandidates>
    /// Nil without batches: engines that refuse `SKIP LOCKED` get none.
    let knownSignIns: Batcher<KnownSignIn.Key, KnownSignIn, WriteOutcome?>?

    /// - Parameter batches: whether reads of the same moment share a statement.
    package init(database: PostgresClient, keyRing: KeyRing, batches: Bool = true) {
        self.database = database
        self.keyRing = keyRing
        accountReads = Batcher(isOn: batches) { try await Self.find($0, database) }
        candidateReads = Batcher(isOn: batches) { try await Self.candidates($0, database) }
        knownSignIns = batches ? Batcher { try await Self.signIn($0, database) } : nil
    }
}

extension AccountStore {
    /// Of each kind of batch, by its name.
    var batchCounts: [(name: String, counts: BatchCounts)] {
        [("accounts", accountReads.counts), ("candidates", candidateReads.counts)]
            + (knownSignIns.map { [("sign_in", $0.counts)] } ?? [])
    }
}

package typealias FoundAccount = (account: Account, session: StoredSession?)

private struct CandidatesQuestion: Sendable {
    var scope: Scope
    var provider: ProviderID
    var subject: String
    var email: String?
    /// Of the request's ID token.
    var account: AccountID?
    var session: SessionID?
}

/// An account that a sign-in could mean, with at most one of its linked credentials.
private struct CandidateRow: Sendable {
    let index: Int
    private let account: Account
    private let isOwner: Bool
    private let isEmailOwner: Bool
    private let issuer: String?
    private let session: StoredSession?

    init(_ row: inout PostgresRow) throws {
        index = Int(try row.next(Int64.self)) - 1
        account = try AccountRow.decode(&row)
        isOwner = try row.next()
        isEmailOwner = try row.next()
        issuer = try row.next()
        session = try SessionRow.decode(&row)
    }

    func add(to found: inout SignInCandidates, caller: AccountID?) {
        if isOwner {
            Self.add(account, to: &found.owner)
            found.ownerIssuer = issuer
        }
        if isEmailOwner { Self.add(account, to: &found.emailOwner) }
        if account.id == caller {
            Self.add(account, to: &found.signedIn)
            found.session = session
        }
    }

    private static func add(_ account: Account, to found: inout Account?) {
        if found == nil { found = account } else { found?.add(account.linked) }
    }
}

private struct AccountQuestion: Sendable {
    var scope: Scope
    var account: AccountID
    var session: SessionID?
}

/// The accounts that a sign-in could mean.
package struct SignInCandidates: Sendable {
    /// Has the identity linked.
    package var owner: Account?
    /// The issuer with which the identity was linked.
    package var ownerIssuer: String?
    /// Has the identity's address as its own.
    package var emailOwner: Account?
    /// The account of the caller's ID token, with its session.
    package var signedIn: Account?
    package var session: StoredSession?
}

extension AccountStore {
    /// Reads everything that a federated sign-in or link is decided on: one statement, shared with other sign-ins of the
    /// moment.
    ///
    /// - Parameter caller: the account and session of the request's ID token.
    package func candidates(
        for identity: FederatedIdentity,
        caller: (account: AccountID, session: SessionID)?,
        in scope: Scope
    ) async throws -> SignInCandidates {
        let question = CandidatesQuestion(
            scope: scope,
            provider: identity.provider,
            subject: identity.subject,
            email: identity.email?.canonical,
            account: caller?.account,
            session: caller?.session
        )
        return try await candidateReads.answer(to: question, for: nil)
    }

    private static func candidates(
        _ questions: [CandidatesQuestion],
        _ database: PostgresClient
    ) async throws -> [SignInCandidates] {
        let rows = try await database.query(
            """
            WITH asked AS MATERIALIZED (
                SELECT * FROM unnest(\(questions.map(\.scope.project.rawValue))::text[],
                    \(questions.map(\.scope.tenant.rawValue))::text[], \(questions.map(\.provider.rawValue))::text[],
                    \(questions.map(\.subject))::text[], \(questions.map { $0.email ?? "" })::text[],
                    \(questions.map { $0.account?.rawValue ?? "" })::text[],
                    \(questions.map { $0.session?.rawValue ?? "" })::text[]) WITH ORDINALITY
                    n (project, tenant, provider, subject, email_key, account, session, number)
            ), owner AS MATERIALIZED (
                SELECT n.number, c.account, c.issuer FROM asked n
                JOIN credential_subjects c ON c.project = n.project AND c.tenant = n.tenant AND c.provider = n.provider
                    AND c.subject = n.subject
            ), holder AS MATERIALIZED (
                SELECT n.number, e.account FROM asked n
                JOIN account_emails e ON e.project = n.project AND e.tenant = n.tenant AND e.email_key = n.email_key
            ), meant AS (
                SELECT number, account FROM owner UNION SELECT number, account FROM holder
                UNION SELECT number, account FROM asked WHERE account <> ''
            )
            SELECT n.number, \(sql: AccountRow.columnsWithoutActivity), o.account IS NOT NULL, h.account IS NOT NULL, o.issuer,
                \(sql: SessionRow.columns)
            FROM meant m
            JOIN asked n ON n.number = m.number
            JOIN accounts a ON a.project = n.project AND a.account = m.account AND a.tenant = n.tenant
            \(sql: AccountRow.joinsWithoutActivity)
            LEFT JOIN owner o ON o.number = m.number AND o.account = m.account
            LEFT JOIN holder h ON h.number = m.number AND h.account = m.account
            LEFT JOIN sessions s ON s.project = a.project AND s.account = a.account AND s.account = n.account
                AND s.session = n.session
            """
        ) { row in try CandidateRow(&row) }
        var answers = [SignInCandidates](repeating: SignInCandidates(), count: questions.count)
        for row in rows where answers.indices.contains(row.index) {
            row.add(to: &answers[row.index], caller: questions[row.index].account)
        }
        return answers
    }

    /// An account and one of its sessions, nil when it does not exist: one statement, shared with other reads of the
    /// moment.
    package func find(_ account: AccountID, session: SessionID?, in scope: Scope) async throws -> FoundAccount? {
        let question = AccountQuestion(scope: scope, account: account, session: session)
        return try await accountReads.answer(to: question, for: nil)
    }

    private static func find(_ questions: [AccountQuestion], _ database: PostgresClient) async throws -> [FoundAccount?]
    {
        let rows = try await database.query(
            """
            SELECT n.number, \(sql: AccountRow.columns), \(sql: SessionRow.columns)
            FROM unnest(\(questions.map(\.scope.project.rawValue))::text[],
                \(questions.map(\.scope.tenant.rawValue))::text[], \(questions.map(\.account.rawValue))::text[],
                \(questions.map { $0.session?.rawValue ?? "" })::text[]) WITH ORDINALITY
                n (project, tenant, account, session, number)
            JOIN accounts a ON a.project = n.project AND a.account = n.account AND a.tenant = n.tenant
            \(sql: AccountRow.joins)
            LEFT JOIN sessions s ON s.project = a.project AND s.account = a.account AND s.session = n.session
            """
        ) { row in
            (
                index: Int(try row.next(Int64.self)) - 1, account: try AccountRow.decode(&row),
                session: try SessionRow.decode(&row)
            )
        }
        var answers = [FoundAccount?](repeating: nil, count: questions.count)
        for row in rows where answers.indices.contains(row.index) {
            if answers[row.index] == nil {
                answers[row.index] = (row.account, row.session)
            } else {
                answers[row.index]?.account.add(row.account.linked)
            }
        }
        return answers
    }

    /// The account that has an address as its own, with its password hash.
    package func findForPassword(
        email: EmailAddress,
        in scope: Scope
    ) async throws -> (account: Account, password: StoredPassword?)? {
        let rows = try await database.query(
            """
            SELECT \(sql: AccountRow.columns), a.password_hash, a.password_salt, a.password_parameters
            FROM account_emails e
            JOIN accounts a ON a.project = e.project AND a.account = e.account AND a.tenant = e.tenant
            \(sql: AccountRow.joins)
            WHERE e.project = \(scope.project.rawValue) AND e.tenant = \(scope.tenant.rawValue)
                AND e.email_key = \(email.canonical)
            """
        ) { row in (try AccountRow.decode(&row), try StoredPassword.decode(&row)) }
        guard let account = AccountRow.merge(rows.map(\.0)).first else { return nil }
        return (account, rows.first?.1)
    }

    /// Whether a one-time ID token was taken before.
    package func wasUsed(_ idToken: Secret, in scope: Scope) async throws -> Bool {
        let rows = try await database.query(
            """
            SELECT true FROM used_id_tokens
            WHERE project = \(scope.project.rawValue) AND token_hash = \(SecureHash.sha256(idToken.reveal()))
            """
        ) { try $0.next(Bool.self) }
        return !rows.isEmpty
    }

    /// The accounts that have an address as their own or from a linked provider.
    package func find(anyEmail email: EmailAddress, in scope: Scope) async throws -> [Account] {
        let rows = try await database.query(
            """
            SELECT \(sql: AccountRow.columns)
            FROM accounts a \(sql: AccountRow.joins)
            WHERE a.project = \(scope.project.rawValue) AND a.tenant = \(scope.tenant.rawValue) AND a.account IN (
                SELECT account FROM account_emails
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND email_key = \(email.canonical)
                UNION
                SELECT account FROM linked_credentials
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND email = \(email.canonical)
            )
            ORDER BY a.account
            """,
            AccountRow.decode
        )
        return AccountRow.merge(rows)
    }
}
