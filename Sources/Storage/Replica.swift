import AsyncAlgorithms
package import Logging
package import Postgres
import ServiceLifecycle
import Synchronization

import struct Foundation.UUID

/// A standby server, for reads that a project allows to be a bounded time behind.
///
/// How far it is behind is measured without comparing clocks: this process writes into a row of its own at the primary
/// when it began to write, by its own clock, and reads the row at the standby. Everything that was committed before the
/// moment that it finds is there, whichever server is the primary by now, as long as there is one at a time. If the primary
/// or the replication is away, the moment stays, and reads go to the primary once it is too long ago; if the standby is
/// away, they do at the next measurement.
package final class Replica: Service {
    /// The time between two measurements.
    private static let interval = Duration.milliseconds(500)
    /// How long the first mark may take to arrive.
    private static let grace = Duration.seconds(10)

    private let accounts: AccountStore
    private let standby: PostgresClient
    private let primary: PostgresClient
    private let now: @Sendable () -> ContinuousClock.Instant
    private let logger: Logger
    private let process = UUID().uuidString
    private let start: ContinuousClock.Instant

    private struct State {
        /// The standby has what was committed before.
        var asOf: ContinuousClock.Instant?
        var isMeasured = true
    }

    private let state = Mutex(State())

    /// - Parameters:
    ///   - standby: a client of one server: behind an address of several, one could be older than the measured one.
    ///   - stores: those of the primary.
    package init(
        _ standby: PostgresClient,
        of stores: Stores,
        logger: Logger,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.standby = standby
        primary = stores.database.watch()
        accounts = AccountStore(
            database: standby,
            keyRing: stores.keyRing,
            gate: AccountGate(),
            growth: stores.growth,
            batches: stores.batches
        )
        self.now = now
        self.logger = logger
        start = now()
    }

    /// How long ago the moment is from which everything is at the standby; nil if that is not known.
    package var age: Duration? { state.withLock { $0.asOf }.map { $0.duration(to: now()) } }

    /// The standby's accounts; nil if it may be further behind.
    func accounts(behindBy seconds: Int64) -> AccountStore? {
        guard seconds > 0, let age, age <= .seconds(seconds) else { return nil }
        return accounts
    }

    /// Measures until stopped.
    package func run() async throws {
        let ticks = AsyncTimerSequence(interval: Self.interval, clock: .continuous).cancelOnGracefulShutdown()
        for await _ in ticks {
            do {
                try await measure()
                note(isMeasured: true)
            } catch {
                note(isMeasured: false, error)
            }
        }
        await standby.close()
        await primary.close()
    }

    /// - Throws: ``PostgresError``, of the primary or the standby; ``NotReplicated``.
    package func measure() async throws {
        async let failure = failure { try await mark() }
        do {
            // Or the mark before: a primary that is silent does not keep anybody from noticing a standby that is.
            let marks = try await standby.query("SELECT elapsed FROM replica_marks WHERE process = \(process)") {
                try $0.next(Int64.self)
            }
            state.withLock { $0.asOf = marks.first.map { start + .microseconds($0) } }
            guard !marks.isEmpty || start.duration(to: now()) < Self.grace else { throw NotReplicated() }
        } catch {
            state.withLock { $0.asOf = nil }
            throw error
        }
        if let failure = await failure { throw failure }
    }

    /// Writes how long this process had run when the statement began.
    ///
    /// Nobody waits for the mark to be on disk; its place in the log follows everything that was committed before.
    private func mark() async throws {
        let elapsed = start.duration(to: now())
        let microseconds = elapsed.components.seconds * 1_000_000 + elapsed.components.attoseconds / 1_000_000_000_000
        try await primary.execute(
            """
            WITH quick AS (SELECT set_config('synchronous_commit', 'off', true))
            INSERT INTO replica_marks (process, elapsed, expires_at)
            SELECT \(process), \(microseconds), now() + interval '1 day' FROM quick
            ON CONFLICT (process) DO UPDATE SET elapsed = EXCLUDED.elapsed, expires_at = EXCLUDED.expires_at
            """
        )
    }

    private func failure(_ work: () async throws -> Void) async -> (any Error)? {
        do {
            try await work()
            return nil
        } catch {
            return error
        }
    }

    private func note(isMeasured: Bool, _ error: (any Error)? = nil) {
        let changed = state.withLock { state in
            defer { state.isMeasured = isMeasured }
            return state.isMeasured != isMeasured
        }
        guard changed, !Task.isShuttingDownGracefully else { return }
        if isMeasured {
            logger.notice("The age of the standby is measured again")
        } else {
            logger.warning(
                "The age of the standby cannot be measured: once it may be too old, reads go to the primary",
                metadata: error.map { ["error": "\($0)"] }
            )
        }
    }
}

/// The standby has nothing of this process: it follows another primary, or none.
package struct NotReplicated: Error {}

extension Stores {
    /// The same, but with the accounts of the replica.
    ///
    /// - Returns: nil without a replica that is at most so many seconds behind.
    package func behind(by seconds: Int64) -> Stores? {
        guard let accounts = replica?.accounts(behindBy: seconds) else { return nil }
        var stores = self
        stores.accounts = accounts
        return stores
    }
}
