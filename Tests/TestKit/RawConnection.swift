import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A connection to this computer, byte by byte, for what no HTTP client would send.
package struct RawConnection: Sendable {
    private let channel: any Channel
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
        let received = Received()
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            // Over TLS the other side's end is that of the connection: NIOSSL would wait five seconds for another.
            .channelOption(.allowRemoteHalfClosure, value: tls == nil)
            // Read when a test wants it: some are of clients that do not read. A handshake reads by itself.
            .channelOption(.autoRead, value: tls != nil)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(tls.makeHandler()) }
                    try channel.pipeline.syncOperations.addHandler(received)
                }
            }
            .connect(host: host, port: port).get()
        let result: Result<R, any Error>
        do {
            result = .success(try await body(RawConnection(channel: channel, received: received)))
        } catch {
            result = .failure(error)
        }
        channel.close(promise: nil)
        try await channel.closeFuture.get()
        return try result.get()
    }

    /// Returns when everything sent before has left.
    ///
    /// - Throws: an error if that could not be sent, or the connection is closed.
    package func send(_ text: String) async throws {
        guard channel.isActive else { throw ChannelError.ioOnClosedChannel }
        try await received.following(channel.writeAndFlush(ByteBuffer(string: text)))?.get()
    }

    /// Says that nothing more comes from this side.
    package func finishSending() {
        let last = received.following(channel.eventLoop.makeSucceededVoidFuture())
        (last ?? channel.eventLoop.makeSucceededVoidFuture()).whenComplete { _ in
            channel.close(mode: .output, promise: nil)
        }
    }

    /// All that comes until `end` has come so many times.
    /// - Returns: less when the other side closes before.
    package func read(until end: String, times: Int = 1) async throws -> String {
        try await received.read(channel) { $0.components(of: end) >= times }
    }

    /// All that comes until the other side closes.
    package func readAll() async throws -> String { try await received.read(channel) { _ in false } }

    /// Whether the other side ends the connection without a byte; it may do so before all is sent, and by a reset.
    package func readsNothing(after text: String) async -> Bool {
        if !text.isEmpty { try? await send(text) }
        return (try? await readAll())?.isEmpty ?? true
    }

    /// One reader at a time: tests read one after the other.
    private final class Received: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer

        private struct State {
            var text = ""
            /// Whether something has come, or the end, since the reader looked.
            var isNew = false
            /// How the input ended.
            var end: Result<Void, any Error>?
            var reader: CheckedContinuation<Void, Never>?
            var lastWrite: EventLoopFuture<Void>?
        }

        private let state = Mutex(State())

        /// The write before this one.
        func following(_ write: EventLoopFuture<Void>) -> EventLoopFuture<Void>? {
            state.withLock { state in
                defer { state.lastWrite = write }
                return state.lastWrite
            }
        }

        func read(_ channel: any Channel, until isEnough: (String) -> Bool) async throws -> String {
            while true {
                let text: String? = try state.withLock { state in
                    state.isNew = false
                    guard isEnough(state.text) || state.end != nil else { return nil }
                    if state.text.isEmpty { try state.end?.get() }
                    defer { state.text = "" }
                    return state.text
                }
                if let text { return text }
                await withCheckedContinuation { continuation in
                    let isNew = state.withLock { state in
                        if !state.isNew { state.reader = continuation }
                        return state.isNew
                    }
                    if isNew { continuation.resume() } else { channel.read() }
                }
            }
        }

        private func change(_ change: (inout State) -> Void) {
            let reader = state.withLock { state in
                change(&state)
                state.isNew = true
                defer { state.reader = nil }
                return state.reader
            }
            reader?.resume()
        }

        private func end(_ result: Result<Void, any Error>) { change { $0.end = $0.end ?? result } }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let part = String(buffer: unwrapInboundIn(data))
            change { $0.text += part }
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case ChannelEvent.inputClosed = event { end(.success(())) }
            context.fireUserInboundEventTriggered(event)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            end(.failure(error))
            context.close(promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) { end(.success(())) }
    }
}

extension String {
    fileprivate func components(of part: String) -> Int { ranges(of: part).count }
}
