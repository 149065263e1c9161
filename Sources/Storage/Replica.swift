import AsyncAlgorithms
package import Logging
package import Postgres
import ServiceLifecycle
import Synchronization

/// A standby server, for reads that a project allows to be a bounded time behind.
///
/// How far it is behind is measured without comparing clocks. This node increments a number at the primary, remembers
/// when it began to, and reads the number at the standby: everything that was committed before that moment is there. If
/// the primary, the standby or the replication between them is away, the measured time stays, and reads go to the primary
/// once it is too long ago.
package final class Replica: Service {
    /// The time between two measurements.
    private static let interval = Duration.milliseconds(500)
    /// As many measurements as fit into the longest time that a project can allow, 3,600 s.
    private static let memory = 7_200

    private let accounts: AccountStore
    private let standby: PostgresClient
    private let primary: PostgresClient
    private let now: @Sendable () -> ContinuousClock.Instant
    private let logger: Logger

    private struct State {
        /// By time, the latest last.
        var counts: [(number: Int64, begun: ContinuousClock.Instant)] = []
        /// The standby has what was committed before.
        var asOf: ContinuousClock.Instant?
        var isReachable = true
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
        primary = stores.watch
        accounts = AccountStore(
            database: standby,
            keyRing: stores.keyRing,
            gate: AccountGate(),
            batches: stores.batches
        )
        self.now = now
        self.logger = logger
    }

    /// How long ago the moment is from which everything is at the standby; nil if it was never measured.
    private var age: Duration? { state.withLock { $0.asOf }.map { $0.duration(to: now()) } }

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
                note(isReachable: true)
            } catch {
                note(isReachable: false, error)
            }
        }
        await standby.close()
    }

    /// - Throws: ``PostgresError``.
    package func measure() async throws {
        let begun = now()
        let counted = try await primary.query(
            "UPDATE replica_count SET number = number + 1 RETURNING number"
        ) { try $0.next(Int64.self) }
        if let number = counted.first { add(number, begun) }
        let seen = try await standby.query("SELECT number FROM replica_count") { try $0.next(Int64.self) }
        guard let number = seen.first else { return }
        state.withLock { state in
            // The first one is what it had: a standby that has less was set up again from an older copy.
            guard let last = state.counts.lastIndex(where: { $0.number <= number }) else { return state.asOf = nil }
            state.asOf = state.counts[last].begun
            state.counts.removeFirst(last)
        }
    }

    private func add(_ number: Int64, _ begun: ContinuousClock.Instant) {
        state.withLock { state in
            // A new primary that lacks commits of the old one counts again what the standby may have seen counted.
            if let last = state.counts.last, number <= last.number { (state.counts, state.asOf) = ([], nil) }
            state.counts.append((number, begun))
            if state.counts.count > Self.memory { state.counts.removeFirst() }
        }
    }

    private func note(isReachable: Bool, _ error: (any Error)? = nil) {
        let changed = state.withLock { state in
            defer { state.isReachable = isReachable }
            return state.isReachable != isReachable
        }
        guard changed, !Task.isShuttingDownGracefully else { return }
        if isReachable {
            logger.notice("The replica can be reached again")
        } else {
            logger.warning(
                "The replica cannot be measured: reads go to the primary",
                metadata: error.map { ["error": "\($0)"] }
            )
        }
    }
}

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
