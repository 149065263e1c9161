import NIOCore
import NIOPosix
import NIOSSL

/// A connection to this computer, byte by byte, for what no HTTP client would send.
package struct RawConnection: Sendable {
    private let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private let received: Received

    /// How it speaks TLS.
    package struct TLS: Sendable {
        /// A PEM file of the one certificate that is trusted.
        package var trusts: String
        /// The name that the other side has to have.
        package var name = "localhost"
        /// Nothing newer than TLS 1.1.
        package var isOld = false

        package init(trusts: String) { self.trusts = trusts }

        fileprivate func makeHandler() throws -> NIOSSLClientHandler {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.trustRoots = .file(trusts)
            if isOld { (configuration.minimumTLSVersion, configuration.maximumTLSVersion) = (.tlsv1, .tlsv11) }
            return try NIOSSLClientHandler(
                context: NIOSSLContext(configuration: configuration),
                serverHostname: name
            )
        }
    }

    /// Opens a connection for as long as `body` runs.
    ///
    /// - Parameter tls: nil for a plain one.
    package static func open<R: Sendable>(
        port: Int,
        host: String = "127.0.0.1",
        tls: TLS? = nil,
        _ body: @Sendable (RawConnection) async throws -> R
    ) async throws -> R {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connect(host: host, port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(tls.makeHandler()) }
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel,
                        configuration: .init(isOutboundHalfClosureEnabled: true)
                    )
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            try await body(
                RawConnection(channel: channel, outbound: outbound, received: Received(inbound))
            )
        }
    }

    package func send(_ text: String) async throws { try await outbound.write(ByteBuffer(string: text)) }

    /// Says that nothing more comes from this side.
    package func finishSending() { outbound.finish() }

    /// All that comes until `end` has come so many times.
    /// - Returns: less when the other side closes before.
    package func read(until end: String, times: Int = 1) async throws -> String {
        try await received.read { $0.components(of: end) >= times }
    }

    /// All that comes until the other side closes.
    package func readAll() async throws -> String { try await received.read { _ in false } }

    /// One reader at a time: tests read one after the other.
    private actor Received {
        private var iterator: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
        private var text = ""

        init(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>) { iterator = inbound.makeAsyncIterator() }

        func read(until isEnough: (String) -> Bool) async throws -> String {
            var iterator = iterator
            while !isEnough(text) {
                guard let part = try await iterator.next(isolation: self) else { break }
                text += String(buffer: part)
            }
            defer { text = "" }
            return text
        }
    }
}

extension String {
    fileprivate func components(of part: String) -> Int { ranges(of: part).count }
}
