package import IdentityService
import NIOCore
package import Outbound
package import Postgres

/// Limits of time and load for tests that are about none of them: out of reach even of a machine twenty times slower.
///
/// A test that is about one sets it, and only where it is meant to be reached.
package enum Patience {
    /// The longest wait for something that comes about: no part of a verdict, but an end for what hangs.
    package static let limit = Duration.seconds(600)
    /// More than any test starts at once.
    static let count = 1 << 20
}

extension ServiceResponder.Limits {
    package static var patient: Self {
        var limits = Self()
        (limits.time, limits.idle, limits.head) = (.minutes(10), .minutes(10), .minutes(10))
        limits.parting = .zero
        (limits.connections, limits.requests, limits.bodyBytes) = (Patience.count, Patience.count, 4 << 30)
        return limits
    }
}

extension OutboundLimits {
    package static var patient: Self {
        var limits = Self()
        (limits.connect, limits.read, limits.total) = (Patience.limit, Patience.limit, Patience.limit)
        return limits
    }
}

extension PostgresClient.Configuration {
    /// - Parameter patience: for how long it waits for a server that is gone.
    package static func patient(_ conninfo: String, connections: Int = 8, patience: Duration = .zero) -> Self {
        Self(
            conninfo: conninfo,
            engine: TestServer.engine,
            connections: connections,
            statementTimeout: Patience.limit,
            silence: Patience.limit,
            lockTimeout: Patience.limit,
            connectTimeout: Patience.limit,
            queueLimit: Patience.count,
            transactionIdleTimeout: Patience.limit,
            patience: patience
        )
    }
}
