import NIOCore
import NIOHTTP1
import NIOPosix
import ServiceLifecycle

/// A small HTTP server on 127.0.0.1, for development and tests: it reads whole requests, and answers a connection's one
/// after another.
package struct PlainServer: Service {
    package struct Request: Sendable {
        package var method: String
        /// With the query.
        package var target: String
        package var headers: [(name: String, value: String)]
        package var body: [UInt8]
        /// The connection, for who wants to break it.
        var channel: any Channel

        package func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name }?.value }
    }

    package struct Response: Sendable {
        package var status: Int
        package var headers: [(name: String, value: String)]
        var body: Body

        package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
            (self.status, self.headers, self.body) = (status, headers, .whole(body))
        }
    }

    enum Body: Sendable {
        case whole([UInt8])
        /// In parts; a length of nil ends with the connection's chunks.
        case parts(length: Int?, @Sendable (Writer) async throws -> Void)
    }

    typealias Writer = @Sendable ([UInt8]) async throws -> Void
    private typealias Connection = NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>

    private let port: Int
    private let onRunning: @Sendable (Int) async -> Void
    private let respond: @Sendable (Request) async throws -> Response

    /// - Parameters:
    ///   - port: 0 for one that is free.
    ///   - onRunning: called with the port once it listens.
    ///   - respond: an error is answered with 500.
    package init(
        port: Int = 0,
        onRunning: @escaping @Sendable (Int) async -> Void,
        respond: @escaping @Sendable (Request) async throws -> Response
    ) {
        (self.port, self.onRunning, self.respond) = (port, onRunning, respond)
    }

    /// Serves until graceful shutdown or cancellation, and finishes the requests in progress.
    package func run() async throws {
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .bind(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    return try Connection(wrappingChannelSynchronously: channel)
                }
            }
        await onRunning(listener.channel.localAddress?.port ?? port)
        try await withThrowingDiscardingTaskGroup { connections in
            try await listener.executeThenClose { accepted in
                for try await connection in accepted.cancelOnGracefulShutdown() {
                    connections.addTask { try? await serve(connection) }
                }
            }
        }
    }

    private func serve(_ connection: Connection) async throws {
        try await connection.executeThenClose { parts, writer in
            var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
            var body: [UInt8] = []
            for try await part in parts.cancelOnGracefulShutdown() {
                switch part {
                case .head(let next): (head, body) = (next, [])
                case .body(let bytes):
                    guard body.count + bytes.readableBytes <= 1 << 20 else { return }
                    body += bytes.readableBytesView
                case .end:
                    let request = Request(
                        method: head.method.rawValue,
                        target: head.uri,
                        headers: head.headers.map { (name: $0.name, value: $0.value) },
                        body: body,
                        channel: connection.channel
                    )
                    let response = (try? await respond(request)) ?? Response(status: 500)
                    try await write(response, to: head, writer)
                    guard head.isKeepAlive else { return }
                }
            }
        }
    }

    private func write(
        _ response: Response,
        to request: HTTPRequestHead,
        _ writer: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>
    ) async throws {
        let status = HTTPResponseStatus(statusCode: response.status)
        var head = HTTPResponseHead(version: request.version, status: status)
        for (name, value) in response.headers { head.headers.add(name: name, value: value) }
        if !request.isKeepAlive { head.headers.replaceOrAdd(name: "connection", value: "close") }
        func begin(_ length: Int?) async throws {
            if let length, status.mayHaveResponseBody {
                head.headers.replaceOrAdd(name: "content-length", value: "\(length)")
            }
            try await writer.write(.head(head))
        }
        func add(_ bytes: [UInt8]) async throws {
            if !bytes.isEmpty, request.method != .HEAD {
                try await writer.write(.body(.byteBuffer(ByteBuffer(bytes: bytes))))
            }
        }
        switch response.body {
        case .whole(let bytes):
            try await begin(bytes.count)
            try await add(bytes)
        case .parts(let length, let produce):
            try await begin(length)
            try await produce { try await writer.write(.body(.byteBuffer(ByteBuffer(bytes: $0)))) }
        }
        try await writer.write(.end(nil))
    }
}
