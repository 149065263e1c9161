package import Logging
package import Postgres

/// Applies migrations to a database, one by one.
///
/// Several can run at the same time: row 0 of `schema_migrations` is locked while a migration runs, and each migrator
/// checks what is left after it got the lock.
package struct Migrator: Sendable {
    private let client: PostgresClient
    private let migrations: [Migration]
    private let logger: Logger?
    /// How long to wait for another migrator in total.
    private let patience: Duration

    /// - Parameter client: without time limits if migrations take long; ``PostgresClient/Configuration/migrating(_:)``.
    package init(
        _ client: PostgresClient,
        migrations: [Migration] = Schema.all,
        logger: Logger? = nil,
        patience: Duration = .seconds(300)
    ) {
        self.client = client
        self.migrations = migrations
        self.logger = logger
        self.patience = patience
    }

    /// The migrations that the database lacks; changes nothing.
    ///
    /// - Throws: ``MigrationError``, or ``PostgresError`` if the database cannot be queried.
    package func plan() async throws -> [Migration] {
        guard try await hasBookkeeping() else { return try pending(applied: []) }
        return try pending(applied: try await applied(client))
    }

    /// Whether the database has all migrations of this program; one that a newer release has migrated has more, and
    /// works with both.
    package func hasAll() async throws -> Bool {
        do {
            return try await plan().isEmpty
        } catch MigrationError.databaseIsNewer {
            return true
        }
    }

    /// Applies the migrations that the database lacks.
    ///
    /// - Returns: the names of those that this call applied, not another migrator's.
    /// - Throws: ``MigrationError``, or ``PostgresError`` if the database cannot be reached.
    @discardableResult
    package func migrate() async throws -> [String] {
        guard try await !plan().isEmpty else { return [] }
        if try await !hasBookkeeping() { try await createBookkeeping() }
        var names: [String] = []
        let deadline = ContinuousClock.now + patience
        while true {
            do {
                guard let name = try await applyNext() else { return names }
                logger?.notice("Applied a migration", metadata: ["migration.name": "\(name)"])
                names.append(name)
            } catch let error as LockUnavailable {
                guard ContinuousClock.now < deadline else { throw error.reason }
                logger?.debug("A migration is waiting for a lock", metadata: ["error": "\(error.reason)"])
                try await Task.sleep(for: error.pause)
            }
        }
    }

    /// Another connection holds a required lock; the migration changed nothing, or starts again.
    private struct LockUnavailable: Error {
        /// The error after the maximum wait.
        var reason: MigrationError
        var pause: Duration
    }

    /// How long a statement that locks a table waits for other users of it.
    ///
    /// Later statements on the table wait behind it, so this is their delay; then they have a second before the next
    /// attempt.
    private static let lockTimeout: SQL = "SET LOCAL lock_timeout = '200ms'"

    /// Applies one migration under the lock.
    ///
    /// - Returns: its name, or nil if none is left.
    private func applyNext() async throws -> String? {
        try await client.transaction { transaction in
            do {
                // Waiting for a lock holds a snapshot, and CREATE INDEX CONCURRENTLY waits for those.
                try await transaction.execute("SELECT name FROM schema_migrations WHERE position = 0 FOR UPDATE NOWAIT")
            } catch let error as PostgresError where error.code == .timeout {
                throw LockUnavailable(reason: .locked, pause: .milliseconds(100))
            }
            let applied = try await applied(transaction)
            guard let step = try pending(applied: applied).first else { return nil }
            if let earlier = step.earlier(startingWith: applied.first) {
                try await takeOver(earlier, as: step, transaction)
                return step.name
            }
            do {
                if step.transactional {
                    try await transaction.execute(Self.lockTimeout)
                    for sql in step.sql { try await transaction.execute(sql) }
                } else {
                    try await runOutside(step, of: transaction)
                }
            } catch let error as PostgresError {
                let failure = MigrationError.failed(step: step.name, error)
                // The server may still be running the last statement of a migrator that was killed: that is in the way
                // (40P01), or makes what this one found missing (42P07).
                let isOfKilled = !step.transactional && ["40001", "40P01", "42P07"].contains(error.sqlState)
                guard error.sqlState == "55P03" || isOfKilled else { throw failure }
                throw LockUnavailable(reason: failure, pause: .seconds(1))
            }
            try await transaction.execute(
                """
                INSERT INTO schema_migrations (position, name, applied_at)
                VALUES (\(applied.count + 1)::int, \(step.name), now())
                """
            )
            return step.name
        }
    }

    /// Notes the one migration in place of the earlier ones, whose schema the database has.
    private func takeOver(
        _ earlier: Migration.Earlier,
        as step: Migration,
        _ transaction: PostgresTransaction
    ) async throws {
        try await transaction.execute(Self.lockTimeout)
        do {
            for sql in earlier.sql { try await transaction.execute(sql) }
        } catch let error as PostgresError {
            let failure = MigrationError.failed(step: step.name, error)
            guard error.sqlState == "55P03" else { throw failure }
            throw LockUnavailable(reason: failure, pause: .seconds(1))
        }
        // How a default of bytes is written.
        try await transaction.execute("SET LOCAL bytea_output = 'hex'")
        guard try await Self.fingerprint(transaction) == earlier.fingerprint else { throw MigrationError.changed }
        try await transaction.execute("DELETE FROM schema_migrations WHERE position > 0")
        try await transaction.execute(
            "INSERT INTO schema_migrations (position, name, applied_at) VALUES (1, \(step.name), now())"
        )
    }

    /// Tells schemas apart by their tables, columns, checks and indexes, except the audit log's partitions.
    package static func fingerprint(_ executor: some PostgresExecutor) async throws -> String {
        try await executor.query(
            """
            WITH tables AS (
                SELECT c.oid, c.relname, c.relnamespace::regnamespace::text || '.' AS prefix
                FROM pg_class c JOIN pg_class own ON own.relnamespace = c.relnamespace
                WHERE own.oid = 'schema_migrations'::regclass AND c.oid <> own.oid
                    AND c.relkind IN ('r', 'p') AND NOT c.relispartition
            ), facts AS (
                SELECT concat_ws(' ', t.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
                    pg_get_expr(d.adbin, d.adrelid)) AS fact
                FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
                LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
                UNION ALL
                SELECT pg_get_constraintdef(c.oid) FROM tables t JOIN pg_constraint c ON c.conrelid = t.oid
                WHERE c.contype = 'c'
                UNION ALL
                SELECT replace(pg_get_indexdef(i.indexrelid), t.prefix, '')
                FROM tables t JOIN pg_index i ON i.indrelid = t.oid
            )
            SELECT md5(string_agg(fact, ';' ORDER BY fact COLLATE "C")) FROM facts
            """
        ) { try $0.next(String.self) }[0]
    }

    /// Runs a migration on other connections, while the transaction keeps the lock.
    private func runOutside(_ step: Migration, of transaction: PostgresTransaction) async throws {
        guard client.connections > 1 else { throw MigrationError.tooFewConnections }
        // Only ends the previous statement, whose snapshot lives until then.
        try await transaction.execute("SHOW transaction_isolation")
        try await withThrowingTaskGroup { group in
            group.addTask {
                for sql in step.sql {
                    // It blocks nothing, and waits for everything that started before it.
                    if sql.text.contains("CONCURRENTLY") {
                        try await client.execute(sql)
                    } else {
                        try await client.transaction { own in
                            try await own.execute(Self.lockTimeout)
                            try await own.execute(sql)
                        }
                    }
                }
            }
            group.addTask {
                // A transaction that is idle for too long is rolled back.
                while true {
                    try await Task.sleep(for: .seconds(2))
                    try await transaction.execute("SHOW transaction_isolation")
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    // MARK: Bookkeeping

    private func hasBookkeeping() async throws -> Bool {
        try await client.query("SELECT to_regclass('schema_migrations') IS NOT NULL") { try $0.next() } == [true]
    }

    private func createBookkeeping() async throws {
        do {
            try await client.transaction { transaction in
                try await transaction.execute(
                    """
                    CREATE TABLE schema_migrations (
                        position INT NOT NULL CONSTRAINT schema_migrations_pkey PRIMARY KEY,
                        name TEXT NOT NULL CONSTRAINT schema_migrations_name_key UNIQUE,
                        applied_at TIMESTAMPTZ NOT NULL
                    )
                    """
                )
                try await transaction.execute(
                    "INSERT INTO schema_migrations (position, name, applied_at) VALUES (0, 'lock', now())"
                )
            }
        } catch let error as PostgresError where ["42P07", "42710", "23505"].contains(error.sqlState) {
            // Another migrator was faster: it created the table, the row type of the same name, or a catalog entry.
        }
    }

    private func applied(_ executor: some PostgresExecutor) async throws -> [String] {
        try await executor.query("SELECT name FROM schema_migrations WHERE position > 0 ORDER BY position") {
            try $0.next()
        }
    }

    /// The migrations after the applied ones, which must match the start of our list.
    private func pending(applied: [String]) throws(MigrationError) -> [Migration] {
        for (earlier, later) in zip(migrations, migrations.dropFirst()) where earlier.name >= later.name {
            throw .unordered(later.name)
        }
        if let earlier = migrations.first?.earlier(startingWith: applied.first) {
            guard applied.last == earlier.last else {
                throw .unfinished(found: applied.last ?? "", last: earlier.last)
            }
            return migrations
        }
        for (ours, theirs) in zip(migrations, applied) where ours.name != theirs {
            throw .diverged(expected: ours.name, found: theirs)
        }
        guard applied.count <= migrations.count else {
            throw .databaseIsNewer(unknown: Array(applied[migrations.count...]))
        }
        return Array(migrations[applied.count...])
    }
}

extension PostgresClient.Configuration {
    /// For migrations: no limit for a migration, which sets its own limit for blocking others.
    package static func migrating(_ conninfo: String, engine: DatabaseEngine = .postgresql) -> Self {
        Self(conninfo: conninfo, engine: engine, connections: 2, statementTimeout: nil, lockTimeout: nil)
    }
}
