import Synchronization

/// What all connections hold together, and its limits: beyond them a request is refused with 503, so that memory stays
/// bounded whatever comes.
final class ServerLoad: Sendable {
    private let openConnections = Atomic(0)
    private let requests = Atomic(0)
    private let bodyBytes = Atomic(0)
    private let lastWarning = Mutex<ContinuousClock.Instant?>(nil)
    let date = HTTPDate()

    private let limits: ServiceResponder.Limits

    init(_ limits: ServiceResponder.Limits) { self.limits = limits }

    var connections: Int { openConnections.load(ordering: .relaxed) }
    var requestsInFlight: Int { requests.load(ordering: .relaxed) }
    var heldBytes: Int { bodyBytes.load(ordering: .relaxed) }

    func opened() { openConnections.add(1, ordering: .relaxed) }
    func closed() { openConnections.subtract(1, ordering: .relaxed) }

    /// Whether a second has gone by since this was last true.
    func mayWarn() -> Bool {
        lastWarning.withLock { last in
            let now = ContinuousClock.now
            if let last, now - last < .seconds(1) { return false }
            last = now
            return true
        }
    }

    /// Counts a request that begins.
    /// - Returns: whether there is room for it; if not, it is not counted.
    func begin() -> Bool {
        guard requests.add(1, ordering: .relaxed).newValue > limits.requests else { return true }
        end()
        return false
    }

    func end() { requests.subtract(1, ordering: .relaxed) }

    /// Counts bytes of a body that is being read.
    /// - Returns: whether there is room for them; if not, they are not counted.
    func hold(_ bytes: Int) -> Bool {
        guard bodyBytes.add(bytes, ordering: .relaxed).newValue > limits.bodyBytes else { return true }
        release(bytes)
        return false
    }

    func release(_ bytes: Int) { bodyBytes.subtract(bytes, ordering: .relaxed) }
}
