import Requests
import Synchronization
package import Text

/// The totals of all connections, and their limits: beyond them a request is refused with 503, so memory stays bounded.
package final class ServerLoad: Sendable {
    private let openConnections = Atomic(0)
    private let connectionsByNetwork = Mutex<[String: Int]>([:])
    private let requests = Mutex(Requests())
    private let waitingBytes = Atomic(0)
    private let bodies = Mutex(Bodies())
    /// Of refused requests.
    let causes = RecurringCauses()
    let date = HTTPDate()

    private let limits: ServiceResponder.Limits

    package init(_ limits: ServiceResponder.Limits) { self.limits = limits }

    var connections: Int { openConnections.load(ordering: .relaxed) }
    var requestsInFlight: Int { requests.withLock { $0.all } }
    var heldBytes: Int { bodies.withLock { $0.all.bytes } + waitingBytes.load(ordering: .relaxed) }

    /// The networks whose shares a caller takes from.
    package struct Networks: Sendable {
        /// The subscriber, as rate limits count, and for IPv6 its site.
        let all: [String]

        package init(of address: IPAddress) {
            all = [address.subscriber] + (address.site.map { [$0] } ?? [])
        }
    }

    /// Counts a new connection.
    ///
    /// - Parameter peer: nil if unknown, and for proxies, whose clients share their address.
    /// - Returns: whether there is room for it: for one network in a quarter of all.
    package func opened(by peer: Networks?) -> Bool {
        let all = openConnections.add(1, ordering: .relaxed).newValue
        let own = connectionsByNetwork.withLock { counts in
            var most = 0
            for network in peer?.all ?? [] {
                let own = counts[network, default: 0] + 1
                counts[network] = own
                most = max(most, own)
            }
            return most
        }
        return all <= limits.connections && own <= limits.connections / 4
    }

    package func closed(by peer: Networks?) {
        openConnections.subtract(1, ordering: .relaxed)
        connectionsByNetwork.withLock { counts in
            for network in peer?.all ?? [] {
                let own = counts[network, default: 0] - 1
                counts[network] = own > 0 ? own : nil
            }
        }
    }

    private struct Requests {
        var all = 0
        var byNetwork: [String: Int] = [:]
    }

    /// Counts a request that starts.
    ///
    /// - Parameter caller: nil if unknown.
    /// - Returns: whether there is room for it: for one network in a quarter of all, so that requests that wait, for a
    ///   provider that hangs for example, hold no one else's (threats.md, T-E36); if not, it is not counted.
    package func begin(by caller: Networks?) -> Bool {
        requests.withLock { requests in
            guard requests.all < limits.requests else { return false }
            let own = (caller?.all ?? []).map { ($0, requests.byNetwork[$0, default: 0] + 1) }
            guard own.allSatisfy({ $0.1 <= max(limits.requests / 4, 1) }) else { return false }
            for (network, count) in own { requests.byNetwork[network] = count }
            requests.all += 1
            return true
        }
    }

    package func end(by caller: Networks?) {
        requests.withLock { requests in
            requests.all -= 1
            for network in caller?.all ?? [] {
                let rest = requests.byNetwork[network, default: 0] - 1
                requests.byNetwork[network] = rest > 0 ? rest : nil
            }
        }
    }

    // MARK: Bodies

    /// Bytes of bodies: the first 16 KiB of each, those up to ``Request/maximumBody``, and those beyond.
    private struct Share {
        var first = 0
        var next = 0
        var large = 0

        /// More than almost every request has.
        static let firstBytes = 16 << 10

        var bytes: Int { first + next + large }

        /// What a body adds that grows.
        init(of bytes: Int = 0, after held: Int = 0) {
            let part = held..<held + bytes
            first = part.clamped(to: 0..<Self.firstBytes).count
            next = part.clamped(to: Self.firstBytes..<Request.maximumBody).count
            large = bytes - first - next
        }

        /// Whether one network may have it: a subscriber an eighth of the total, a site a quarter.
        func isAllowed(toOneOf networks: Int, limit: Int) -> Bool {
            // Of the reserve, a quarter of the total, half as much: few subscribers cannot take it all.
            first <= max(limit / 8 / networks, Self.firstBytes)
                && first + next <= max(limit / networks, Request.maximumBody) && large <= limit / 4
        }

        static func + (one: Share, other: Share) -> Share {
            var sum = one
            sum.first += other.first
            sum.next += other.next
            sum.large += other.large
            return sum
        }

        static func - (one: Share, other: Share) -> Share {
            var rest = one
            rest.first -= other.first
            rest.next -= other.next
            rest.large -= other.large
            return rest
        }
    }

    private struct Bodies {
        var all = Share()
        var byNetwork: [String: Share] = [:]
    }

    /// Counts bytes of a body that is being read.
    ///
    /// A quarter of the total is reserved for the first 16 KiB of each body, so that large requests cannot exclude the
    /// small ones. Bytes beyond ``Request/maximumBody`` may take at most half of the total. One subscriber may take an
    /// eighth of the total, or one body, and a quarter for large bodies; all subscribers of a /48 together a quarter.
    ///
    /// - Parameters:
    ///   - held: the body's bytes that are already counted.
    ///   - caller: nil if unknown.
    /// - Returns: whether there is room for them; if not, they are not counted.
    package func hold(_ bytes: Int, after held: Int, of caller: Networks?) -> Bool {
        let part = Share(of: bytes, after: held)
        let limit = limits.bodyBytes
        return bodies.withLock { bodies in
            let all = bodies.all + part
            guard all.bytes <= limit, all.next + all.large <= limit - limit / 4, all.large <= limit / 2 else {
                return false
            }
            let shares = (caller?.all ?? []).map { ($0, bodies.byNetwork[$0, default: Share()] + part) }
            for ((_, share), networks) in zip(shares, [8, 4]) {
                guard share.isAllowed(toOneOf: networks, limit: limit) else { return false }
            }
            for (network, share) in shares { bodies.byNetwork[network] = share }
            bodies.all = all
            return true
        }
    }

    /// Releases all bytes of a body.
    package func release(_ held: Int, of caller: Networks?) {
        guard held > 0 else { return }
        let body = Share(of: held)
        bodies.withLock { bodies in
            bodies.all = bodies.all - body
            for network in caller?.all ?? [] {
                let rest = bodies.byNetwork[network, default: Share()] - body
                bodies.byNetwork[network] = rest.bytes == 0 ? nil : rest
            }
        }
    }

    /// Counts bytes that arrived before the current response, and with a negative number those that no longer wait.
    func wait(_ bytes: Int) { waitingBytes.add(bytes, ordering: .relaxed) }
}
