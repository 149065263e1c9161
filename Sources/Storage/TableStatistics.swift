import AsyncAlgorithms
package import Logging
package import Postgres
import ServiceLifecycle
import Synchronization

/// Renews the planner's statistics of tables that have outgrown them.
///
/// PostgreSQL plans a statement once per connection, from what it knows of the tables at that time. After `ANALYZE`, every
/// connection plans anew. Autovacuum does the same, but looks only once a minute, in which an import fills a table.
///
/// Only a table's owner can analyze it; the service's own role need not be the owner. Several nodes can run it: a table
/// that one of them is analyzing is skipped by the others.
package struct TableStatistics: Service {
    private let stores: Stores
    private let logger: Logger
    private let connect: @Sendable () -> PostgresClient

    /// - Parameter connect: to the database, as the tables' owner; closed after each use.
    package init(of stores: Stores, logger: Logger, connect: @escaping @Sendable () -> PostgresClient) {
        self.stores = stores
        self.logger = logger
        self.connect = connect
    }

    /// Renews now, when this node has added many accounts, and once a minute for everything else, until stopped.
    package func run() async throws {
        await withDiscardingTaskGroup { group in
            group.addTask {
                let ticks = AsyncTimerSequence(interval: .seconds(60), clock: .continuous).cancelOnGracefulShutdown()
                for await _ in ticks { stores.growth.signal() }
            }
            stores.growth.signal()
            for await _ in stores.growth.signals.cancelOnGracefulShutdown() {
                do {
                    _ = try await cancelWhenGracefulShutdown { try await renew() }
                } catch {
                    guard !Task.isShuttingDownGracefully else { break }
                    logger.warning("The planner's statistics could not be renewed", metadata: ["error": "\(error)"])
                }
            }
        }
    }

    /// Analyzes the tables that have outgrown their statistics, if the role of `connect` may.
    ///
    /// - Returns: their names.
    @discardableResult
    package func renew() async throws -> [String] {
        // Most of the time there are none, and no other connection is needed.
        guard try await !Self.outgrown(stores.database).isEmpty else { return [] }
        return try await withOwner { owner in
            let tables = try await Self.outgrown(owner).filter(\.isOwn).map(\.name)
            var failure: (any Error)?
            for table in tables where !Task.isCancelled {
                do {
                    try await owner.execute("ANALYZE (SKIP_LOCKED) \(identifier: table)")
                } catch {
                    failure = failure ?? error
                }
            }
            if let failure { throw failure }
            return tables
        }
    }

    /// Whether the role of `connect` may analyze all tables; otherwise they depend on autovacuum.
    package func isPossible() async throws -> Bool {
        try await withOwner { owner in
            try await owner.query(
                "SELECT bool_and(\(sql: Self.isOwn)) FROM pg_class c WHERE \(sql: Self.isTable)"
            ) { try $0.next(Bool?.self) ?? false }.first ?? false
        }
    }

    private func withOwner<R: Sendable>(_ body: (PostgresClient) async throws -> R) async throws -> R {
        let owner = connect()
        do {
            let result = try await body(owner)
            await owner.close()
            return result
        } catch {
            await owner.close()
            throw error
        }
    }

    private static let isTable: SQL = """
        c.relkind = 'r' AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'accounts'::regclass)
        """

    private static let isOwn: SQL = "pg_has_role(c.relowner, 'USAGE')"

    /// Tables that are several times as large as when they were analyzed, or of which most rows have changed since.
    ///
    /// The size is exact at any time; the count of changes arrives late, but knows a table that was restored. It counts once
    /// a minute at most: rows of small tables change all the time, and each `ANALYZE` makes all connections plan anew.
    private static func outgrown(_ database: PostgresClient) async throws -> [(name: String, isOwn: Bool)] {
        try await database.query(
            """
            SELECT c.relname::text, \(sql: isOwn)
            FROM pg_class c LEFT JOIN pg_stat_all_tables s ON s.relid = c.oid
            WHERE \(sql: isTable) AND (
                pg_relation_size(c.oid) / current_setting('block_size')::int > 2 * c.relpages + 8
                OR s.n_mod_since_analyze > 500 + s.n_live_tup
                    AND coalesce(greatest(s.last_analyze, s.last_autoanalyze) < now() - interval '1 minute', true)
            )
            ORDER BY c.oid
            """
        ) { (name: try $0.next(String.self), isOwn: try $0.next(Bool.self)) }
    }
}

/// Counts the accounts that this node adds, and signals each thousand.
package final class Growth: Sendable {
    /// For one reader.
    ///
    /// Unread signals are one.
    package let signals: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private let count = Atomic(0)

    init() {
        (signals, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func add(_ accounts: Int) {
        let (before, after) = count.wrappingAdd(accounts, ordering: .relaxed)
        if before / 1000 != after / 1000 { signal() }
    }

    func signal() { continuation.yield() }
}
