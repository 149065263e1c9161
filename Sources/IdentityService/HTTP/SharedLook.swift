import Synchronization

/// A slow check that runs once at a time for all callers; no caller waits longer than the limit.
///
/// A check without a result continues in the background and is shared by later callers. So any number of calls causes
/// one check, and each has an answer in time even if the check hangs.
final class SharedLook<Value: Sendable>: Sendable {
    private struct State {
        var isLooking = false
        var seen: (value: Value, at: ContinuousClock.Instant)?
        var last = 0
        var waiting: [Int: CheckedContinuation<Value, Never>] = [:]
    }

    private let limit: Duration
    private let lifetime: Duration
    private let late: @Sendable () -> Value
    private let look: @Sendable () async -> Value
    private let state = Mutex(State())

    /// - Parameters:
    ///   - lifetime: how long a result is reused.
    ///   - late: the result if a check takes longer than the limit.
    init(
        within limit: Duration,
        lifetime: Duration = .zero,
        otherwise late: @escaping @Sendable () -> Value,
        _ look: @escaping @Sendable () async -> Value
    ) {
        self.limit = limit
        self.lifetime = lifetime
        self.late = late
        self.look = look
    }

    func value() async -> Value {
        let now = ContinuousClock.now
        let (seen, number) = state.withLock { state in
            state.last += 1
            return (state.seen.flatMap { now - $0.at < lifetime ? $0.value : nil }, state.last)
        }
        if let seen { return seen }
        let timer = Task.detached { [self] in
            try await Task.sleep(for: limit)
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: late())
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { continuation in
            let begins = state.withLock { state in
                state.waiting[number] = continuation
                defer { state.isLooking = true }
                return !state.isLooking
            }
            // Detached, because the first caller may be cancelled before there is a result.
            if begins { Task.detached { await self.answer() } }
        }
    }

    private func answer() async {
        let value = await look()
        let waiting = state.withLock { state in
            state.isLooking = false
            state.seen = (value, .now)
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in waiting.values { continuation.resume(returning: value) }
    }
}
