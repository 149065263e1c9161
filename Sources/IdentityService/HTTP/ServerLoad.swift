import Synchronization

/// The totals of all connections, and their limits: beyond them a request is refused with 503, so memory stays bounded.
final class ServerLoad: Sendable {
    private let openConnections = Atomic(0)
    private let requests = Atomic(0)
    private let bodyBytes = Atomic(0)
    private let largeBodyBytes = Atomic(0)
    private let lastWarning = Mutex<ContinuousClock.Instant?>(nil)
    let date = HTTPDate()

    private let limits: ServiceResponder.Limits

    init(_ limits: ServiceResponder.Limits) { self.limits = limits }

    var connections: Int { openConnections.load(ordering: .relaxed) }
    var requestsInFlight: Int { requests.load(ordering: .relaxed) }
    var heldBytes: Int { bodyBytes.load(ordering: .relaxed) }

    func opened() { openConnections.add(1, ordering: .relaxed) }
    func closed() { openConnections.subtract(1, ordering: .relaxed) }

    /// Whether a second has passed since this last returned true.
    func mayWarn() -> Bool {
        lastWarning.withLock { last in
            let now = ContinuousClock.now
            if let last, now - last < .seconds(1) { return false }
            last = now
            return true
        }
    }

    /// Counts a request that starts.
    ///
    /// - Returns: whether there is room for it; if not, it is not counted.
    func begin() -> Bool {
        guard requests.add(1, ordering: .relaxed).newValue > limits.requests else { return true }
        end()
        return false
    }

    func end() { requests.subtract(1, ordering: .relaxed) }

    /// Counts bytes of a body that is being read.
    ///
    /// Bytes beyond ``Request/maximumBody`` may take at most half of the total, so that a few large requests cannot
    /// exclude the others.
    ///
    /// - Parameter held: the body's bytes that are already counted.
    /// - Returns: whether there is room for them; if not, they are not counted.
    func hold(_ bytes: Int, after held: Int) -> Bool {
        let large = Self.large(held + bytes) - Self.large(held)
        let all = bodyBytes.add(bytes, ordering: .relaxed).newValue
        let allLarge = largeBodyBytes.add(large, ordering: .relaxed).newValue
        if all <= limits.bodyBytes, allLarge <= limits.bodyBytes / 2 { return true }
        bodyBytes.subtract(bytes, ordering: .relaxed)
        largeBodyBytes.subtract(large, ordering: .relaxed)
        return false
    }

    /// Releases all bytes of a body.
    func release(_ held: Int) {
        bodyBytes.subtract(held, ordering: .relaxed)
        largeBodyBytes.subtract(Self.large(held), ordering: .relaxed)
    }

    private static func large(_ bytes: Int) -> Int { max(0, bytes - Request.maximumBody) }
}
