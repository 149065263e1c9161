import Synchronization

/// The totals of all connections, and their limits: beyond them a request is refused with 503, so memory stays bounded.
final class ServerLoad: Sendable {
    private let openConnections = Atomic(0)
    private let connectionsByAddress = Mutex<[String: Int]>([:])
    private let requests = Atomic(0)
    private let waitingBytes = Atomic(0)
    private let bodies = Mutex(Bodies())
    private let lastWarning = Mutex<ContinuousClock.Instant?>(nil)
    let date = HTTPDate()

    private let limits: ServiceResponder.Limits

    init(_ limits: ServiceResponder.Limits) { self.limits = limits }

    var connections: Int { openConnections.load(ordering: .relaxed) }
    var requestsInFlight: Int { requests.load(ordering: .relaxed) }
    var heldBytes: Int { bodies.withLock { $0.all.bytes } + waitingBytes.load(ordering: .relaxed) }

    /// Counts a new connection.
    ///
    /// - Parameter address: the peer's, as rate limits count; nil if unknown, and for proxies, whose clients share it.
    /// - Returns: whether there is room for it: for one address in a quarter of all.
    func opened(by address: String?) -> Bool {
        let all = openConnections.add(1, ordering: .relaxed).newValue
        let own = connectionsByAddress.withLock { counts in
            guard let address else { return 0 }
            let own = counts[address, default: 0] + 1
            counts[address] = own
            return own
        }
        return all <= limits.connections && own <= limits.connections / 4
    }

    func closed(by address: String?) {
        openConnections.subtract(1, ordering: .relaxed)
        guard let address else { return }
        connectionsByAddress.withLock { counts in
            let own = counts[address, default: 0] - 1
            counts[address] = own > 0 ? own : nil
        }
    }

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

    // MARK: Bodies

    /// Bytes of bodies, those beyond ``Request/maximumBody`` of each body separately.
    private struct Share {
        var small = 0
        var large = 0

        var bytes: Int { small + large }

        /// What a body adds that grows.
        init(of bytes: Int = 0, after held: Int = 0) {
            large = max(0, held + bytes - Request.maximumBody) - max(0, held - Request.maximumBody)
            small = bytes - large
        }

        static func + (one: Share, other: Share) -> Share {
            var sum = one
            sum.small += other.small
            sum.large += other.large
            return sum
        }

        static func - (one: Share, other: Share) -> Share {
            var rest = one
            rest.small -= other.small
            rest.large -= other.large
            return rest
        }
    }

    private struct Bodies {
        var all = Share()
        var byAddress: [String: Share] = [:]
    }

    /// Counts bytes of a body that is being read.
    ///
    /// Bytes beyond ``Request/maximumBody`` may take at most half of the total, so that a few large requests cannot
    /// exclude the others. One address may take an eighth of the total, or one body, and a quarter for large bodies.
    ///
    /// - Parameters:
    ///   - held: the body's bytes that are already counted.
    ///   - address: the caller's, as rate limits count; nil if unknown.
    /// - Returns: whether there is room for them; if not, they are not counted.
    func hold(_ bytes: Int, after held: Int, of address: String?) -> Bool {
        let part = Share(of: bytes, after: held)
        let limit = limits.bodyBytes
        return bodies.withLock { bodies in
            let all = bodies.all + part
            guard all.bytes <= limit, all.large <= limit / 2 else { return false }
            if let address {
                let own = bodies.byAddress[address, default: Share()] + part
                guard own.small <= max(limit / 8, Request.maximumBody), own.large <= limit / 4 else { return false }
                bodies.byAddress[address] = own
            }
            bodies.all = all
            return true
        }
    }

    /// Releases all bytes of a body.
    func release(_ held: Int, of address: String?) {
        guard held > 0 else { return }
        let body = Share(of: held)
        bodies.withLock { bodies in
            bodies.all = bodies.all - body
            guard let address, let own = bodies.byAddress[address] else { return }
            let rest = own - body
            bodies.byAddress[address] = rest.bytes == 0 ? nil : rest
        }
    }

    /// Counts bytes that arrived before the current response, and with a negative number those that no longer wait.
    func wait(_ bytes: Int) { waitingBytes.add(bytes, ordering: .relaxed) }
}
