package import Linking
import Passwords
import Postgres
package import Projects

/// How an admin names accounts; an account that any selector names is found, once.
package struct AccountSelectors: Sendable {
    package var accounts: [AccountID]
    package var emails: [EmailAddress]
    package var phoneNumbers: [String]
    package var federated: [(provider: ProviderID, subject: String)]

    package init(
        accounts: [AccountID] = [],
        emails: [EmailAddress] = [],
        phoneNumbers: [String] = [],
        federated: [(provider: ProviderID, subject: String)] = []
    ) {
        self.accounts = accounts
        self.emails = emails
        self.phoneNumbers = phoneNumbers
        self.federated = federated
    }
}

/// An account as a download shows it, password hash included.
package struct ListedAccount: Sendable {
    package var account: Account
    package var password: StoredPassword?
}

extension AccountStore {
    /// The accounts that the selectors name, ordered by id: one statement.
    package func find(_ selectors: AccountSelectors, in scope: Scope) async throws -> [Account] {
        let rows = try await database.query(
            """
            SELECT \(sql: AccountRow.columns)
            FROM accounts a \(sql: AccountRow.joins)
            WHERE a.project = \(scope.project.rawValue) AND a.tenant = \(scope.tenant.rawValue) AND a.account IN (
                SELECT unnest(\(selectors.accounts.map(\.rawValue))::text[])
                UNION
                SELECT account FROM account_emails
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND email_key = ANY(\(selectors.emails.map(\.canonical)))
                UNION
                SELECT account FROM account_phones
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND phone_number = ANY(\(selectors.phoneNumbers))
                UNION
                SELECT c.account
                FROM unnest(\(selectors.federated.map(\.provider.rawValue))::text[],
                    \(selectors.federated.map(\.subject))::text[]) f (provider, subject)
                JOIN credential_subjects c ON c.project = \(scope.project.rawValue)
                    AND c.tenant = \(scope.tenant.rawValue) AND c.provider = f.provider AND c.subject = f.subject
            )
            ORDER BY a.account
            """,
            AccountRow.decode
        )
        return AccountRow.merge(rows)
    }

    /// A page of accounts ordered by id, beginning after `after`.
    ///
    /// - Parameter limit: 1 to 1000.
    package func list(after: AccountID?, limit: Int, in scope: Scope) async throws -> [ListedAccount] {
        let rows = try await database.query(
            """
            SELECT \(sql: AccountRow.columns), a.password_hash, a.password_salt, a.password_parameters
            FROM (
                SELECT * FROM accounts
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND account > \(after?.rawValue ?? "")
                ORDER BY account LIMIT \(limit)
            ) a \(sql: AccountRow.joins)
            ORDER BY a.account
            """
        ) { row in (try AccountRow.decode(&row), try StoredPassword.decode(&row)) }
        var passwords: [AccountID: StoredPassword] = [:]
        for (account, password) in rows { passwords[account.id] = password }
        return AccountRow.merge(rows.map(\.0)).map { ListedAccount(account: $0, password: passwords[$0.id]) }
    }
}
