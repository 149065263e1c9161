package import Domain
import Postgres
package import Projects
package import Sessions

package typealias FoundAccount = (account: Account, session: StoredSession?)

struct AccountQuestion: Sendable {
    var scope: Scope
    var account: AccountID
    var session: SessionID?
}

extension AccountStore {
    /// An account and one of its sessions, nil if it does not exist, in one statement shared with other simultaneous
    /// reads.
    package func find(_ account: AccountID, session: SessionID?, in scope: Scope) async throws -> FoundAccount? {
        let question = AccountQuestion(scope: scope, account: account, session: session)
        return try await accountReads.answer(to: question, for: nil)
    }

    static func find(
        _ questions: [AccountQuestion],
        shared: Bool,
        _ database: some PostgresExecutor
    ) async throws -> [Result<FoundAccount?, any Error>] {
        let place = Placement(questions.map(\.scope), shared: shared)
        return try await database.query(
            """
            SELECT n.number, \(sql: AccountRow.columns), \(sql: SessionRow.columns)
            FROM unnest(\(questions.map(\.scope.project.rawValue))::text[],
                \(questions.map(\.scope.tenant.rawValue))::text[], \(questions.map(\.account.rawValue))::text[],
                \(questions.map { $0.session?.rawValue ?? "" })::text[]) WITH ORDINALITY
                n (project, tenant, account, session, number)
            JOIN \(sql: AccountRow.keyed(by: "n", place)) a ON a.merged_into IS NULL
            \(sql: AccountRow.joins(place))
            LEFT JOIN \(sql: SessionRow.keyed(by: "a", session: "n.session", place)) s ON true
            """,
            into: BatchAnswers<FoundAccount?>(repeating: nil, count: questions.count)
        ) { answers, row in
            try answers.read(&row) { found, row in
                let account = try AccountRow.decode(&row)
                if found == nil {
                    found = (account, try SessionRow.decode(&row))
                } else {
                    found?.account.add(account.linked)
                }
            }
        }.results
    }
}

/// A question for the accounts that selectors match.
struct SelectorsQuestion: Sendable {
    var scope: Scope
    var selectors: AccountSelectors
    /// Whether it also means merged accounts.
    var merged: Bool
}

extension AccountStore {
    static func find(
        _ questions: [SelectorsQuestion],
        shared: Bool,
        _ database: some PostgresExecutor
    ) async throws -> [Result<[Account], any Error>] {
        let place = Placement(questions.map(\.scope), shared: shared)
        let project = place.project(of: "n")
        func keys(_ keys: (AccountSelectors) -> [String]) -> SQL {
            let keys = questions.enumerated().flatMap { index, question in
                keys(question.selectors).map { (number: Int64(index + 1), scope: question.scope, key: $0) }
            }
            return """
                \(keys.map(\.number))::int8[], \(keys.map(\.scope.project.rawValue))::text[],
                \(keys.map(\.scope.tenant.rawValue))::text[], \(keys.map(\.key))::text[]
                """
        }
        let subjects = questions.flatMap { $0.selectors.federated.map(\.subject) }
        return try await database.query(
            """
            WITH named AS (
                SELECT n.number, n.project, n.tenant, n.key AS account, 1 AS kind, n.place
                FROM unnest(\(sql: keys { $0.accounts.map(\.rawValue) })) WITH ORDINALITY
                    n (number, project, tenant, key, place)
                UNION ALL
                SELECT n.number, n.project, n.tenant, e.account, 2, n.place
                FROM unnest(\(sql: keys { $0.emails.map(\.canonical) })) WITH ORDINALITY
                    n (number, project, tenant, key, place)
                JOIN account_emails e ON e.project = \(sql: project) AND e.tenant = n.tenant AND e.email_key = n.key
                UNION ALL
                SELECT n.number, n.project, n.tenant, p.account, 3, n.place
                FROM unnest(\(sql: keys(\.phoneNumbers))) WITH ORDINALITY n (number, project, tenant, key, place)
                JOIN account_phones p ON p.project = \(sql: project) AND p.tenant = n.tenant AND p.phone_number = n.key
                UNION ALL
                SELECT n.number, n.project, n.tenant, c.account, 4, n.place
                FROM unnest(\(sql: keys { $0.federated.map(\.provider.rawValue) }), \(subjects)::text[]) WITH ORDINALITY
                    n (number, project, tenant, provider, subject, place)
                JOIN credential_subjects c ON c.project = \(sql: project) AND c.tenant = n.tenant AND c.provider = n.provider
                    AND c.subject = n.subject
                UNION ALL
                SELECT n.number, n.project, n.tenant, a.account, 5, n.place
                FROM unnest(\(sql: keys { $0.initialEmails.map(\.canonical) })) WITH ORDINALITY
                    n (number, project, tenant, key, place)
                JOIN accounts a ON a.project = \(sql: project) AND a.tenant = n.tenant AND a.initial_email = n.key
                    AND a.initial_email IS NOT NULL
            ), first AS (
                SELECT DISTINCT ON (number, account) * FROM named ORDER BY number, account, kind, place
            )
            SELECT f.number, \(sql: AccountRow.columns)
            FROM first f
            JOIN \(sql: AccountRow.keyed(by: "f", place)) a
                ON a.merged_into IS NULL OR (\(questions.map(\.merged))::bool[])[f.number]
            \(sql: AccountRow.joins(place))
            ORDER BY f.number, f.kind, f.place, f.account
            """,
            into: BatchAnswers<[Account]>(repeating: [], count: questions.count)
        ) { answers, row in
            try answers.read(&row) { found, row in
                let account = try AccountRow.decode(&row)
                if found.last?.id == account.id {
                    found[found.count - 1].add(account.linked)
                } else {
                    found.append(account)
                }
            }
        }.results
    }
}
