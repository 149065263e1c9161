import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// A loopback HTTP server that answers exactly what a test says, broken answers included, and remembers what it was asked.
final class ScriptedServer: Sendable {
    struct Request: Sendable {
        var method: String
        var path: String
        var query: String
        var headers: [String: String]
        var body: String

        /// The form fields or query parameters, percent-decoded.
        func field(_ name: String) -> String? { Request.fields(body)[name] }
        func parameter(_ name: String) -> String? { Request.fields(query)[name] }

        static func fields(_ text: String) -> [String: String] {
            var fields: [String: String] = [:]
            for part in text.split(separator: "&") {
                let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                fields[String(pair[0])] = pair.count == 2 ? String(pair[1]).removingPercentEncoding : ""
            }
            return fields
        }
    }

    enum Reply: Sendable {
        case answer(status: Int = 200, headers: [(String, String)] = [], body: [UInt8])
        /// These bytes, then the connection closes.
        case raw(String)
        /// These bytes, then nothing until the client goes.
        case stall(String = "")
        /// Lets the test compute the answer.
        case compute(@Sendable (Request) -> Reply)

        static func json(_ text: String, status: Int = 200, headers: [(String, String)] = []) -> Reply {
            .answer(status: status, headers: [("content-type", "application/json")] + headers, body: Array(text.utf8))
        }
        static func text(_ text: String, type: String, status: Int = 200) -> Reply {
            .answer(status: status, headers: [("content-type", type)], body: Array(text.utf8))
        }
        static func status(_ status: Int, headers: [(String, String)] = []) -> Reply {
            .answer(status: status, headers: headers, body: [])
        }
        static let hangUp = Reply.raw("")
    }

    private struct State {
        var replies: [String: [Reply]] = [:]
        var requests: [Request] = []
        var port = 0
    }

    private let state = Mutex(State())

    private init() {}

    var port: Int { state.withLock { $0.port } }
    var base: String { "http://127.0.0.1:\(port)" }

    /// Answers requests to a path with these replies in turn; the last one stays.
    func on(_ path: String, _ replies: Reply...) {
        state.withLock { $0.replies[path] = replies }
    }

    var requests: [Request] { state.withLock { $0.requests } }
    func requests(to path: String) -> [Request] { requests.filter { $0.path == path } }

    static func run<Value: Sendable>(
        _ body: @Sendable (ScriptedServer) async throws -> Value
    ) async throws -> Value {
        let server = ScriptedServer()
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ScriptedConnection(server: server))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        server.state.withLock { $0.port = channel.localAddress?.port ?? 0 }
        let outcome: Result<Value, any Error>
        do {
            outcome = .success(try await body(server))
        } catch {
            outcome = .failure(error)
        }
        try? await channel.close()
        return try outcome.get()
    }

    /// What to write, and whether the connection stays open.
    fileprivate func answer(_ request: Request) -> (bytes: [UInt8], staysOpen: Bool) {
        var reply = state.withLock { state -> Reply in
            state.requests.append(request)
            guard var replies = state.replies[request.path], let first = replies.first else { return .status(404) }
            if replies.count > 1 { replies.removeFirst() }
            state.replies[request.path] = replies
            return first
        }
        if case .compute(let make) = reply { reply = make(request) }
        switch reply {
        case .answer(let status, let headers, let body):
            var head = "HTTP/1.1 \(status) Status\r\ncontent-length: \(body.count)\r\n"
            for (name, value) in headers { head += "\(name): \(value)\r\n" }
            return (Array((head + "\r\n").utf8) + body, true)
        case .raw(let text): return (Array(text.utf8), false)
        case .stall(let text): return (Array(text.utf8), true)
        case .compute: return ([], false)
        }
    }

    fileprivate static func parse(_ buffer: inout [UInt8]) -> Request? {
        let text = String(decoding: buffer, as: UTF8.self)
        guard let end = text.firstRange(of: "\r\n\r\n") else { return nil }
        let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let pair = line.split(separator: ":", maxSplits: 1)
            if pair.count == 2 { headers[pair[0].lowercased()] = pair[1].trimmingCharacters(in: .whitespaces) }
        }
        let headSize = text[..<end.upperBound].utf8.count
        let size = headSize + (headers["content-length"].flatMap { Int($0) } ?? 0)
        guard buffer.count >= size else { return nil }
        let body = String(decoding: buffer[headSize..<size], as: UTF8.self)
        buffer.removeFirst(size)
        let first = lines[0].split(separator: " ")
        let target = first[1].split(separator: "?", maxSplits: 1)
        return Request(
            method: String(first[0]),
            path: String(target[0]),
            query: target.count == 2 ? String(target[1]) : "",
            headers: headers,
            body: body
        )
    }
}

private final class ScriptedConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let server: ScriptedServer
    private var buffer: [UInt8] = []

    init(server: ScriptedServer) { self.server = server }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        buffer.append(contentsOf: unwrapInboundIn(data).readableBytesView)
        while let request = ScriptedServer.parse(&buffer) {
            let (bytes, staysOpen) = server.answer(request)
            if !bytes.isEmpty { context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil) }
            guard staysOpen else { return context.close(promise: nil) }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
