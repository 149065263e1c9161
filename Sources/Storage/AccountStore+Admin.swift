package import Domain
import Passwords
import Postgres
package import Projects
import Secrets
package import struct Foundation.Date

/// An admin's selectors of accounts; an account that several match is returned once.
package struct AccountSelectors: Sendable {
    package var accounts: [AccountID]
    package var emails: [EmailAddress]
    /// Addresses that accounts had first, or verified before a change.
    package var initialEmails: [EmailAddress]
    package var phoneNumbers: [String]
    package var federated: [(provider: ProviderID, subject: String)]

    package init(
        accounts: [AccountID] = [],
        emails: [EmailAddress] = [],
        initialEmails: [EmailAddress] = [],
        phoneNumbers: [String] = [],
        federated: [(provider: ProviderID, subject: String)] = []
    ) {
        self.accounts = accounts
        self.emails = emails
        self.initialEmails = initialEmails
        self.phoneNumbers = phoneNumbers
        self.federated = federated
    }

    fileprivate var count: Int {
        accounts.count + emails.count + initialEmails.count + phoneNumbers.count + federated.count
    }
}

/// An account as in a download, including the password hash.
package struct ListedAccount: Sendable {
    package var account: Account
    package var password: StoredPassword?
}

extension AccountStore {
    /// The accounts that the selectors match, each once, in the order of the first match, in one statement.
    ///
    /// - Parameter merged: also finds merged accounts, by what they still hold.
    package func find(
        _ selectors: AccountSelectors,
        merged: Bool = false,
        in scope: Scope
    ) async throws -> [Account] {
        let question = SelectorsQuestion(scope: scope, selectors: selectors, merged: merged)
        // Most name one account, a phone number in its spellings. A long list delays nobody else.
        guard selectors.count > 4 else { return try await selectorReads.answer(to: question, for: nil) }
        return try await Self.find([question], shared: batches, database.repeating).first?.get() ?? []
    }

    /// A page of accounts ordered by ID, starting after `after`.
    ///
    /// - Parameters:
    ///   - limit: 1 to 1000.
    ///   - exportedAt: set if the admin also gets the password hashes, which is recorded.
    package func list(
        after: AccountID?,
        limit: Int,
        exportedAt: Date? = nil,
        in scope: Scope
    ) async throws -> [ListedAccount] {
        let audit: SQL =
            exportedAt.map { date in
                ", audit AS (\(sql: AuditEntry(.accountsExported, in: scope, at: date).insertion()))"
            } ?? ""
        let rest: SQL = """
            project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
            AND account > \(after?.rawValue ?? "")
            """
        let ofPage: SQL = "\(sql: rest) AND account <= (SELECT account FROM last) ORDER BY account"
        // The page ends at an account, so that each table is read once, along its key: a third less than by account. A full
        // join is merged or hashed; others may compare each account with each row, if the planner expects one.
        return try await database.query(
            """
            WITH last AS MATERIALIZED (
                SELECT max(account) AS account FROM (
                    SELECT account FROM (
                        SELECT account FROM accounts WHERE \(sql: rest) AND merged_into IS NULL
                        ORDER BY account LIMIT 1000
                    ) a ORDER BY account LIMIT \(limit)
                ) a
            ) \(sql: audit)
            SELECT a.account, \(sql: AccountRow.linkedColumns), \(sql: AccountRow.ownColumns),
                \(sql: StoredPassword.columns)
            FROM (SELECT * FROM accounts WHERE merged_into IS NULL AND \(sql: ofPage) OFFSET 0) a
            FULL JOIN (SELECT * FROM account_activity WHERE \(sql: ofPage) OFFSET 0) v ON v.account = a.account
            FULL JOIN (SELECT * FROM linked_credentials WHERE \(sql: ofPage) OFFSET 0) l ON l.account = a.account
            LEFT JOIN (
                SELECT * FROM password_configurations WHERE project = \(scope.project.rawValue) OFFSET 0
            ) k ON k.id = a.password_parameters
            WHERE coalesce(a.account, '') <> ''
            ORDER BY a.account
            """,
            into: ListedAccounts()
        ) { [keyRing] listed, row in try listed.add(&row, of: scope.project, keyRing) }
        .accounts
    }
}

/// A page while its rows are read; values that rows share are decoded once.
private struct ListedAccounts: Sendable {
    private(set) var accounts: [ListedAccount] = []
    private var configurations: [String: PasswordConfiguration] = [:]

    mutating func add(_ row: inout PostgresRow, of project: ProjectID, _ keyRing: KeyRing) throws {
        let id: String = try row.next()
        let credential = try AccountRow.decodeLinked(&row)
        if accounts.last?.account.id.rawValue != id {
            let account = try AccountRow.decodeOwn(&row)
            let password = try StoredPassword.decode(&row, of: project, keyRing, &configurations)
            accounts.append(ListedAccount(account: account, password: password))
        }
        if let credential { accounts[accounts.count - 1].account.add([credential]) }
    }
}
