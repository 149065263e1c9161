import Synchronization

/// A task that waits for a result; the first result, or its cancellation, ends the wait.
final class Waiter<Answer: Sendable>: Sendable {
    private enum State {
        case new
        case waiting(CheckedContinuation<Answer, any Error>)
        case over
    }

    private let state = Mutex(State.new)

    var isOver: Bool { state.withLock { if case .over = $0 { true } else { false } } }

    /// - Returns: whether it waits; false for a task that was cancelled before.
    func attach(_ continuation: CheckedContinuation<Answer, any Error>) -> Bool {
        let waits = state.withLock { state in
            guard case .new = state else { return false }
            state = .waiting(continuation)
            return true
        }
        if !waits { continuation.resume(throwing: CancellationError()) }
        return waits
    }

    /// - Returns: whether it still waited.
    @discardableResult
    func resume(with answer: Result<Answer, any Error>) -> Bool {
        let continuation: CheckedContinuation<Answer, any Error>? = state.withLock { state in
            defer { state = .over }
            guard case .waiting(let continuation) = state else { return nil }
            return continuation
        }
        continuation?.resume(with: answer)
        return continuation != nil
    }
}
