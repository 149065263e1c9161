import HTTPTypes
import IdentityService
import NIOCore
import ServiceLifecycle
import TestKit
import Testing
import Text

@Suite("Limits of connections", .timeLimit(.minutes(10)))
struct HTTPLimitTests {
    @Test("ends a connection whose client does not read its last answer")
    func endsUnreadConnections() async throws {
        let large = ByteBuffer(repeating: UInt8(ascii: "x"), count: 32 << 20)
        let route = Route(
            .get,
            "/large",
            on: .service,
            errors: .status,
            .open { _ in Response(status: .ok, body: large) }
        )
        var limits = ServiceResponder.Limits.patient
        limits.idle = .milliseconds(50)
        let fixture = try ServiceFixture(additionalRoutes: [route], limits: limits)
        try await fixture.serve { port, _ in
            try await RawConnection.open(port: port) { connection in
                try await connection.send("GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                // The rest is more than sockets hold.
                _ = try await connection.read(until: "\r\n\r\n")
                try await waitUntil { fixture.assembly.responder.connections == 0 }
            }
        }
    }

    @Test(
        "ends a connection that sends nothing, half a head, or half a body",
        arguments: [
            "", "GET /healthz HTTP/1.1\r\nHo", "POST /length HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{",
        ]
    )
    func endsSilentConnections(_ bytes: String) async throws {
        var limits = ServiceResponder.Limits.patient
        limits.head = .milliseconds(20)
        limits.time = .milliseconds(20)
        try await HTTPConnectionTests.connect(limits: limits) { connection in
            #expect(await connection.readsNothing(after: bytes))
        }
    }

    @Test("T-E22: reads no more than once behind a request that it answers, and then goes on")
    func stopsReadingBehindARequest() async throws {
        let (begins, begun) = AsyncStream.makeStream(of: Void.self)
        let (goings, gone) = AsyncStream.makeStream(of: Void.self)
        let slow = Route(
            .get,
            "/slow",
            on: .service,
            errors: .status,
            .open { _ in
                begun.yield()
                for await _ in goings { break }
                return Response(status: .noContent)
            }
        )
        var echo = HTTPConnectionTests.echo
        echo.bodyLimit = 8 << 20
        let fixture = try ServiceFixture(additionalRoutes: [slow, echo])
        try await fixture.serve { port, _ in
            try await RawConnection.open(port: port) { connection in
                try await connection.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
                for await _ in begins { break }
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    let body = String(repeating: "x", count: 8 << 20)
                    tasks.addTask { try await connection.send(HTTPConnectionTests.post("/length", body)) }
                    try await waitUntil { fixture.assembly.responder.heldBytes > 0 }
                    // Others are served meanwhile, so the connection was read as often as the service wants to.
                    try await RawConnection.open(port: port) { other in
                        for _ in 0..<200 {
                            try await other.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
                            _ = try await other.read(until: "}")
                        }
                    }
                    // One read brings at most four buffers of 8 KiB.
                    #expect(fixture.assembly.responder.heldBytes <= 32 << 10)
                    gone.yield()
                    let answers = try await connection.read(until: "}")
                    #expect(answers.hasPrefix("HTTP/1.1 204 "), "\(answers)")
                    #expect(answers.hasSuffix(#"{"length":8388608}"#), "\(answers)")
                    try await tasks.waitForAll()
                }
            }
            try await waitUntil { fixture.assembly.responder.heldBytes == 0 }
        }
    }

