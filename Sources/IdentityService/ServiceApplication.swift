import HummingbirdCore
package import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
package import ServiceLifecycle

/// The HTTP server of the service.
package enum ServiceApplication {
    package struct Address: Sendable {
        package var host: String
        /// 0 for any free port, which `onRunning` reports.
        package var port: Int

        package init(host: String = "127.0.0.1", port: Int) {
            self.host = host
            self.port = port
        }
    }

    /// The server as a service: `run()` serves until stopped, and finishes the requests in progress first.
    ///
    /// - Parameters:
    ///   - tls: nil for plain HTTP.
    ///   - onRunning: called with the port once it listens.
    package static func make(
        responder: ServiceResponder,
        address: Address,
        tls: ServerTLS? = nil,
        logger: Logger,
        onRunning: @escaping @Sendable (Int) async -> Void = { _ in }
    ) -> any Service {
        Listening(
            server: Connections(responder: responder, tls: tls)
                .server(
                    configuration: ServerConfiguration(address: .hostname(address.host, port: address.port)),
                    onServerRunning: { channel in await onRunning(channel.localAddress?.port ?? address.port) },
                    eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
                    logger: logger
                ),
            address: address
        )
    }
}

/// Names the address at which it cannot listen.
private struct Listening: Service {
    let server: any Service
    let address: ServiceApplication.Address

    func run() async throws {
        do { try await server.run() } catch let error as IOError {
            throw ServiceApplication.Address.Unusable(address, error)
        }
    }
}

/// Creates the pipeline of each connection.
private struct Connections: ServerChildChannel {
    struct Value: ServerChildChannelValue {
        let channel: any Channel
    }

    let responder: ServiceResponder
    let tls: ServerTLS?

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            var limits = NIOHTTPDecoderLimitConfiguration()
            // Twice what a target may have, so that a longer one gets an answer of its own.
            limits.maxHeaderFieldSize = 2 * Request.maximumTarget
            limits.maxHeaderListSize = 32 << 10
            limits.maxHeaderFieldCount = 128
            let decoder = HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: limits)
            // The size of a single read.
            let allocator = AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 2048, maximum: 8192)
            try channel.syncOptions?.setOption(.recvAllocator, value: allocator)
            let pipeline = channel.pipeline.syncOperations
            if let tls { try pipeline.addHandlers(NIOSSLServerHandler(context: tls.context), HandshakeStop()) }
            let connection = HTTPConnection(responder, channel.eventLoop, isEncrypted: tls != nil)
            try pipeline.addHandler(HeadMeter(connection))
            try pipeline.addHandler(ByteToMessageHandler(decoder))
            try pipeline.addHandler(connection)
            return Value(channel: channel)
        }
    }

    /// The server stops when all connections have ended.
    func handle(value: Value, logger: Logger) async { try? await value.channel.closeFuture.get() }
}
