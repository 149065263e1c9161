package import Hummingbird
package import Logging

/// What Hummingbird knows of a request besides the request itself.
package struct ServiceContext: Sendable, InitializableFromSource {
    package var logger: Logger
    /// The address of the peer, `203.0.113.7` or `2001:db8::1`; nil for a socket without one.
    package var peerAddress: String?

    package init(source: ApplicationRequestContextSource) {
        self.init(logger: source.logger, peerAddress: source.channel.remoteAddress?.ipAddress)
    }

    package init(logger: Logger, peerAddress: String? = nil) {
        self.logger = logger
        self.peerAddress = peerAddress
    }
}