    @Test("refuses with 503 what goes beyond the requests and bytes that it holds at a time, and recovers")
    func shedsLoad() async throws {
        let (begins, begun) = AsyncStream.makeStream(of: Void.self)
        let (goings, gone) = AsyncStream.makeStream(of: Void.self)
        let route = Route(
            .get,
            "/slow",
            on: .service,
            errors: .status,
            .open { _ in
                begun.yield()
                for await _ in goings { break }
                return Response(status: .noContent)
            }
        )
        var limits = ServiceResponder.Limits.patient
        limits.requests = 1
        limits.bodyBytes = 100
        try await ServiceFixture(additionalRoutes: [route, HTTPConnectionTests.echo], limits: limits).serve { port, _ in
            try await RawConnection.open(port: port) { first in
                try await first.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
                for await _ in begins { break }
                try await RawConnection.open(port: port) { second in
                    // Plain text, so that no SDK takes it for the end of a session.
                    try await second.send(HTTPConnectionTests.post(HTTPConnectionTests.lookup, "{}"))
                    let refused = try await second.read(until: "available.\n")
                    #expect(refused.hasPrefix("HTTP/1.1 503 "))
                    #expect(refused.lowercased().contains("\r\ncontent-type: text/plain; charset=utf-8\r\n"))
                    #expect(refused.lowercased().contains("\r\nretry-after: 1\r\n"))
                    gone.yield()
                    #expect(try await first.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 204 "))
                    try await second.send(HTTPConnectionTests.post("/length", String(repeating: " ", count: 101)))
                    #expect(try await second.read(until: "}}").hasPrefix("HTTP/1.1 503 "))
                    try await second.send(HTTPConnectionTests.post("/length", String(repeating: " ", count: 100)))
                    #expect(try await second.read(until: "}").hasSuffix(#"{"length":100}"#))
                }
            }
        }
    }

    @Test(
        "T-E9: keeps nothing of a body that no route reads",
        arguments: ["GET /length", "DELETE /length", "POST /nowhere"]
    )
    func keepsNoUnreadBody(_ request: String) async throws {
        var limits = ServiceResponder.Limits.patient
        limits.bodyBytes = 100
        try await ServiceFixture(additionalRoutes: [HTTPConnectionTests.echo], limits: limits).serve { port, _ in
            try await RawConnection.open(port: port) { first in
                try await first.send("\(request) HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\n")
                try await first.send(String(repeating: "x", count: 98))
                try await RawConnection.open(port: port) { second in
                    // Some answers, so that the other connection was read meanwhile.
                    for _ in 0..<20 {
                        try await second.send(HTTPConnectionTests.post("/length", String(repeating: " ", count: 100)))
                        #expect(try await second.read(until: "}").hasSuffix(#"{"length":100}"#))
                    }
                }
                try await first.send("x")
                #expect(try await first.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 40"))
            }
        }
    }

    @Test("T-E9: takes 128 KiB for a client operation, and more only with an admin's credential")
    func limitsClientBodies() async throws {
        let most = "{" + String(repeating: " ", count: (128 << 10) - 2) + "}"
        try await HTTPConnectionTests.connect { connection in
            try await connection.send(HTTPConnectionTests.post(HTTPConnectionTests.lookup, most))
            #expect(try await connection.read(until: "}}").hasPrefix("HTTP/1.1 400 "))
            try await connection.send(HTTPConnectionTests.post(HTTPConnectionTests.lookup, most + " "))
            let refused = try await connection.read(until: "}}")
            #expect(refused.hasPrefix("HTTP/1.1 413 "), "\(refused)")
        }
    }

    @Test("T-E9: one address takes at most an eighth of what bodies may take; the others are served")
    func sharesBodies() async throws {
        var limits = ServiceResponder.Limits.patient
        limits.bodyBytes = 64 << 20
        limits.proxies = try #require(TrustedProxies(["127.0.0.1"]))
        let fixture = try ServiceFixture(additionalRoutes: [HTTPConnectionTests.echo], limits: limits)
        try await fixture.serve { port, _ in
            // All of them fit, in whatever order they arrive, and leave room for eight bytes.
            let (bytes, address) = (Request.maximumBody - 1, "198.18.50.1")
            try await Self.hold(bytes, from: Array(repeating: address, count: 8), port: port) {
                try await waitUntil { fixture.assembly.responder.heldBytes == 8 * bytes }
                #expect(try await Self.status(ofPosting: 100, from: address, port: port) == "HTTP/1.1 503")
                #expect(try await Self.status(ofPosting: 100, from: "198.18.50.2", port: port) == "HTTP/1.1 200")
            }
        }
    }

