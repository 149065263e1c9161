import AsyncHTTPClient
import NIOCore
import Synchronization

/// The connections to one host at one checked address.
///
/// A client of its own for each lane is what pins the address: the name in the URL still goes into the `Host` header
/// and into the check of the certificate, but is not looked up again (DNS rebinding).
final class OutboundLane: Sendable {
    struct Key: Sendable, Hashable {
        var host: String
        var address: IPAddress
    }

    let client: HTTPClient
    private let limit: Int
    private let state: Mutex<(requests: Int, lastUse: ContinuousClock.Instant)>

    init(_ key: Key, limits: OutboundLimits) {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout = .init(connect: TimeAmount(limits.connect), read: TimeAmount(limits.read))
        configuration.decompression = .disabled
        configuration.httpVersion = .http1Only
        // Shorter than the five seconds for which many servers keep a connection: a request must not meet a connection
        // that is just being closed, because it is not sent again.
        configuration.connectionPool.idleTimeout = .seconds(4)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = limits.connectionsPerHost
        configuration.connectionPool.retryConnectionEstablishment = false
        if IPAddress(key.host) == nil { configuration.dnsOverride = [key.host: key.address.text] }
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        limit = limits.requestsPerHost
        state = Mutex((0, .now))
    }

    /// Counts a request in; false when too many are under way.
    func enter() -> Bool {
        state.withLock { state in
            guard state.requests < limit else { return false }
            state.requests += 1
            return true
        }
    }

    func leave() {
        state.withLock { state in
            state.requests -= 1
            state.lastUse = .now
        }
    }

    func close() async {
        try? await client.shutdown()
    }

    /// When the lane was last used; nil while it is in use.
    var idleSince: ContinuousClock.Instant? {
        state.withLock { $0.requests == 0 ? $0.lastUse : nil }
    }
}
