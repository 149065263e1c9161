import Migrations
import Postgres
import TestKit
import Testing

@Suite("Migrations: the runner")
struct MigratorTests {
    private static let first = Migration(
        name: "20260101T000000_a",
        sql: ["CREATE TABLE a (x INT)", "INSERT INTO a VALUES (1)"]
    )
    private static let second = Migration(name: "20260102T000000_b", sql: ["ALTER TABLE a ADD COLUMN y INT"])
    private static let outside = Migration(
        name: "20260103T000000_c",
        sql: ["DROP INDEX CONCURRENTLY IF EXISTS a_x_idx", "CREATE INDEX CONCURRENTLY a_x_idx ON a (x)"],
        transactional: false
    )
    private static let failing = Migration(
        name: "20260104T000000_d",
        sql: ["CREATE TABLE d (x INT)", "INSERT INTO a VALUES ('not a number'::text::int)"]
    )

    /// Gives a client for an empty schema.
    private func withClient(_ body: (PostgresClient) async throws -> Void) async throws {
        let client = PostgresClient(quietly: .migrating(TestDatabase.current.conninfo))
        try await client.execute("DROP SCHEMA public CASCADE")
        try await client.execute("CREATE SCHEMA public")
        try await body(client)
        await client.close()
    }

    private func tables(_ client: PostgresClient) async throws -> [String] {
        try await client.query("SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' ORDER BY 1") {
            try $0.next()
        }
    }

