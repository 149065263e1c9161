import Postgres
import Storage
import TestKit

/// Two things that meet at one row, in an order that does not depend on luck.
enum Race {
    /// Runs `operation` while a transaction holds what `hold` locked and wrote, and commits that once the operation waits
    /// for it, or is over because it did not.
    ///
    /// - Parameter meanwhile: happens before the commit.
    static func run<R: Sendable>(
        _ service: TestService,
        hold: @escaping @Sendable (PostgresTransaction) async throws -> Void,
        meanwhile: @escaping @Sendable () -> Void = {},
        _ operation: @escaping @Sendable () async throws -> R
    ) async throws -> R {
        let held = Barrier(2)
        let over = Counter()
        async let result: R = {
            await held.wait()
            defer { over.increment() }
            return try await operation()
        }()
        do {
            try await TestDatabase.current.client.transaction { transaction in
                try await hold(transaction)
                let holder = try await transaction.query("SELECT pg_backend_pid()") { try $0.next(Int32.self) }.first
                await held.wait()
                while over.value == 0, try await waiting(service, for: holder ?? 0) == 0 {}
                meanwhile()
            }
        } catch {
            await held.wait()
            throw error
        }
        return try await result
    }

    private static func waiting(_ service: TestService, for holder: Int32) async throws -> Int64 {
        try await service.stores.database.query(
            """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND \(holder) = ANY (pg_blocking_pids(pid))
            """
        ) { try $0.next(Int64.self) }.first ?? 0
    }
}
