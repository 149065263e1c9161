package import Hummingbird
package import Logging
import NIOCore

/// The HTTP server of the service.
package enum ServiceApplication {
    package struct Address: Sendable {
        package var host: String
        /// 0 for any free port; `onRunning` tells which.
        package var port: Int

        package init(host: String = "127.0.0.1", port: Int) {
            self.host = host
            self.port = port
        }
    }

    /// The server as a service: `run()` serves until told to stop, and finishes the requests in flight first.
    ///
    /// - Parameter onRunning: called with the port once it listens.
    package static func make(
        responder: ServiceResponder,
        address: Address,
        logger: Logger,
        onRunning: @escaping @Sendable (Int) async -> Void = { _ in }
    ) -> Application<ServiceResponder> {
        Application(
            responder: responder,
            server: .http1(
                configuration: .init(
                    idleTimeout: .seconds(75),
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: 16 * 1024,
                        maxHeaderListSize: 64 * 1024,
                        maxHeaderFieldCount: 128
                    )
                )
            ),
            configuration: ApplicationConfiguration(address: .hostname(address.host, port: address.port)),
            onServerRunning: { channel in await onRunning(channel.localAddress?.port ?? address.port) },
            logger: logger
        )
    }
}
