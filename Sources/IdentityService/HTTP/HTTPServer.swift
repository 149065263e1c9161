import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import ServiceLifecycle
import Synchronization

/// The HTTP server of the service: accepts connections until it is told to stop, and then finishes those that are open.
///
/// When a port closes, connections that the kernel has taken but nobody has accepted are reset with their requests, and a
/// proxy answers 502, because it must not repeat a POST. So the kernel is told first to take no more.
package struct HTTPServer: Service, CustomStringConvertible {
    package struct Address: Sendable {
        package var host: String
        /// 0 for any free port, which `onRunning` reports.
        package var port: Int

        package init(host: String = "127.0.0.1", port: Int) {
            self.host = host
            self.port = port
        }
    }

    private let address: Address
    private let onRunning: @Sendable (Int) async -> Void
    private let connections: Connections

    /// For how long nothing must have been accepted before the port closes: handshakes in progress end meanwhile.
    private static let settling = TimeAmount.milliseconds(20)
    private static let longestSettling = 50

    /// The system has closed the listening socket.
    private struct NoLongerListening: Error {}

    /// - Parameters:
    ///   - tls: nil for plain HTTP.
    ///   - onRunning: called with the port once it listens.
    package init(
        responder: ServiceResponder,
        address: Address,
        tls: ServerTLS? = nil,
        onRunning: @escaping @Sendable (Int) async -> Void = { _ in }
    ) {
        self.address = address
        self.onRunning = onRunning
        connections = Connections(responder: responder, tls: tls)
    }

    /// For the log of services, which would else describe all that it responds with.
    package var description: String { "HTTPServer(\(address.host):\(address.port))" }

    /// - Throws: ``Address/Unusable``; an error if the system closes the listening socket.
    package func run() async throws {
        let accepted = AcceptedConnections()
        let listener: any Channel
        do { listener = try await listen(accepted) } catch let error as IOError {
            throw Address.Unusable(address, error)
        }
        await onRunning(listener.localAddress?.port ?? address.port)
        try await waitForStop(of: listener)
        await settle(listener, accepted)
        try? await listener.close()
        let open = accepted.open
        for connection in open { connection.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
        for connection in open { try? await connection.closeFuture.get() }
    }

    private func waitForStop(of listener: any Channel) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try? await gracefulShutdown() }
            group.addTask {
                // Cancelled, it returns.
                let (ends, end) = AsyncStream.makeStream(of: Void.self)
                listener.closeFuture.whenComplete { _ in end.yield() }
                for await _ in ends { throw NoLongerListening() }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Waits until all that the kernel has taken is accepted and set up; not for ever where it cannot be told to take no
    /// more.
    private func settle(_ listener: any Channel, _ accepted: AcceptedConnections) async {
        try? await SynFilter.attach(to: listener)
        for _ in 1...Self.longestSettling {
            let count = accepted.count
            try? await listener.eventLoop.scheduleTask(in: Self.settling) {}.futureResult.get()
            guard accepted.count != count else { break }
        }
        for loop in MultiThreadedEventLoopGroup.singleton.makeIterator() { try? await loop.submit {}.get() }
        try? await listener.eventLoop.submit {}.get()
    }

    private func listen(_ accepted: AcceptedConnections) async throws -> any Channel {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(AcceptBackoffHandler(), accepted)
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer(connections.setUp)
            .bind(host: address.host, port: address.port)
            .get()
    }
}

/// Creates the pipeline of each connection.
private struct Connections: Sendable {
    let responder: ServiceResponder
    let tls: ServerTLS?

    func setUp(_ channel: any Channel) -> EventLoopFuture<Void> {
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
        }
    }
}

/// Remembers the connections of a listener.
private final class AcceptedConnections: ChannelInboundHandler, Sendable {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel

    private let state = Mutex((open: [ObjectIdentifier: any Channel](), count: 0))

    var open: [any Channel] { state.withLock { Array($0.open.values) } }
    /// Of all that were ever accepted.
    var count: Int { state.withLock(\.count) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = unwrapInboundIn(data)
        let id = ObjectIdentifier(channel)
        state.withLock {
            $0.open[id] = channel
            $0.count += 1
        }
        channel.closeFuture.whenComplete { _ in self.state.withLock { _ = $0.open.removeValue(forKey: id) } }
        context.fireChannelRead(data)
    }
}

/// Has the kernel drop what would begin a new connection: the client tries again a second later, and is refused then.
///
/// A classic BPF program (Linux, Documentation/networking/filter.rst) that sees each TCP segment from its header on.
///
/// `@unchecked Sendable`: the instructions are written once and live as long as the process.
@safe private struct SynFilter: @unchecked Sendable {
    private struct Instruction {
        var code: UInt16
        var whenTrue: UInt8 = 0
        var whenFalse: UInt8 = 0
        var operand: UInt32
    }

    // As `struct sock_fprog`.
    private let count: UInt16
    private let instructions: UnsafeMutablePointer<Instruction>

    private static let program = {
        let instructions = [
            Instruction(code: 0x30, operand: 13),  // load the byte of flags
            Instruction(code: 0x54, operand: 0x12),  // keep SYN and ACK
            Instruction(code: 0x15, whenFalse: 1, operand: 0x02),  // if it is SYN alone
            Instruction(code: 0x06, operand: 0),  // drop
            Instruction(code: 0x06, operand: .max),  // else keep
        ]
        let kept = UnsafeMutablePointer<Instruction>.allocate(capacity: instructions.count)
        unsafe kept.initialize(from: instructions, count: instructions.count)
        return unsafe SynFilter(count: UInt16(instructions.count), instructions: kept)
    }()

    static func attach(to listener: any Channel) async throws {
        let socket = listener as? any SocketOptionProvider
        let option = NIOBSDSocket.Option(rawValue: SO_ATTACH_FILTER)
        try await socket?.unsafeSetSocketOption(level: .socket, name: option, value: program).get()
    }
}
