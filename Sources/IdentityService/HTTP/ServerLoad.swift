import Synchronization

/// What all connections hold together, and its limits: beyond them a request is refused with 503, so that memory stays
/// bounded whatever comes.
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
    ///
    /// What bodies have beyond ``Request/maximumBody`` takes half of the room at most: the few requests that may be
    /// that large keep no other one out.
    /// - Parameter held: how many of the body are counted already.
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

    /// Gives up all that one body held.
    func release(_ held: Int) {
        bodyBytes.subtract(held, ordering: .relaxed)
        largeBodyBytes.subtract(Self.large(held), ordering: .relaxed)
    }

    private static func large(_ bytes: Int) -> Int { max(0, bytes - Request.maximumBody) }
}
