import Synchronization

/// Ends what takes too long.
///
/// One timer watches over all that is under way: a sleep of its own for each would stay behind until its time, long after
/// what it watched over had ended.
final class Deadline: Sendable {
    private struct Entry {
        let due: ContinuousClock.Instant
        let cancel: @Sendable () -> Void
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        var nextID: UInt64 = 0
        var expired: Set<UInt64> = []
        var isWatching = false
    }

    private let limit: Duration
    private let state = Mutex(State())

    init(_ limit: Duration) { self.limit = limit }

    /// - Throws: 503 once the limit is over; the operation is cancelled and waited for.
    func run<Value: Sendable>(_ operation: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let task = Task { try await operation() }
        let (id, startsWatch) = state.withLock { state in
            state.nextID += 1
            state.entries[state.nextID] = Entry(due: .now + limit) { task.cancel() }
            defer { state.isWatching = true }
            return (state.nextID, !state.isWatching)
        }
        // Nobody's task: it watches over others longer than this request, whose logger is not theirs.
        if startsWatch { Task.detached { [weak self] in await self?.watch() } }
        let outcome = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            task.cancel()
        }
        let isExpired = state.withLock { state in
            state.entries[id] = nil
            return state.expired.remove(id) != nil
        }
        guard !isExpired else { throw WireError.unavailable(cause: "timeout") }
        return try outcome.get()
    }

    /// Sleeps until the oldest of what is under way is due, again and again until nothing is.
    private func watch() async {
        while true {
            let (late, next) = state.withLock { state in
                let now = ContinuousClock.now
                let late = state.entries.filter { $0.value.due <= now }
                for id in late.keys {
                    state.entries[id] = nil
                    state.expired.insert(id)
                }
                let next = state.entries.values.map(\.due).min()
                if next == nil { state.isWatching = false }
                return (late.values.map(\.cancel), next)
            }
            for cancel in late { cancel() }
            guard let next else { return }
            // The one timer. What began later is due later, so nothing has to wake it before.
            try? await Task.sleep(until: next, clock: .continuous)
        }
    }
}
