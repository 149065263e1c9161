import Development
import Logging
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
        let current = Mutex<WebReceiver?>(nil)
        let logger = Logger(label: "web-receiver") { _ in SwiftLogNoOpLogHandler() }
        let server = PlainServer { port in
            continuation.yield(port)
        } respond: { request in
            guard let receiver = current.withLock({ $0 }) else { return PlainServer.Response(status: 500) }
            let received = Received(
                method: request.method,
                path: request.target,
                headers: request.headers,
                body: request.body
            )
            let (status, text) = await receiver.take(received)
            let headers = receiver.retryAfter.map { [(name: "retry-after", value: $0)] }
            return PlainServer.Response(status: status, headers: headers ?? [], body: Array(text.utf8))
        }
        let group = ServiceGroup(configuration: .init(services: [server], logger: logger))
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { continuation.finish() }
                try await group.run()
            }
            guard let port = await ports.first(where: { _ in true }) else { throw TestServiceError.setUp }
            let receiver = WebReceiver(port: port, State())
            current.withLock { $0 = receiver }
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
}
