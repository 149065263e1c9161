package import Postgres

extension PostgresClient {
    /// Whether the database accepts writes: not during recovery, and not with `default_transaction_read_only`.
    ///
    /// - Throws: ``Postgres/PostgresError``.
    package func acceptsWrites() async throws -> Bool {
        try await query("SELECT current_setting('transaction_read_only') = 'off'") { try $0.next(Bool.self) } == [true]
    }
}
