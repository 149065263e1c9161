import NIOPosix
import Synchronization

/// The addresses of host names, looked up on a separate thread and cached for a while.
final class AddressBook: Sendable {
    private struct Entry {
        var addresses: [IPAddress]
        var expires: ContinuousClock.Instant
    }

    private let resolver: AddressResolver
    private let limits: OutboundLimits
    private let entries = Mutex<[String: Entry]>([:])

    init(resolver: AddressResolver, limits: OutboundLimits) {
        self.resolver = resolver
        self.limits = limits
    }

    func addresses(of host: String) async throws(OutboundError) -> [IPAddress] {
        if let literal = IPAddress(host) { return [literal] }
        let now = ContinuousClock.now
        if let entry = entries.withLock({ $0[host] }), entry.expires > now { return entry.addresses }
        let resolver = resolver
        let found = try await TimeLimit.run(limits.connect) { () async throws(OutboundError) -> [IPAddress] in
            await Abandonable.run(otherwise: []) { resolver.addresses(host) }
        }
        guard !found.isEmpty else { throw .unreachable }
        entries.withLock { entries in
            if entries.count >= limits.hosts { entries = entries.filter { $0.value.expires > now } }
            if entries.count >= limits.hosts { entries.removeAll() }
            entries[host] = Entry(addresses: found, expires: now + limits.addressLifetime)
        }
        return found
    }

    /// Makes the next request look up again, because a connection to the cached addresses failed.
    func forget(_ host: String) {
        entries.withLock { _ = $0.removeValue(forKey: host) }
    }
}
