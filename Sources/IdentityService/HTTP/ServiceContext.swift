package import Hummingbird
package import Logging

/// What Hummingbird knows of a request besides the request itself.
package struct ServiceContext: Sendable, InitializableFromSource {
    package var logger: Logger
    /// The address of the peer, `203.0.113.7` or `2001:db8::1`; nil for a socket without one.
    package var peerAddress: String?

    package init(source: ApplicationRequestContextSource) {
        var logger = source.logger
        // The request has an id of ours; one is enough.
        logger[metadataKey: "hb.request.id"] = nil
        self.init(logger: logger, peerAddress: source.channel.remoteAddress?.ipAddress)
    }

    package init(logger: Logger, peerAddress: String? = nil) {
        self.logger = logger
        self.peerAddress = peerAddress
    }
}
