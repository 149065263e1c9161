/// A transaction on its own connection; statements after its end fail with `transactionEnded`.
package final class PostgresTransaction: PostgresExecutor {
    private let lease: Lease

    init(_ lease: Lease) { self.lease = lease }

    /// Sends a statement with the next one that has a result, or with COMMIT, in the same round trip.
    ///
    /// What it throws, that one throws.
    ///
    /// - Parameter rows: how many it must affect or return, else the next one throws ``PostgresError/noSuchRow``; with COMMIT
    ///   that is too late.
    package func write(_ sql: SQL, affecting rows: Int? = nil) {
        lease.write(Connection.Write(sql: sql, rows: rows))
    }

    package func query<T: Sendable>(
        _ sql: SQL,
        _ decode: @escaping @Sendable (inout PostgresRow) throws -> T
    ) async throws -> [T] {
        try await lease.submit(sql) { try $0.rows(decode) }
    }

    package func query<T: Sendable>(
        _ sql: SQL,
        into initial: T,
        _ add: @escaping @Sendable (inout T, inout PostgresRow) throws -> Void
    ) async throws -> T {
        try await lease.submit(sql) { try $0.rows(into: initial, add) }
    }

    @discardableResult
    package func execute(_ sql: SQL) async throws -> Int {
        try await lease.submit(sql) { $0.affectedRows }
    }
}
