import AsyncHTTPClient
import NIOCore
import Synchronization
import Text

/// The connections to one host at one checked address.
///
/// Each lane has its own HTTP client, which pins the address: the name in the URL is still used in the `Host` header
/// and for the certificate check, but is not looked up again (DNS rebinding).
final class OutboundLane: Sendable {
    struct Key: Sendable, Hashable {
        var host: String
        var address: IPAddress
    }

    let client: HTTPClient
    private struct State {
        var requests = 0
        var shares: [String: Int] = [:]
        var lastUse = ContinuousClock.now
    }

    private let limit: Int
    private let shareLimit: Int
    private let state = Mutex(State())

    init(_ key: Key, limits: OutboundLimits, authorities: OutboundAuthorities) {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout = .init(connect: TimeAmount(limits.connect), read: TimeAmount(limits.read))
        configuration.decompression = .disabled
        configuration.httpVersion = .http1Only
        configuration.tlsConfiguration = authorities.configuration
        // Shorter than the five seconds for which many servers keep a connection, because a request that meets a
        // closing connection is not sent again.
        configuration.connectionPool.idleTimeout = .seconds(4)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = limits.requestsPerHost
        configuration.connectionPool.retryConnectionEstablishment = false
        if IPAddress(key.host) == nil { configuration.dnsOverride = [key.host: key.address.text] }
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        limit = limits.requestsPerHost
        shareLimit = limits.requestsPerShare
    }

    /// Counts a request; false if too many are in progress, in total or of its share.
    func enter(_ share: String?) -> Bool {
        state.withLock { state in
            guard state.requests < limit else { return false }
            if let share {
                guard state.shares[share, default: 0] < shareLimit else { return false }
                state.shares[share, default: 0] += 1
            }
            state.requests += 1
            return true
        }
    }

    func leave(_ share: String?) {
        state.withLock { state in
            if let share, let count = state.shares[share] { state.shares[share] = count > 1 ? count - 1 : nil }
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
