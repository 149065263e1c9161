package import Postgres

/// Spreads the tables over the machines of a Citus cluster: what belongs to a project's users lies on one machine, what
/// configures the deployment on all of them.
///
/// Whatever the product writes about one account has its project in its key (``Schema``), so all of it has one place.
package struct Distribution: Sendable {
    private let client: PostgresClient

    /// - Parameter client: without time limits; ``PostgresClient/Configuration/migrating(_:engine:)``.
    package init(_ client: PostgresClient) { self.client = client }

    /// Small tables that change rarely and are read with everything: each machine has a copy.
    package static let replicated = [
        "configuration", "projects", "tenants", "provider_configurations", "api_keys", "password_configurations",
        "signing_keys", "admin_credentials", "console_sessions",
    ]

    /// Tables whose rows lie where their project does.
    package static let spread = [
        "accounts", "account_emails", "account_phones", "account_passkeys", "account_activity", "account_merges",
        "linked_credentials", "credential_subjects", "detached_credentials", "kept_names", "provider_events",
        "sessions",
        "flows", "pending_credentials", "oob_codes", "verification_codes", "device_codes", "used_id_tokens",
        "rate_limits", "outbox", "audit_log", "sign_in_counts",
        "oauth_clients", "ended_clients",
    ]

    /// Whether the database has its tables spread.
    package static func isSpread(_ executor: some PostgresExecutor) async throws -> Bool {
        guard try await hasCitus(executor) else { return false }
        return try await placed(executor).contains("accounts")
    }

    /// Spreads the tables that are not yet, with what is in them, in one transaction.
    ///
    /// Writers wait for it.
    ///
    /// - Returns: the tables' names.
    /// - Throws: ``MigrationError/noCitus``; ``PostgresError``.
    @discardableResult
    package func spread() async throws -> [String] {
        guard try await Self.hasCitus(client) else { throw MigrationError.noCitus }
        return try await client.transaction { transaction in
            // Each table is copied through the connections of the one before.
            try await transaction.execute("SET LOCAL citus.multi_shard_modify_mode = 'sequential'")
            try await transaction.execute("SELECT name FROM schema_migrations WHERE position = 0 FOR UPDATE")
            let placed = try await Self.placed(transaction)
            // A project is moved by logical replication, which takes no unlogged table.
            let unlogged = try await transaction.query(
                "SELECT relname::text FROM pg_class WHERE relname = ANY (\(Self.spread)) AND relpersistence = 'u'"
            ) { try $0.next(String.self) }
            for table in unlogged { try await transaction.execute("ALTER TABLE \(identifier: table) SET LOGGED") }
            for table in Self.replicated where !placed.contains(table) {
                try await transaction.execute("SELECT create_reference_table(\(table)::text::regclass)")
            }
            for table in Self.spread where !placed.contains(table) {
                let other = table == Self.spread[0] ? "none" : Self.spread[0]
                try await transaction.execute(
                    "SELECT create_distributed_table(\(table)::text::regclass, 'project', colocate_with := \(other))"
                )
            }
            return (Self.replicated + Self.spread).filter { !placed.contains($0) }
        }
    }

    private static func hasCitus(_ executor: some PostgresExecutor) async throws -> Bool {
        try await executor.query("SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')") {
            try $0.next(Bool.self)
        } == [true]
    }

    /// The tables that Citus knows.
    private static func placed(_ executor: some PostgresExecutor) async throws -> Set<String> {
        let names = try await executor.query(
            """
            SELECT c.relname::text FROM pg_dist_partition d JOIN pg_class c ON c.oid = d.logicalrelid
            JOIN pg_class own ON own.relnamespace = c.relnamespace WHERE own.oid = 'schema_migrations'::regclass
            """
        ) { try $0.next(String.self) }
        return Set(names)
    }
}
