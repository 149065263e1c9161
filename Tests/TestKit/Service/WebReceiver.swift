import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import Synchronization

/// A real HTTP server on 127.0.0.1 that notes what it is sent, and answers as it is told to.
package final class WebReceiver: Sendable {
    package struct Received: Sendable {
        package let method: String
        package let path: String
        package let headers: [(name: String, value: String)]
        package let body: [UInt8]

        package func header(_ name: String) -> String? {
            headers.first { $0.name.lowercased() == name }?.value
        }

        package var text: String { String(decoding: body, as: UTF8.self) }
        package var json: JSON { (try? JSON(parsing: body)) ?? .null }
    }

    private struct State {
        var received: [Received] = []
        var statuses: [Int] = []
        var retryAfter: String?
        var respond: (@Sendable (Received) async -> (status: Int, body: String))?
    }

    package let baseURL: String
    private let state: Mutex<State>

    private init(port: Int, _ state: State) {
        baseURL = "http://127.0.0.1:\(port)"
        self.state = Mutex(state)
    }

    package var received: [Received] { state.withLock { $0.received } }

    /// `Retry-After` of every response from now on.
    package var retryAfter: String? {
        get { state.withLock { $0.retryAfter } }
        set { state.withLock { $0.retryAfter = newValue } }
    }

    /// What the next requests are answered with; 204 after them.
    package func answer(_ statuses: Int...) { state.withLock { $0.statuses = statuses } }

    /// How every request from now on is answered.
    package func answer(_ respond: @escaping @Sendable (Received) async -> (status: Int, body: String)) {
        state.withLock { $0.respond = respond }
    }

    private func take(_ request: Received) async -> (status: Int, body: String) {
        let (respond, status) = state.withLock { state in
            state.received.append(request)
            return (state.respond, state.statuses.isEmpty ? 204 : state.statuses.removeFirst())
        }
        return await respond?(request) ?? (status, "")
    }

    /// Runs `body` with a server, and stops it.
    package static func run<R: Sendable>(_ body: @Sendable (WebReceiver) async throws -> R) async throws -> R {
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        let responder = Responder()
        let logger = Logger(label: "web-receiver") { _ in SwiftLogNoOpLogHandler() }
        let application = Application(
            responder: responder,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in continuation.yield(channel.localAddress?.port ?? 0) },
            logger: logger
        )
        let group = ServiceGroup(configuration: .init(services: [application], logger: logger))
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { continuation.finish() }
                try await group.run()
            }
            guard let port = await ports.first(where: { _ in true }) else { throw TestServiceError.setUp }
            let receiver = WebReceiver(port: port, State())
            responder.receiver.withLock { $0 = receiver }
            do {
                let result = try await body(receiver)
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
                return result
            } catch {
                await group.triggerGracefulShutdown()
                try? await tasks.waitForAll()
                throw error
            }
        }
    }

    private final class Responder: HTTPResponder {
        let receiver = Mutex<WebReceiver?>(nil)

        func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
            let body = try await request.body.collect(upTo: 1 << 20)
            let received = Received(
                method: request.method.rawValue,
                path: request.uri.string,
                headers: request.headers.map { (name: $0.name.rawName, value: $0.value) },
                body: Array(buffer: body)
            )
            let (status, text) = await receiver.withLock { $0 }?.take(received) ?? (500, "")
            var headers = HTTPFields()
            headers[.retryAfter] = receiver.withLock { $0 }?.retryAfter
            return Response(
                status: .init(code: status),
                headers: headers,
                body: text.isEmpty ? .init() : .init(byteBuffer: ByteBuffer(string: text))
            )
        }
    }
}
