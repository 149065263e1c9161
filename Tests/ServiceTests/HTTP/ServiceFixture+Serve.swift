import IdentityService
import Logging
import ServiceLifecycle
import Testing

extension ServiceFixture {
    /// Runs the service on a free port.
    func serve(
        tls: ServerTLS? = nil,
        _ body: @escaping @Sendable (_ port: Int, _ group: ServiceGroup) async throws -> Void
    ) async throws {
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let application = HTTPServer(
            responder: assembly.responder,
            address: .init(port: 0),
            tls: tls,
            onRunning: { port.yield($0) }
        )
        let group = ServiceGroup(configuration: .init(services: [application], logger: logger))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            tasks.addTask {
                var iterator = ports.makeAsyncIterator()
                let number = try #require(await iterator.next())
                try await body(number, group)
                await group.triggerGracefulShutdown()
            }
            try await tasks.waitForAll()
        }
    }
}