    /// Keeps a connection open for each address: with a POST whose last byte does not come.
    private static func hold(
        _ bytes: Int,
        from addresses: [String],
        port: Int,
        _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        guard let address = addresses.first else { return try await body() }
        try await RawConnection.open(port: port) { connection in
            let head =
                "POST /length HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: \(address)\r\nContent-Length: \(bytes + 1)\r\n\r\n"
            try await connection.send(head + String(repeating: "x", count: bytes))
            try await hold(bytes, from: Array(addresses.dropFirst()), port: port, body)
        }
    }

    /// The status of a request with a body of so many bytes.
    private static func status(ofPosting bytes: Int, from address: String, port: Int) async throws -> String {
        try await RawConnection.open(port: port) { connection in
            let body = String(repeating: "x", count: bytes)
            try await connection.send(
                HTTPConnectionTests.post("/length", body, headers: ["X-Forwarded-For: \(address)"])
            )
            return String(try await connection.read(until: "\r\n\r\n").prefix(12))
        }
    }

    private func limits(bodyBytes: Int) throws -> ServiceResponder.Limits {
        var limits = ServiceResponder.Limits.patient
        limits.bodyBytes = bodyBytes
        limits.proxies = try #require(TrustedProxies(["127.0.0.1"]))
        return limits
    }

    @Test("T-E23: large bodies of eight addresses leave room for small ones of a ninth")
    func keepsRoomForSmallBodies() async throws {
        let fixture = try ServiceFixture(
            additionalRoutes: [HTTPConnectionTests.echo],
            limits: limits(bodyBytes: 8 << 20)
        )
        try await fixture.serve { port, _ in
            let addresses = (1...8).map { "198.18.50.\($0)" }
            try await Self.hold(Request.maximumBody - 1, from: addresses, port: port) {
                try await waitUntil { fixture.assembly.responder.heldBytes >= 6 << 20 }
                // Often, so that meanwhile everything was read.
                for _ in 0..<50 {
                    #expect(try await Self.status(ofPosting: 200, from: "198.18.50.9", port: port) == "HTTP/1.1 200")
                }
            }
        }
    }

    @Test("T-E23: subscribers of one /48 take at most a quarter of what bodies may take; the others are served")
    func limitsBodiesOfASite() async throws {
        let fixture = try ServiceFixture(
            additionalRoutes: [HTTPConnectionTests.echo],
            limits: limits(bodyBytes: 8 << 20)
        )
        try await fixture.serve { port, _ in
            let addresses = (1...7).map { "2001:db8:1:\($0)::1" }
            try await Self.hold(900_000, from: addresses, port: port) {
                try await waitUntil { fixture.assembly.responder.heldBytes >= 1_800_000 }
                let eighth = try await Self.status(ofPosting: 900_000, from: "2001:db8:1:8::1", port: port)
                #expect(eighth == "HTTP/1.1 503")
                let other = try await Self.status(ofPosting: 900_000, from: "2001:db8:2:1::1", port: port)
                #expect(other == "HTTP/1.1 200")
            }
        }
    }

