import HTTPTypes
import IdentityService
import InMemoryLogging
import Logging
import NIOCore
import ServiceLifecycle
import TestKit
import Testing

@Suite("Serving over sockets")
struct HTTPServerTests {
    @Test("answers, keeps serving after an error, and tells its request id")
    func answers() async throws {
        try await ServiceFixture().serve { port, _ in
            let refused = try await PlainHTTP.send(
                "POST",
                "http://127.0.0.1:\(port)/v1/accounts:lookup",
                body: Array("{".utf8)
            )
            #expect(refused.status == 403)
            #expect(refused.header("access-control-allow-origin") == "*")
            let health = try await PlainHTTP.send("GET", "http://127.0.0.1:\(port)/healthz")
            health.expectOK()
            #expect(health.header("x-request-id")?.count == 11)
            let head = try await PlainHTTP.send("HEAD", "http://127.0.0.1:\(port)/healthz")
            head.expectOK()
            #expect(head.body.isEmpty)
        }
    }

    @Test("refuses headers that are too large, and goes on")
    func refusesLargeHeaders() async throws {
        try await ServiceFixture().serve { port, _ in
            let answer = try? await PlainHTTP.send(
                "GET",
                "http://127.0.0.1:\(port)/healthz",
                headers: [("X-Large", String(repeating: "a", count: 100_000))]
            )
            #expect(answer?.status != 200)
            let health = try await PlainHTTP.send("GET", "http://127.0.0.1:\(port)/healthz")
            health.expectOK()
        }
    }

    @Test("ends what takes too long with 503")
    func endsSlowRequests() async throws {
        let route = Route(
            .get,
            "/slow",
            on: .service,
            errors: .status,
            .open { _ in
                // Nothing comes before the task is cancelled.
                let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
                for await _ in stream {}
                continuation.finish()
                try Task.checkCancellation()
                return Response(status: .ok)
            }
        )
        var limits = ServiceResponder.Limits.patient
        limits.time = .milliseconds(5)
        let fixture = try ServiceFixture(additionalRoutes: [route], limits: limits)
        try await fixture.serve { port, _ in
            let answer = try await PlainHTTP.send("GET", "http://127.0.0.1:\(port)/slow")
            #expect(answer.status == 503)
        }
        #expect(fixture.log.entries.contains { $0.metadata["error.cause"] == "timeout" })
    }

    @Test("resets no connection when it stops: whoever has connected has a response")
    func resetsNone() async throws {
        var limits = ServiceResponder.Limits.patient
        limits.parting = .minutes(10)
        for _ in 1...10 {
            let (answers, answered) = AsyncStream.makeStream(of: Void.self)
            try await ServiceFixture(limits: limits).serve { port, group in
                try await withThrowingDiscardingTaskGroup { clients in
                    for _ in 1...16 {
                        clients.addTask {
                            // Until the port is closed.
                            while let text = try? await Self.ask(port) {
                                #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
                                answered.yield()
                            }
                        }
                    }
                    for await _ in answers.prefix(50) {}
                    await group.triggerGracefulShutdown()
                }
            }
        }
    }

    @Test("asks whether an address is free without taking anybody's connection")
    func asksWithoutListening() async throws {
        let address = HTTPServer.Address(host: "127.83.11.5", port: 8011)
        try await withThrowingDiscardingTaskGroup { clients in
            clients.addTask { for _ in 1...2000 { try address.requireUsable() } }
            for _ in 1...500 {
                await #expect(throws: (any Error).self) {
                    try await RawConnection.open(port: address.port, host: address.host) { _ in }
                }
            }
        }
    }

    /// - Returns: what a client reads that has connected; nothing after a reset.
    private static func ask(_ port: Int) async throws -> String {
        try await RawConnection.open(port: port) { connection in
            try? await connection.send("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            return (try? await connection.readAll()) ?? ""
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
        try await ServiceFixture(additionalRoutes: [route]).serve { port, group in
            async let answer = PlainHTTP.send("GET", "http://127.0.0.1:\(port)/slow")
            for await _ in arrivals { break }
            await group.triggerGracefulShutdown()
            release.yield()
            let status = try await answer.status
            #expect(status == 200)
        }
    }
}
