package import Postgres

/// The database of the suite that runs, made for it and dropped after it.
package struct TestDatabase: Sendable {
    /// For a program that connects by itself.
    package let conninfo: String
    package let client: PostgresClient
    /// Whether no other test uses it.
    package let isOfOneTest: Bool

    @TaskLocal static var scoped: TestDatabase?

    /// The database of the suite or test with the trait `.database`.
    package static var current: TestDatabase {
        guard let scoped else { preconditionFailure("the suite lacks the trait .database") }
        return scoped
    }
}

extension TestDatabase {
    /// Runs a `VACUUM` once nobody looks at the database as it was before: such a look, as autovacuum's `ANALYZE` of any
    /// table has it, would keep it from marking pages as all visible.
    package func vacuum(_ statement: SQL) async throws {
        let last = try await client.query("SELECT pg_current_xact_id()::text") { try $0.next(String.self) }[0]
        try await waitUntil {
            try await client.query(
                """
                SELECT pg_snapshot_xmin(pg_current_snapshot()) > \(last)::xid8 AND NOT EXISTS (
                    SELECT FROM pg_stat_activity WHERE datname = current_database()
                        AND age(backend_xmin) > age(\(last)::xid8::xid)
                )
                """
            ) { try $0.next(Bool.self) } == [true]
        }
        try await client.execute(statement)
    }

    /// An empty database on the same server, without a schema; dropped afterwards.
    package static func withEmpty<R>(_ body: (String) async throws -> R) async throws -> R {
        let (name, conninfo) = try await TestServer.shared.makeEmptyDatabase()
        do {
            let result = try await body(conninfo)
            try await TestServer.shared.dropDatabase(name)
            return result
        } catch {
            try? await TestServer.shared.dropDatabase(name)
            throw error
        }
    }

    /// A migrated database besides the suite's own; dropped afterwards.
    package static func withAnother<R>(_ body: (String) async throws -> R) async throws -> R {
        let (name, conninfo) = try await TestServer.shared.makeDatabase()
        do {
            let result = try await body(conninfo)
            try await TestServer.shared.dropDatabase(name)
            return result
        } catch {
            try? await TestServer.shared.dropDatabase(name)
            throw error
        }
    }
}

extension TestDatabase {
    /// A role that may read and write rows and owns nothing, as `identity_service` of docs/operations/production.md.
    package static func withServiceRole<R>(
        _ database: PostgresClient,
        _ body: (String) async throws -> R
    ) async throws -> R {
        let role = "service_\(UInt32.random(in: 0...UInt32.max))"
        func drop() async throws {
            try await database.execute("DROP OWNED BY \(identifier: role)")
            try await database.execute("DROP ROLE \(identifier: role)")
        }
        try await database.execute("CREATE ROLE \(identifier: role)")
        try await database.execute(
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO \(identifier: role)"
        )
        do {
            let result = try await body(role)
            try await drop()
            return result
        } catch {
            try? await drop()
            throw error
        }
    }
}
