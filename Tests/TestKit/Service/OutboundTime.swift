import Synchronization

/// The time of outgoing requests, which is over when a test says so.
package final class OutboundTime: Sendable {
    private struct State {
        var last = 0
        var running: [Int: (limit: Duration, end: AsyncStream<Never>.Continuation)] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// Returns when the time of a request is over, or its task is cancelled.
    package func pass(_ limit: Duration) async {
        let (time, end) = AsyncStream.makeStream(of: Never.self)
        let number = state.withLock { state in
            state.last += 1
            state.running[state.last] = (limit, end)
            return state.last
        }
        for await _ in time {}
        state.withLock { _ = $0.running.removeValue(forKey: number) }
    }

    /// Ends the time of all requests in progress, once there is one: its time begins beside it, which may be after the other
    /// side has it.
    ///
    /// - Returns: how much each had.
    @discardableResult
    package func runOut() async throws -> [Duration] {
        try await waitUntil { state.withLock { !$0.running.isEmpty } }
        let running = state.withLock { Array($0.running.values) }
        for request in running { request.end.finish() }
        return running.map(\.limit)
    }
}
