import Hummingbird
import IdentityService
import Logging
import ServiceLifecycle
import TestKit
import Testing

@Suite("Serving over sockets")
struct ServiceApplicationTests {
    /// Runs the service on a free port.
    private func serve(
        _ fixture: ServiceFixture,
        _ body: @escaping @Sendable (_ origin: String, _ group: ServiceGroup) async throws -> Void
    ) async throws {
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let application = ServiceApplication.make(
            responder: fixture.assembly.responder,
            address: .init(port: 0),
            logger: logger,
            onRunning: { port.yield($0) }
        )
        let group = ServiceGroup(configuration: .init(services: [application], logger: logger))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            tasks.addTask {
                var iterator = ports.makeAsyncIterator()
                let number = try #require(await iterator.next())
                try await body("http://127.0.0.1:\(number)", group)
                await group.triggerGracefulShutdown()
            }
            try await tasks.waitForAll()
        }
    }

    @Test("answers, keeps serving after an error, and tells its request id")
    func answers() async throws {
        try await serve(ServiceFixture()) { origin, _ in
            let refused = try await PlainHTTP.send("POST", "\(origin)/v1/accounts:lookup", body: Array("{".utf8))
            #expect(refused.status == 403)
            #expect(refused.header("access-control-allow-origin") == "*")
            let health = try await PlainHTTP.send("GET", "\(origin)/healthz")
            #expect(health.status == 200)
            #expect(health.header("x-request-id")?.count == 16)
            let head = try await PlainHTTP.send("HEAD", "\(origin)/healthz")
            #expect(head.status == 200)
            #expect(head.body.isEmpty)
        }
    }

    @Test("refuses a body of more than 1 MiB and goes on")
    func refusesLargeBody() async throws {
        try await serve(ServiceFixture()) { origin, _ in
            let url = "\(origin)/v1/accounts:lookup?key=\(ServiceFixture.key)"
            let large = try await PlainHTTP.send("POST", url, body: Array(repeating: 32, count: 2 << 20))
            #expect(large.status == 413)
            let small = try await PlainHTTP.send("POST", url, body: Array("{}".utf8))
            #expect(small.status == 400)
        }
    }

    @Test("refuses headers that are too large, and goes on")
    func refusesLargeHeaders() async throws {
        try await serve(ServiceFixture()) { origin, _ in
            let answer = try? await PlainHTTP.send(
                "GET",
                "\(origin)/healthz",
                headers: [("X-Large", String(repeating: "a", count: 100_000))]
            )
            #expect(answer?.status != 200)
            let health = try await PlainHTTP.send("GET", "\(origin)/healthz")
            #expect(health.status == 200)
        }
    }

    @Test("finishes the requests in flight when it is told to stop")
    func finishesRequests() async throws {
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        let (releases, release) = AsyncStream.makeStream(of: Void.self)
        let route = Route(
            .get,
            "/slow",
            on: .service,
            errors: .status,
            .open { _ in
                arrived.yield()
                for await _ in releases { break }
                return .json { $0.member("done", true) }
            }
        )
        try await serve(ServiceFixture(additionalRoutes: [route])) { origin, group in
            async let answer = PlainHTTP.send("GET", "\(origin)/slow")
            for await _ in arrivals { break }
            await group.triggerGracefulShutdown()
            release.yield()
            let status = try await answer.status
            #expect(status == 200)
        }
    }
}