    @Test(.database) func appliesEachStepOnceInOrder() async throws {
        try await withClient { client async throws in
            #expect(try await Migrator(client, migrations: [Self.first]).migrate() == [Self.first.name])
            let migrator = Migrator(client, migrations: [Self.first, Self.second, Self.outside])
            #expect(try await migrator.plan().map(\.name) == [Self.second.name, Self.outside.name])
            #expect(try await migrator.migrate() == [Self.second.name, Self.outside.name])
            #expect(try await migrator.migrate() == [])
            #expect(try await migrator.plan().isEmpty)
            #expect(try await client.query("SELECT count(*) FROM a") { try $0.next() } == [1])
            #expect(
                try await client.query("SELECT name FROM schema_migrations WHERE position > 0 ORDER BY position") {
                    try $0.next()
                } == [Self.first.name, Self.second.name, Self.outside.name]
            )
        }
    }

    @Test(.database) func aDistributionPlacesEveryTable() async throws {
        try await withClient { client in
            try await Migrator(client).migrate()
            let made = try await client.query(
                """
                SELECT relname::text FROM pg_class
                WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
                """
            ) { try $0.next(String.self) }
            let placed = Distribution.replicated + Distribution.spread
            #expect(Set(placed) == Set(made).subtracting(["schema_migrations"]) && placed.count == Set(placed).count)
            // What is spread has its project in its key; what has none is on every machine.
            let keyed = try await client.query(
                """
                SELECT DISTINCT c.relname::text FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid AND i.indisunique
                JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey) AND a.attname = 'project'
                WHERE c.relname = ANY (\(Distribution.spread))
                """
            ) { try $0.next(String.self) }
            #expect(Set(keyed) == Set(Distribution.spread))
            #expect(try await !Distribution.isSpread(client))
            await #expect(throws: MigrationError.self) { try await Distribution(client).spread() }
        }
    }

    @Test(.database) func aPlanChangesNothing() async throws {
        try await withClient { client async throws in
            let migrator = Migrator(client, migrations: [Self.first, Self.second])
            #expect(try await migrator.plan().map(\.name) == [Self.first.name, Self.second.name])
            #expect(try await tables(client) == [])
        }
    }

    @Test(.database) func severalStartersApplyEachStepOnce() async throws {
        try await withClient { client async throws in
            let names = try await withThrowingTaskGroup(of: [String].self) { group in
                for _ in 0..<6 {
                    group.addTask {
                        let own = PostgresClient(quietly: .migrating(TestDatabase.current.conninfo))
                        let names = try await Migrator(own, migrations: [Self.first, Self.second, Self.outside])
                            .migrate()
                        await own.close()
                        return names
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(names.sorted() == [Self.first.name, Self.second.name, Self.outside.name])
            #expect(try await client.query("SELECT count(*) FROM a") { try $0.next() } == [1])
        }
    }

    @Test(.database) func refusesADatabaseThatIsNewer() async throws {
        try await withClient { client async throws in
            try await Migrator(client, migrations: [Self.first, Self.second]).migrate()
            let older = Migrator(client, migrations: [Self.first])
            for attempt in [{ _ = try await older.plan() }, { _ = try await older.migrate() }] {
                let error = await #expect(throws: MigrationError.self) { try await attempt() }
                guard case .databaseIsNewer([Self.second.name]) = error else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
            }
        }
    }

    @Test(.database) func refusesADatabaseWithAnotherHistory() async throws {
        try await withClient { client async throws in
            try await Migrator(client, migrations: [Self.first]).migrate()
            let error = await #expect(throws: MigrationError.self) {
                try await Migrator(client, migrations: [Self.second, Self.outside]).migrate()
            }
            guard case .diverged(Self.second.name, Self.first.name) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test(.database) func aFailingStepLeavesNothingBehind() async throws {
        try await withClient { client async throws in
            let migrator = Migrator(client, migrations: [Self.first, Self.second, Self.failing])
            let error = await #expect(throws: MigrationError.self) { try await migrator.migrate() }
            guard case .failed(Self.failing.name, let cause) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(cause.sqlState == "22P02")
            #expect(try await tables(client) == ["a", "schema_migrations"])
            #expect(try await migrator.plan().map(\.name) == [Self.failing.name])
        }
    }

    @Test(.database) func refusesAListOutOfOrder() async throws {
        try await withClient { client async throws in
            await #expect(throws: MigrationError.self) {
                try await Migrator(client, migrations: [Self.second, Self.first]).migrate()
            }
        }
    }

    @Test(
        "a step waits for a lock no longer than those behind it can bear, then lets them pass and tries again",
        .database,
        .timeLimit(.minutes(10)),
        arguments: [true, false]
    )
    func letsOthersPass(isTransactional: Bool) async throws {
        let step = Migration(name: Self.second.name, sql: Self.second.sql, transactional: isTransactional)
        try await withClient { client async throws in
            try await Migrator(client, migrations: [Self.first]).migrate()
            let held = Barrier(2)
            try await withThrowingTaskGroup { group in
                group.addTask {
                    await held.wait()
                    let names = try await Migrator(client, migrations: [Self.first, step]).migrate()
                    #expect(names == [step.name])
                }
                // Such as a backup.
                try await TestDatabase.current.client.transaction { transaction in
                    try await transaction.execute("SELECT FROM a")
                    await held.wait()
                    while try await waiting() == 0 {}
                    let rows = try await TestDatabase.current.client.query("SELECT count(*) FROM a") {
                        try $0.next(Int64.self)
                    }
                    #expect(rows == [1])
                    // It comes again as long as the backup goes on.
                    while try await waiting() == 0 {}
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("what the server still does for a migrator that was killed does not fail the next one", .database)
    func afterKilled() async throws {
        try await withClient { client async throws in
            try await Migrator(client, migrations: [Self.first]).migrate()
            let held = Barrier(2)
            try await withThrowingTaskGroup { group in
                group.addTask {
                    await held.wait()
                    // Of its statements, the last one runs on without it.
                    _ = try? await TestDatabase.current.client.execute("CREATE INDEX CONCURRENTLY a_x_idx ON a (x)")
                }
                group.addTask {
                    while try await waiting() == 0 {}
                    // It finds no index to drop, and waits as well.
                    let names = try await Migrator(client, migrations: [Self.first, Self.outside]).migrate()
                    #expect(names == [Self.outside.name])
                }
                // Such as autovacuum.
                try await TestDatabase.current.client.transaction { transaction in
                    try await transaction.execute("LOCK TABLE a IN SHARE UPDATE EXCLUSIVE MODE")
                    await held.wait()
                    while try await waiting() < 2 {}
                }
                try await group.waitForAll()
            }
            let indexes: SQL = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'a_x_idx'::regclass"
            #expect(try await client.query(indexes) { try $0.next(Bool.self) } == [true])
        }
    }

    /// Those who wait for a lock on the table.
    private func waiting() async throws -> Int64 {
        try await TestDatabase.current.client.query(
            "SELECT count(*) FROM pg_locks WHERE relation = 'a'::regclass AND NOT granted"
        ) { try $0.next(Int64.self) }.first ?? 0
    }

    @Test func theSchemasStepsTakeNothingFromTheReleaseBefore() throws {
        let taking = /DROP (COLUMN|TABLE|CONSTRAINT)|RENAME|SET NOT NULL|ALTER COLUMN \w+ (SET DATA )?TYPE/
        for step in Schema.all {
            for sql in step.sql { #expect(sql.text.firstMatch(of: taking) == nil, "\(step.name)") }
        }
    }

    /// Makes the schema as a program of before the first release left it, with some of its migrations noted.
    private func makeEarlier(
        _ client: PostgresClient,
        from first: String = "20261121T000000_createSchema",
        upTo last: String
    ) async throws -> Migration.Earlier {
        try await Migrator(client).migrate()
        for sql: SQL in [
            "ALTER TABLE sessions ADD COLUMN code_hash bytea, ADD COLUMN code_until timestamptz",
            "ALTER TABLE oob_codes ADD COLUMN phone_number text", "DROP INDEX outbox_given_up_idx",
            "ALTER TABLE signing_keys ADD COLUMN retired_at timestamptz",
        ] where first != last {
            try await client.execute(sql)
        }
        for (table, rest) in [
            ("accounts", ""), ("account_activity", ""), ("linked_credentials", ", provider"), ("sessions", ", session"),
            ("detached_credentials", ", version, provider"),
        ] as [(SQL, SQL)] {
            try await client.execute("ALTER TABLE \(sql: table) DROP CONSTRAINT \(sql: table)_pkey")
            try await client.execute("ALTER TABLE \(sql: table) ADD PRIMARY KEY (project, account\(sql: rest))")
        }
        for sql: SQL in [
            "ALTER TABLE account_activity DROP COLUMN tenant", "ALTER TABLE device_codes DROP COLUMN tenant",
            "DROP INDEX accounts_disabled_at_idx, account_passkeys_account_idx, account_merges_survivor_idx",
            "DROP INDEX sessions_active_idx, sessions_granted_idx, sessions_revoked_at_idx, audit_log_account_idx",
            "CREATE INDEX audit_log_account_idx ON audit_log (project, account, recorded_at, entry)",
            "CREATE INDEX accounts_tenant_idx ON accounts (project, tenant, account) WHERE tenant <> ''",
            "CREATE INDEX accounts_disabled_at_idx ON accounts (project, disabled_at, account)",
            "CREATE INDEX account_passkeys_account_idx ON account_passkeys (project, account)",
            "CREATE INDEX account_merges_survivor_idx ON account_merges (project, survivor)",
            "CREATE INDEX sessions_active_idx ON sessions (project, account, auth_time)",
            "CREATE INDEX sessions_granted_idx ON sessions (project, client, account, session)",
            "CREATE INDEX sessions_revoked_at_idx ON sessions (project, revoked_at, account, session)",
        ] {
            try await client.execute(sql)
        }
        let earlier = try #require(Schema.createSchema.earlier.first { $0.first == first })
        try await client.execute("UPDATE schema_migrations SET name = \(earlier.first) WHERE position = 1")
        if first != last { try await client.execute("INSERT INTO schema_migrations VALUES (2, \(last), now())") }
        return earlier
    }

    @Test(
        "the migrations of before the first release become the one that has their schema, and what they held stays",
        .database,
        arguments: Schema.createSchema.earlier.map { [$0.first, $0.last] }
    )
    func takesOver(_ series: [String]) async throws {
        try await withClient { client async throws in
            let earlier = try await makeEarlier(client, from: series[0], upTo: series[1])
            try await client.execute("INSERT INTO tenants VALUES ('p', 't', NULL, false, '{}', now())")
            try await client.execute(
                """
                INSERT INTO accounts (project, tenant, account, valid_since, created_at)
                VALUES ('p', '', 'ada', 1, now()), ('p', 't', 'bob', 1, now())
                """
            )
            try await client.execute(
                """
                INSERT INTO account_activity (project, account, last_sign_in_at)
                VALUES ('p', 'ada', now()), ('p', 'bob', now()), ('p', 'nobody', now())
                """
            )
            #expect(try await Migrator(client).plan().map(\.name) == [Schema.createSchema.name])
            #expect(try await Migrator(client).migrate() == [Schema.createSchema.name])
            #expect(try await Migrator(client).migrate() == [])
            #expect(try await Migrator(client).hasAll())
            #expect(try await Migrator.fingerprint(client) == earlier.fingerprint, "as `pg_dump -s` had it")
            #expect(try await client.query("SELECT count(*) FROM tenants") { try $0.next() } == [1])
            let active = try await client.query("SELECT tenant || '/' || account FROM account_activity ORDER BY 1") {
                try $0.next(String.self)
            }
            #expect(active == ["/ada", "t/bob"])
        }
    }

    @Test("those that are not all there, or whose schema was changed, are refused by name; nothing changes", .database)
    func refusesToTakeOver() async throws {
        try await withClient { client async throws in
            let earlier = try await makeEarlier(client, upTo: "20261125T080000_indexInitialEmails")
            let unfinished = await #expect(throws: MigrationError.self) { try await Migrator(client).migrate() }
            #expect("\(unfinished.map { "\($0)" } ?? "")".contains("20261125T080000_indexInitialEmails"))
            try await client.execute("UPDATE schema_migrations SET name = \(earlier.last) WHERE position = 2")
            try await client.execute("CREATE INDEX own_idx ON accounts (display_name)")
            let changed = await #expect(throws: MigrationError.self) { try await Migrator(client).migrate() }
            #expect("\(changed.map { "\($0)" } ?? "")".contains("pg_dump -s"))
            let names = try await client.query(
                "SELECT name FROM schema_migrations WHERE position > 0 ORDER BY position"
            ) {
                try $0.next(String.self)
            }
            #expect(names == [earlier.first, earlier.last])
            #expect(
                try await client.query("SELECT retired_at::text FROM signing_keys") { try $0.next(String?.self) } == []
            )
        }
    }

    @Test func theSchemasStepsAreNamedByTheirTime() throws {
        #expect(Schema.all.map(\.name) == Schema.all.map(\.name).sorted())
        for step in Schema.all {
            #expect(step.name.wholeMatch(of: /\d{8}T\d{6}_[a-z][A-Za-z0-9]*/) != nil, "\(step.name)")
        }
    }
}
