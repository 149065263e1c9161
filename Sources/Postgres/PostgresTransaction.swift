/// A transaction on its own connection; statements after its end fail with `transactionEnded`.
package final class PostgresTransaction: PostgresExecutor {
    private let lease: Lease

    init(_ lease: Lease) { self.lease = lease }

    package func query<T: Sendable>(
        _ sql: SQL,
        _ decode: @escaping @Sendable (inout PostgresRow) throws -> T
    ) async throws -> [T] {
        try await lease.submit { try $0.run(sql) { try $0.rows(decode) } }
    }

    package func query<T: Sendable>(
        _ sql: SQL,
        into initial: T,
        _ add: @escaping @Sendable (inout T, inout PostgresRow) throws -> Void
    ) async throws -> T {
        try await lease.submit { try $0.run(sql) { try $0.rows(into: initial, add) } }
    }

    @discardableResult
    package func execute(_ sql: SQL) async throws -> Int {
        try await lease.submit { try $0.run(sql) { $0.affectedRows } }
    }
}
