package import Logging
package import Prometheus
import ServiceLifecycle

/// A client for one database: a few connections, each on its own thread, with one bounded queue.
///
/// No cooperative thread ever blocks. Connections are opened when there is work, kept, and replaced when they break. A
/// cancelled task's statement leaves the queue or is cancelled on the server. The client never repeats a statement that
/// may have run, unless the server reports that it rolled it back (40001, 40P01; 25006 and 57P01 with
/// ``Configuration/patience``), or the caller says that it may (``repeating``).
package final class PostgresClient: PostgresExecutor, Service {
    private let pool: Pool

    package init(_ configuration: Configuration, logger: Logger) {
        pool = Pool(configuration, logger: logger)
        pool.start()
    }

    /// A client of the same database with a single separate connection, for queries that must not wait behind other
    /// work.
    package func watch() -> PostgresClient {
        var configuration = pool.configuration
        configuration.connections = 1
        configuration.statementTimeout = .seconds(1)
        configuration.silence = .milliseconds(500)
        configuration.connectTimeout = .seconds(2)
        // It reports an outage.
        configuration.patience = .zero
        return PostgresClient(configuration, logger: pool.logger)
    }

    /// Whether some statements have waited for at least so long, and none was answered meanwhile.
    package func isStalled(for limit: Duration) -> Bool { pool.isStalled(for: limit) }

    /// Waits for no other server from now on, and for an answer no longer than a few seconds, so that nothing keeps the
    /// process from its end.
    package func stopWaiting() { pool.stopWaiting() }

    /// The current load, and totals since the start.
    package var load: PoolLoad { pool.load }

    /// What kind of server answers.
    package var engine: DatabaseEngine { pool.configuration.engine }

    /// The maximum number of connections.
    package var connections: Int { pool.configuration.connections }

    deinit { pool.close() }

    /// Waits until the service stops, finishes queued work and closes the connections.
    ///
    /// The client also works without it, and then ends with its last reference or with ``close()``.
    package func run() async throws {
        // Cancellation ends the client as well.
        try? await gracefulShutdown()
        await close()
    }

    /// Accepts no more work, finishes queued work and closes the connections.
    package func close() async {
        pool.close()
        await pool.waitUntilClosed()
    }

    /// Opens all connections and runs the same on each.
    ///
    /// - Throws: ``PostgresError``, or what `body` throws; opened connections stay open.
    package func onEachConnection(
        _ body: @escaping @Sendable (PostgresTransaction) async throws -> Void
    ) async throws {
        try await onEachConnection(connections, body)
    }

    private func onEachConnection(
        _ count: Int,
        _ body: @escaping @Sendable (PostgresTransaction) async throws -> Void
    ) async throws {
        guard count > 0 else { return }
        try await transaction { transaction in
            // A nested one uses another connection.
            async let others: Void = self.onEachConnection(count - 1, body)
            try await body(transaction)
            try await others
        }
    }

    /// Checks that the database responds.
    ///
    /// - Throws: ``PostgresError``.
    package func ping() async throws {
        try await execute("SELECT")
    }

    package func query<T: Sendable>(
        _ sql: SQL,
        _ decode: @escaping @Sendable (inout PostgresRow) throws -> T
    ) async throws -> [T] {
        try await submit { try $0.run(sql) { try $0.rows(decode) } }
    }

    package func query<T: Sendable>(
        _ sql: SQL,
        into initial: T,
        _ add: @escaping @Sendable (inout T, inout PostgresRow) throws -> Void
    ) async throws -> T {
        try await submit { try $0.run(sql) { try $0.rows(into: initial, add) } }
    }

    @discardableResult
    package func execute(_ sql: SQL) async throws -> Int {
        try await submit { try $0.run(sql) { $0.affectedRows } }
    }

    /// - Parameter repeats: whether the statement may run twice.
    fileprivate func submit<R: Sendable>(
        repeats: Bool = false,
        _ work: @escaping @Sendable (Connection) throws -> R
    ) async throws -> R {
        var attempts = 0
        while true {
            attempts += 1
            do {
                return try await Job.run(in: pool, enqueue: pool.enqueue) { Job($0, work) }
            } catch let error as PostgresError where attempts <= Self.retries {
                let isLost = pool.isPatient && (error.hasNotRun || repeats && error.code == .connectionLost)
                guard error.isRetryable || isLost else { throw error }
            }
        }
    }

    /// Runs statements on one connection that apply together, or not at all if `body` throws.
    ///
    /// The transaction is run again, at most three times, if it conflicted with another one (40001, 40P01), so `body`
    /// must have no other effects. A nested call uses a second connection and is independent of this one.
    ///
    /// - Throws: what `body` throws; ``PostgresError`` from the transaction's start and end. After `connectionLost`
    ///   at its end, it is unknown whether it was committed.
    package func transaction<T: Sendable>(
        isolation: IsolationLevel = .readCommitted,
        _ body: @Sendable (PostgresTransaction) async throws -> T
    ) async throws -> T {
        var attempts = 0
        while true {
            attempts += 1
            let lease = try await lease(isolation)
            do {
                let value: T
                do {
                    value = try await body(PostgresTransaction(lease))
                } catch {
                    // If a rollback fails, the server has ended the transaction.
                    try? await lease.end(committing: false)
                    throw error
                }
                try await lease.end(committing: true)
                return value
            } catch {
                // Even if `body` caught the error.
                guard lease.shouldBeRetried, attempts <= Self.retries, !Task.isCancelled else { throw error }
            }
        }
    }

    private static let retries = 3

    private func lease(_ isolation: IsolationLevel) async throws -> Lease {
        try await Job.run(in: pool, enqueue: pool.enqueue) { continuation in
            Job(
                work: { worker, connection, job in
                    let lease = Lease(worker, beginning: connection.beginning(isolation))
                    _ = worker.pool.finish(job, on: worker, isAnswered: true, wasAsked: false)
                    continuation.resume(returning: lease)
                    lease.serve(connection)
                },
                fail: { continuation.resume(throwing: $0) }
            )
        }
    }
}

