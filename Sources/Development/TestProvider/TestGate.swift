import Synchronization

/// Holds answers back until a test lets them go, in place of a delay.
package final class TestGate: Sendable {
    private struct State {
        var isOpen = false
        var arrivals = 0
        var held: [CheckedContinuation<Void, Never>] = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Returns once the gate is open.
    package func pass() async {
        await withCheckedContinuation { continuation in
            let resumed = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                state.arrivals += 1
                var resumed = state.watchers.filter { $0.count <= state.arrivals }.map(\.continuation)
                state.watchers.removeAll { $0.count <= state.arrivals }
                if state.isOpen { resumed.append(continuation) } else { state.held.append(continuation) }
                return resumed
            }
            for continuation in resumed { continuation.resume() }
        }
    }

    /// Lets everything pass, now and later.
    package func open() {
        let held = state.withLock { state in
            state.isOpen = true
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    /// Returns once `count` requests have reached the gate since it was made.
    package func reached(by count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                guard state.arrivals < count else { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isReached { continuation.resume() }
        }
    }
}
