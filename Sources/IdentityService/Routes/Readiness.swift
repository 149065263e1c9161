import Synchronization

/// One thing that must be true before the service can answer.
package struct ReadinessCheck: Sendable {
    /// `database`, `migrations`, `signingKey`.
    package var name: String
    package var outcome: Outcome

    package enum Outcome: String, Sendable {
        case ok
        case failed
        /// It could not be asked.
        case unknown
    }

    package init(name: String, _ outcome: Outcome) {
        self.name = name
        self.outcome = outcome
    }
}

/// Looks whether the service can answer: one look at a time, whoever asks, and nobody waits longer than the limit.
///
/// A look at a database that says nothing goes on by itself and is shared by those who ask meanwhile, so that any number
/// of questions costs one statement, and the answer is in time although nothing ends the look.
final class Readiness: Sendable {
    typealias Look = @Sendable () async -> [ReadinessCheck]

    private struct State {
        var isLooking = false
        var last = 0
        var waiting: [Int: CheckedContinuation<[ReadinessCheck], Never>] = [:]
    }

    private let limit: Duration
    private let silent: @Sendable () -> [ReadinessCheck]
    private let look: Look
    private let state = Mutex(State())

    /// - Parameter silent: what is said when a look takes longer than the limit.
    init(within limit: Duration, otherwise silent: @escaping @Sendable () -> [ReadinessCheck], _ look: @escaping Look) {
        self.limit = limit
        self.silent = silent
        self.look = look
    }

    func checks() async -> [ReadinessCheck] {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        let timer = Task.detached { [self] in
            try await Task.sleep(for: limit)
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: silent())
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
        let checks = await look()
        let waiting = state.withLock { state in
            state.isLooking = false
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in waiting.values { continuation.resume(returning: checks) }
    }
}