extension PostgresClient {
    /// The same client for statements that may run twice, because they change nothing or the same: it also runs one again
    /// that may have run when its connection was lost.
    package var repeating: some PostgresExecutor { RepeatingClient(client: self) }
}

private struct RepeatingClient: PostgresExecutor {
    let client: PostgresClient

    func query<T: Sendable>(
        _ sql: SQL,
        _ decode: @escaping @Sendable (inout PostgresRow) throws -> T
    ) async throws -> [T] {
        try await client.submit(repeats: true) { try $0.run(sql) { try $0.rows(decode) } }
    }

    func query<T: Sendable>(
        _ sql: SQL,
        into initial: T,
        _ add: @escaping @Sendable (inout T, inout PostgresRow) throws -> Void
    ) async throws -> T {
        try await client.submit(repeats: true) { try $0.run(sql) { try $0.rows(into: initial, add) } }
    }

    func execute(_ sql: SQL) async throws -> Int {
        try await client.submit(repeats: true) { try $0.run(sql) { $0.affectedRows } }
    }
}

/// The load of a client's connections.
package struct PoolLoad: Sendable {
    package var connected: Int
    package var idle: Int
    /// Statements and transactions waiting for a connection.
    package var waiting: Int
    /// Statements and transactions started since the start.
    package var begun: Int
    /// Waits for the server's answer since the start, without those that prepare a statement.
    package var roundTrips: Int
    /// Those refused because of no database or a full queue.
    package var refused: Int
    /// Seconds that statements and transactions waited for a connection.
    package var waits: Histogram
}

/// How isolated a transaction is from others (PostgreSQL, chapter 13.2).
package enum IsolationLevel: Sendable {
    case readCommitted
    case repeatableRead
    case serializable

    var begin: SQL {
        switch self {
        case .readCommitted: "BEGIN ISOLATION LEVEL READ COMMITTED"
        case .repeatableRead: "BEGIN ISOLATION LEVEL REPEATABLE READ"
        case .serializable: "BEGIN ISOLATION LEVEL SERIALIZABLE"
        }
    }
}