    @Test("T-E23: subscribers of one /48 have at most a quarter of all connections")
    func limitsConnectionsOfASite() throws {
        var limits = ServiceResponder.Limits.patient
        limits.connections = 32
        let load = ServerLoad(limits)
        func networks(_ text: String) throws -> ServerLoad.Networks {
            ServerLoad.Networks(of: try #require(IPAddress(caller: text)))
        }
        for subscriber in 1...8 { #expect(load.opened(by: try networks("2001:db8:1:\(subscriber)::1"))) }
        #expect(!load.opened(by: try networks("2001:db8:1:9::1")))
        #expect(load.opened(by: try networks("2001:db8:2:1::1")))
        #expect(load.opened(by: try networks("192.0.2.1")))
        for subscriber in [1, 9] { load.closed(by: try networks("2001:db8:1:\(subscriber)::1")) }
        #expect(load.opened(by: try networks("2001:db8:1:10::1")))
    }

    @Test("T-E36: one network, or all subscribers of a /48, have at most a quarter of the requests in progress")
    func limitsRequestsOfANetwork() throws {
        var limits = ServiceResponder.Limits.patient
        limits.requests = 16
        let load = ServerLoad(limits)
        func networks(_ text: String) throws -> ServerLoad.Networks {
            ServerLoad.Networks(of: try #require(IPAddress(caller: text)))
        }
        for subscriber in 1...4 { #expect(load.begin(by: try networks("2001:db8:1:\(subscriber)::1"))) }
        #expect(!load.begin(by: try networks("2001:db8:1:5::1")))
        for _ in 1...4 { #expect(load.begin(by: try networks("192.0.2.1"))) }
        #expect(!load.begin(by: try networks("192.0.2.1")))
        #expect(load.begin(by: try networks("192.0.2.2")))
        load.end(by: try networks("192.0.2.1"))
        load.end(by: try networks("2001:db8:1:1::1"))
        #expect(load.begin(by: try networks("192.0.2.1")))
        #expect(load.begin(by: try networks("2001:db8:1:6::1")))
        // Of unknown networks there may be as many as there is room for.
        for _ in 10...16 { #expect(load.begin(by: nil)) }
        #expect(!load.begin(by: nil))
    }

    @Test("T-E24: ends an answer in parts whose client does not read, and gives its slot back")
    func endsUnreadParts() async throws {
        let large = ByteBuffer(repeating: UInt8(ascii: "x"), count: 32 << 20)
        let route = Route(
            .get,
            "/large",
            on: .service,
            errors: .status,
            .open { _ in
                var response = Response(status: .ok, body: large)
                response.nextPart = { large }
                return response
            }
        )
        var limits = ServiceResponder.Limits.patient
        limits.time = .seconds(1)
        let fixture = try ServiceFixture(additionalRoutes: [route], limits: limits)
        try await fixture.serve { port, _ in
            try await RawConnection.open(port: port) { connection in
                try await connection.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
                // The rest is more than sockets hold.
                _ = try await connection.read(until: "\r\n\r\n")
                try await waitUntil { fixture.assembly.responder.connections == 0 }
                try await waitUntil { fixture.assembly.responder.requestsInFlight == 0 }
            }
        }
    }

    @Test(
        "T-E16: refuses a connection beyond its number, and beyond a quarter of it for one address",
        arguments: [true, false]
    )
    func limitsConnections(isProxy: Bool) async throws {
        var limits = ServiceResponder.Limits.patient
        limits.connections = 8
        if isProxy { limits.proxies = try #require(TrustedProxies(["127.0.0.1"])) }
        @Sendable func open(_ count: Int, port: Int, _ body: @escaping @Sendable () async throws -> Void) async throws {
            guard count > 0 else { return try await body() }
            try await RawConnection.open(port: port) { connection in
                try await connection.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try await connection.read(until: "}").hasPrefix("HTTP/1.1 200 OK\r\n"))
                try await open(count - 1, port: port, body)
            }
        }
        let fixture = try ServiceFixture(limits: limits)
        try await fixture.serve { port, _ in
            try await open(isProxy ? 8 : 2, port: port) {
                try await RawConnection.open(port: port) { connection in
                    let answer = try await connection.readAll()
                    #expect(answer.isEmpty)
                }
            }
            try await waitUntil { fixture.assembly.responder.connections == 0 }
            try await open(1, port: port) {}
        }
    }

    @Test("T-E16: ends a new connection that sends no head in time")
    func limitsTheFirstHead() async throws {
        var limits = ServiceResponder.Limits.patient
        limits.head = .milliseconds(20)
        try await HTTPConnectionTests.connect(limits: limits) { connection in
            #expect(await connection.readsNothing(after: "GET /healthz HTTP/1.1\r\nHo"))
        }
        try await HTTPConnectionTests.connect { connection in
            try await connection.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await connection.read(until: "}").hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    @Test("T-E38: ends a kept connection whose next head does not arrive in time")
    func limitsLaterHeads() async throws {
        var limits = ServiceResponder.Limits.patient
        limits.head = .milliseconds(200)
        try await HTTPConnectionTests.connect(limits: limits) { connection in
            try await connection.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await connection.read(until: "}").hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(await connection.readsNothing(after: "GET /healthz HTTP/1.1\r\nHo"))
        }
    }

    @Test("answers what comes on a kept connection while the server stops, and closes it then")
    func answersAtTheEnd() async throws {
        var limits = ServiceResponder.Limits.patient
        limits.parting = .minutes(10)
        try await ServiceFixture(limits: limits).serve { port, group in
            try await RawConnection.open(port: port) { connection in
                func ask() async throws -> String {
                    try await connection.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
                    let answer = try await connection.read(until: "}").lowercased()
                    #expect(answer.hasPrefix("http/1.1 200 ok\r\n"))
                    return answer
                }
                #expect(try await !ask().contains("\r\nconnection: close\r\n"))
                await group.triggerGracefulShutdown()
                // Until the connection has heard of it.
                while try await !ask().contains("\r\nconnection: close\r\n") {}
                #expect(try await connection.readAll().isEmpty)
            }
        }
    }

    @Test("T-E38: a head that begins behind an unanswered request counts, and has no longer than others")
    func limitsHeadsBehindRequests() async throws {
        let (signal, answer) = AsyncStream<Void>.makeStream()
        defer { answer.finish() }
        let route = Route(
            .get,
            "/waiting",
            on: .service,
            errors: .status,
            .open { _ in
                for await _ in signal {}
                return Response(status: .ok)
            }
        )
        var limits = ServiceResponder.Limits.patient
        limits.head = .milliseconds(200)
        let fixture = try ServiceFixture(additionalRoutes: [route], limits: limits)
        let responder = fixture.assembly.responder
        try await fixture.serve { port, _ in
            try await RawConnection.open(port: port) { connection in
                try await connection.send("GET /waiting HTTP/1.1\r\nHost: a\r\n\r\n")
                try await connection.send("GET / HTTP/1.1\r\na: " + String(repeating: "a", count: 15 << 10))
                // 4 KiB of it are free, and as much may have come with the end of the request.
                try await waitUntil { responder.heldBytes >= 7 << 10 }
                answer.finish()
                #expect(try await connection.readAll().hasPrefix("HTTP/1.1 200 OK\r\n"))
                try await waitUntil { responder.heldBytes == 0 }
            }
        }
    }

    @Test("T-E38: long heads that never end take no more than one address's share; short ones are served")
    func limitsHeldHeads() async throws {
        var limits = ServiceResponder.Limits.patient
        limits.bodyBytes = 8 << 20
        let fixture = try ServiceFixture(limits: limits)
        let responder = fixture.assembly.responder
        let head = "GET /healthz HTTP/1.1\r\nHost: a\r\na: "
        let long = head + String(repeating: "a", count: (16 << 10) - head.utf8.count)
        @Sendable func hold(_ count: Int, port: Int, _ body: @escaping @Sendable () async throws -> Void) async throws {
            guard count > 0 else { return try await body() }
            try await RawConnection.open(port: port) { connection in
                let before = responder.heldBytes
                try await connection.send(long)
                try await waitUntil { responder.heldBytes == before + (12 << 10) }
                try await hold(count - 1, port: port, body)
            }
        }
        try await fixture.serve { port, _ in
            // Of the first bytes, a subscriber has a 64th of the total.
            try await hold(10, port: port) {
                try await RawConnection.open(port: port) { connection in
                    try await connection.send(long)
                    #expect(try await connection.readAll().hasPrefix("HTTP/1.1 503 "))
                }
                try await RawConnection.open(port: port) { connection in
                    try await connection.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
                    #expect(try await connection.read(until: "}").hasPrefix("HTTP/1.1 200 OK\r\n"))
                }
            }
            try await waitUntil { responder.heldBytes == 0 }
        }
    }
}
