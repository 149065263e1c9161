/// Runs statements: the client itself, or one of its transactions.
package protocol PostgresExecutor: Sendable {
    /// Runs one statement and decodes its rows.
    ///
    /// - Parameter decode: called for each row, on the thread that owns the connection; it must not block.
    /// - Throws: ``PostgresError``, or what `decode` throws.
    func query<T: Sendable>(
        _ sql: SQL,
        _ decode: @escaping @Sendable (inout PostgresRow) throws -> T
    ) async throws -> [T]

    /// Runs one statement and reads its rows, in order, into one value.
    ///
    /// - Throws: ``PostgresError``, or what `add` throws.
    func query<T: Sendable>(
        _ sql: SQL,
        into initial: T,
        _ add: @escaping @Sendable (inout T, inout PostgresRow) throws -> Void
    ) async throws -> T

    /// Runs one statement and ignores its rows.
    ///
    /// - Returns: the number of affected or returned rows; 0 for other statements.
    /// - Throws: ``PostgresError``.
    @discardableResult
    func execute(_ sql: SQL) async throws -> Int
}
