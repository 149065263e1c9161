import Synchronization

/// Holds tasks until so many have come.
package final class Barrier: Sendable {
    private let state: Mutex<(missing: Int, waiting: [CheckedContinuation<Void, Never>])>

    package init(_ count: Int) { state = Mutex((count, [])) }

    package func wait() async {
        await withCheckedContinuation { continuation in
            let arrived: [CheckedContinuation<Void, Never>] = state.withLock { state in
                state.missing -= 1
                state.waiting.append(continuation)
                guard state.missing <= 0 else { return [] }
                defer { state.waiting = [] }
                return state.waiting
            }
            for waiter in arrived { waiter.resume() }
        }
    }
}
