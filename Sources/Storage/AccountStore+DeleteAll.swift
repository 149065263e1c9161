import Postgres
package import Projects

extension AccountStore {
    /// Deletes all accounts of a scope with their sessions, flows, pending credentials, codes and pending messages, in
    /// one transaction.
    ///
    /// For development: test suites call the emulator's `DELETE …/accounts` between tests.
    package func deleteAll(in scope: Scope) async throws {
        try await database.transaction { try await Self.deleteAll(in: scope, $0) }
    }

    /// All tables whose rows belong to a project or tenant, except the configuration's and the audit log's.
    ///
    /// Sessions come before the accounts' activity, as refreshes lock them.
    private static let tables: [SQL] = [
        "account_emails", "account_phones", "account_passkeys", "credential_subjects", "linked_credentials", "sessions",
        "flows", "pending_credentials", "detached_credentials", "provider_events", "kept_names", "outbox", "oob_codes",
        "verification_codes", "account_merges", "accounts", "account_activity",
    ]

    static func deleteAll(in scope: Scope, _ transaction: PostgresTransaction) async throws {
        for table in tables {
            try await transaction.execute(
                """
                DELETE FROM \(sql: table)
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                """
            )
        }
    }
}
