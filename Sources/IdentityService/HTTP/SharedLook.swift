import Synchronization

/// A look at something slow, one at a time, whoever asks; nobody waits longer than the limit.
///
/// A look that gets no answer goes on by itself and is shared by those who ask meanwhile. So any number of questions
/// costs one look, and each has an answer in time although nothing ends the look.
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
    ///   - lifetime: how long what was seen is good.
    ///   - late: what is said when a look takes longer than the limit.
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
            // Nobody's task: whoever asked first may be gone before there is an answer.
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
