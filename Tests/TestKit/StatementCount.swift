import Postgres

/// Counts what the programs of the suite's database ask their server, with pg_stat_statements.
package struct StatementCount: Sendable {
    /// Each statement and how often it came; the server writes the text of one with or without its constants.
    package let statements: [(id: Int64, text: String, calls: Int, rows: Int)]

    /// The rows that they read or wrote, as far as they say.
    package var rows: Int { statements.reduce(0) { $0 + $1.rows } }

    package var total: Int { statements.reduce(0) { $0 + $1.calls } }

    /// Without the other's statements.
    package func without(_ other: StatementCount) -> StatementCount {
        let ids = Set(other.statements.map(\.id))
        return StatementCount(statements: statements.filter { !ids.contains($0.id) })
    }

    /// What `operation` asks; nothing else may use the database meanwhile.
    ///
    /// - Throws: ``StatementsUncounted`` when the server isn't set up for it.
    package static func during<R>(_ operation: () async throws -> R) async throws -> (count: StatementCount, result: R)
    {
        let client = TestDatabase.current.client
        do {
            try await client.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
            let track: [String] = try await client.query(
                "SELECT setting FROM pg_settings WHERE name = 'pg_stat_statements.track'"
            ) { try $0.next() }
            guard track == ["all"] else { throw StatementsUncounted() }
            _ = try await client.query(
                "SELECT pg_stat_statements_reset(0, oid, 0)::text FROM pg_database WHERE datname = current_database()"
            ) { try $0.next(String?.self) }
        } catch is PostgresError {
            throw StatementsUncounted()
        }
        let result = try await operation()
        let statements: [(id: Int64, text: String, calls: Int, rows: Int)] = try await client.query(
            """
            SELECT queryid, query, calls, rows FROM pg_stat_statements
            WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
            ORDER BY query
            """
        ) { row in
            (
                id: try row.next(), text: try row.next(), calls: Int(try row.next(Int64.self)),
                rows: Int(try row.next(Int64.self))
            )
        }
        return (StatementCount(statements: statements.filter { !isOurs($0.text) }), result)
    }

    /// Our own, the settings of a new connection, what begins and ends transactions, and the node's look twice a second whether its configuration has changed.
    private static func isOurs(_ text: String) -> Bool {
        text.contains("pg_stat_statements") || text.hasPrefix("SELECT set_config(")
            || text.hasPrefix("BEGIN") || text == "COMMIT" || text == "ROLLBACK"
            || text == "SELECT version, epoch FROM configuration"
    }
}

extension StatementCount: CustomStringConvertible {
    package var description: String {
        statements.map { "\($0.calls) × \($0.text.split(separator: "\n").joined(separator: " ").prefix(160))" }
            .joined(separator: "\n")
    }
}

package struct StatementsUncounted: Error, CustomStringConvertible {
    package let description = """
        statements cannot be counted on the server of DATABASE_URL: start it with \
        shared_preload_libraries=pg_stat_statements and pg_stat_statements.track=all, as scripts/with-postgres does
        """
}
