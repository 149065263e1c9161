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
        _ database: some PostgresExecutor
    ) async throws -> [Result<FoundAccount?, any Error>] {
        try await database.query(
            """
            SELECT n.number, \(sql: AccountRow.columns), \(sql: SessionRow.columns)
            FROM unnest(\(questions.map(\.scope.project.rawValue))::text[],
                \(questions.map(\.scope.tenant.rawValue))::text[], \(questions.map(\.account.rawValue))::text[],
                \(questions.map { $0.session?.rawValue ?? "" })::text[]) WITH ORDINALITY
                n (project, tenant, account, session, number)
            JOIN \(sql: AccountRow.keyed(project: "n.project", account: "n.account")) a
                ON a.tenant = n.tenant AND a.merged_into IS NULL
            \(sql: AccountRow.joins)
            LEFT JOIN \(sql: SessionRow.keyed(project: "a.project", account: "a.account", session: "n.session")) s ON true
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
