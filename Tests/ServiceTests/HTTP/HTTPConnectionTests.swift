import HTTPTypes
import IdentityService
import InMemoryLogging
import NIOCore
import ServiceLifecycle
import TestKit
import Testing
import Text

@Suite("Connections", .timeLimit(.minutes(10)))
struct HTTPConnectionTests {
    static let lookup = "/v1/accounts:lookup?key=\(ServiceFixture.key)"

    /// A route that says how long the body was.
    static let echo = Route(
        .post,
        "/length",
        on: .service,
        errors: .status,
        bodyLimit: Request.maximumBody,
        .open { call in .json { $0.member("length", number: Int64(call.body.readableBytes)) } }
    )

    /// A request, byte by byte.
    static func post(_ path: String, _ body: String, headers: [String] = []) -> String {
        (["POST \(path) HTTP/1.1", "Host: a", "Content-Length: \(body.utf8.count)"] + headers + ["", body])
            .joined(separator: "\r\n")
    }

    static func connect(
        routes: [Route] = [],
        limits: ServiceResponder.Limits = .patient,
        _ body: @escaping @Sendable (RawConnection) async throws -> Void
    ) async throws {
        try await ServiceFixture(additionalRoutes: [echo] + routes, limits: limits)
            .serve { port, _ in try await RawConnection.open(port: port, body) }
    }

    @Test("takes a body of 1 MiB, and refuses one byte more, announced or in chunks")
    func limitsBodies() async throws {
        let most = String(repeating: " ", count: Request.maximumBody)
        try await Self.connect { connection in
            try await connection.send(Self.post("/length", most))
            #expect(try await connection.read(until: "}").hasSuffix(#"{"length":1048576}"#))
            try await connection.send(Self.post(Self.lookup, most + " "))
            let refused = try await connection.read(until: "}}")
            #expect(refused.hasPrefix("HTTP/1.1 413 "))
            #expect(refused.contains(#"{"error":{"code":413,"#))
            let chunk = "10000\r\n\(String(repeating: " ", count: 0x10000))\r\n"
            try await connection.send("POST /length HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in 0...16 { try await connection.send(chunk) }
            try await connection.send("0\r\n\r\n")
            #expect(try await connection.read(until: "}").hasPrefix("HTTP/1.1 413 "))
            // The connection goes on.
            try await connection.send(Self.post("/length", "{}"))
            #expect(try await connection.read(until: "}").hasSuffix(#"{"length":2}"#))
        }
    }

    @Test("answers requests in a row in their order, one at a time")
    func answersInOrder() async throws {
        try await Self.connect { connection in
            try await connection.send((1...20).map { Self.post("/length", String(repeating: "x", count: $0)) }.joined())
            let answers = try await connection.read(until: "}", times: 20)
            let lengths = answers.matches(of: /"length":(\d+)/).compactMap { Int($0.1) }
            #expect(lengths == Array(1...20))
        }
    }

    /// A route whose response comes in parts; with `?fails`, its last one cannot be made.
    private static let parts = Route(
        .get,
        "/parts",
        on: .service,
        errors: .status,
        .open { call in
            var response = Response(status: .ok, body: ByteBuffer(string: "first,"))
            let parts = Parts(call.rawQuery == "fails" ? ["second,", "", nil] : ["second,", "", "third"])
            response.nextPart = { try await parts.next() }
            return response
        }
    )

    private actor Parts {
        private struct Failure: Error {}
        /// Nil fails.
        private var rest: [String?]

        init(_ rest: [String?]) { self.rest = rest }

        func next() throws -> ByteBuffer? {
            guard !rest.isEmpty else { return nil }
            guard let part = rest.removeFirst() else { throw Failure() }
            return ByteBuffer(string: part)
        }
    }

    @Test("sends a response in parts as chunks, or to HTTP/1.0 without; the connection goes on")
    func sendsParts() async throws {
        try await Self.connect(routes: [Self.parts]) { connection in
            try await connection.send("GET /parts HTTP/1.1\r\nHost: a\r\n\r\n")
            let answer = try await connection.read(until: "0\r\n\r\n")
            #expect(answer.hasSuffix("\r\n\r\n6\r\nfirst,\r\n7\r\nsecond,\r\n5\r\nthird\r\n0\r\n\r\n"), "\(answer)")
            #expect(answer.lowercased().contains("\r\ntransfer-encoding: chunked\r\n"), "\(answer)")
            #expect(!answer.lowercased().contains("content-length"), "\(answer)")
            try await connection.send("HEAD /parts HTTP/1.1\r\nHost: a\r\n\r\n" + Self.post("/length", "{}"))
            let next = try await connection.read(until: "}")
            #expect(!next.contains("first") && next.hasSuffix(#"{"length":2}"#), "\(next)")
        }
        try await Self.connect(routes: [Self.parts]) { connection in
            try await connection.send("GET /parts HTTP/1.0\r\n\r\n")
            #expect(try await connection.readAll().hasSuffix("\r\n\r\nfirst,second,third"))
        }
    }

    @Test("a response whose next part fails ends the connection without its last chunk")
    func failsInParts() async throws {
        try await Self.connect(routes: [Self.parts]) { connection in
            try await connection.send("GET /parts?fails HTTP/1.1\r\nHost: a\r\n\r\n")
            let answer = try await connection.readAll()
            #expect(answer.contains("second,") && !answer.contains("0\r\n\r\n"), "\(answer)")
        }
    }

    /// A route that says what it was asked for, and where.
    private static let target = Route(
        .get,
        "/target/{name}",
        on: .service,
        errors: .status,
        .open { call in
            .json {
                $0.member("path", call.path)
                $0.member("query", call.rawQuery)
                $0.member("host", call.host)
            }
        }
    )

    @Test(
        "a target in absolute form is read, and its authority is the host, whatever Host says (RFC 9112 §3.2.2)",
        arguments: [
            ("http://id.example/target/a?b=c", "id.example", "/target/a", "b=c"),
            ("HTTPS://id.example:8443/target/a", "id.example:8443", "/target/a", ""),
            ("http://[::1]:9099/target/%41", "[::1]:9099", "/target/%41", ""),
        ]
    )
    func takesAbsoluteForm(_ target: String, _ host: String, _ path: String, _ query: String) async throws {
        for header in [host, "other.example"] {
            try await Self.connect(routes: [Self.target]) { connection in
                try await connection.send("GET \(target) HTTP/1.1\r\nHost: \(header)\r\n\r\n")
                let answer = try await connection.read(until: "}")
                #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(answer)")
                #expect(answer.hasSuffix(#"{"path":"\#(path)","query":"\#(query)","host":"\#(host)"}"#), "\(answer)")
            }
        }
        try await Self.connect(routes: [Self.target]) { connection in
            try await connection.send("GET \(target) HTTP/1.0\r\n\r\n")
            let answer = try await connection.readAll()
            #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.contains(#""host":"\#(host)""#), "\(answer)")
        }
    }

    @Test("a body for a target in absolute form is read as for the same in origin form")
    func takesBodiesOfAbsoluteForm() async throws {
        try await Self.connect { connection in
            try await connection.send(Self.post("http://a/length", "{}"))
            #expect(try await connection.read(until: "}").hasSuffix(#"{"length":2}"#))
            try await connection.send("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await connection.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 204 "))
            try await connection.send("OPTIONS http://a HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await connection.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 204 "))
        }
    }

    @Test(
        "a request that names no host, several, or what is none, is refused, and so is a target of another form",
        arguments: [
            "GET /healthz HTTP/1.1\r\n\r\n", "GET http://a/healthz HTTP/1.1\r\n\r\n",
            "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
            "GET http://a/healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            "GET /healthz HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", "GET /healthz HTTP/1.1\r\nHost: a/b\r\n\r\n",
            "GET /healthz HTTP/1.1\r\nHost: user@a\r\n\r\n", "GET /healthz HTTP/1.1\r\nHost: a, b\r\n\r\n",
            "GET /healthz HTTP/1.1\r\nHost: a?b\r\n\r\n", "GET /healthz HTTP/1.1\r\nHost: a:x\r\n\r\n",
            "GET http://user@a/healthz HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET ftp://a/healthz HTTP/1.1\r\nHost: a\r\n\r\n", "GET http:///healthz HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET * HTTP/1.1\r\nHost: a\r\n\r\n",
        ]
    )
    func refusesHosts(_ request: String) async throws {
        try await Self.connect { connection in
            try await connection.send(request)
            let answer = try await connection.readAll()
            #expect(answer.hasPrefix("HTTP/1.1 400 "))
            #expect(answer.contains("\r\nconnection: close\r\n"), "\(answer)")
            #expect(answer.hasSuffix(#""status":"INVALID_ARGUMENT"}}"#), "\(answer)")
        }
    }

    @Test(
        "a body in another transfer coding than chunked is refused by name",
        arguments: ["gzip, chunked", "x, Chunked"]
    )
    func refusesTransferCodings(_ coding: String) async throws {
        try await Self.connect { connection in
            let head = "POST /length HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \(coding)\r\n\r\n"
            try await connection.send(head + "2\r\n{}\r\n0\r\n\r\n")
            let answer = try await connection.readAll()
            #expect(answer.hasPrefix("HTTP/1.1 501 ") && answer.hasSuffix(#""status":"UNIMPLEMENTED"}}"#), "\(answer)")
        }
    }

    @Test("another spelling of a path is another path, in absolute form too")
    func pathsAreExact() async throws {
        try await Self.connect { connection in
            for target in [
                "/a/../healthz", "/./healthz", "//healthz", "/%68ealthz", "http://a//healthz", "http://a/./healthz",
            ] {
                try await connection.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try await connection.read(until: "}}").hasPrefix("HTTP/1.1 404 "), "\(target)")
            }
        }
    }

    @Test("closes when the client asks for it, and for HTTP/1.0")
    func closes() async throws {
        for request in [
            "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "GET /healthz HTTP/1.0\r\n\r\n",
        ] {
            try await Self.connect { connection in
                try await connection.send(request)
                let answer = try await connection.readAll()
                #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
                #expect(answer.contains("\r\nconnection: close\r\n"))
                #expect(answer.hasSuffix(#"{"status":"ok"}"#))
            }
        }
    }

    @Test(
        "T-E14: ends after a request for another protocol, which NIO's decoder would be deaf after",
        arguments: [
            "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
            "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAA\r\n\r\n",
            "POST /length HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\nContent-Length: 2\r\n\r\n{}",
            "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n",
        ]
    )
    func endsBeforeAnotherProtocol(_ request: String) async throws {
        try await Self.connect { connection in
            try await connection.send(request + "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
            let answer = try await connection.readAll()
            #expect(
                answer.hasPrefix(request.hasPrefix("CONNECT") ? "HTTP/1.1 404 " : "HTTP/1.1 200 OK\r\n"),
                "\(answer)"
            )
            #expect(answer.contains("\r\nconnection: close\r\n"), "\(answer)")
            #expect(answer.ranges(of: "HTTP/1.1 ").count == 1)
        }
    }

    @Test(
        "refuses HTTP/1.1 without a host, or with two (RFC 9112 §3.2), and closes",
        arguments: ["", "Host: a\r\nHost: a\r\n", "Host: a\r\nhost: b\r\n"]
    )
    func requiresOneHost(_ hosts: String) async throws {
        try await Self.connect { connection in
            try await connection.send("GET /healthz HTTP/1.1\r\n\(hosts)\r\n")
            let answer = try await connection.readAll()
            #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n"), "\(answer)")
            #expect(answer.contains("\r\nconnection: close\r\n"))
        }
    }

    @Test("answers a client that has finished sending")
    func answersHalfClosed() async throws {
        try await Self.connect { connection in
            try await connection.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
            connection.finishSending()
            #expect(try await connection.readAll().hasSuffix(#"{"status":"ok"}"#))
        }
    }

    @Test("a client that has finished sending gets the whole of a large answer, and a stop waits for it")
    func endsAfterTheAnswer() async throws {
        let large = ByteBuffer(repeating: UInt8(ascii: "x"), count: 32 << 20)
        let route = Route(
            .get,
            "/large",
            on: .service,
            errors: .status,
            .open { _ in Response(status: .ok, body: large) }
        )
        let request = "GET /large HTTP/1.1\r\nHost: a\r\n\r\n"
        try await Self.connect(routes: [route]) { connection in
            try await connection.send(request)
            connection.finishSending()
            #expect(try await connection.readAll().utf8.count > large.readableBytes)
        }
        try await ServiceFixture(additionalRoutes: [route]).serve { port, group in
            try await RawConnection.open(port: port) { connection in
                try await connection.send(request)
                // The answer has begun and is longer than what sockets hold.
                let start = try await connection.read(until: "\r\n\r\n").utf8.count
                await group.triggerGracefulShutdown()
                #expect(try await connection.readAll().utf8.count + start > large.readableBytes)
            }
        }
    }

    @Test("tells a client that waits for it to go on, or what is wrong")
    func continues() async throws {
        try await Self.connect { connection in
            try await connection.send(
                "POST /length HTTP/1.1\r\nHost: a/b\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
            )
            #expect(try await connection.readAll().hasPrefix("HTTP/1.1 400 "))
        }
        try await Self.connect { connection in
            try await connection.send(
                "POST /length HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
            )
            #expect(try await connection.read(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
            try await connection.send("{}")
            #expect(try await connection.read(until: "}").hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    @Test("tells a target and header fields that are too long from what is no HTTP (RFC 9110 §15.5.15, RFC 6585 §5)")
    func longHeads() async throws {
        let most = "/healthz?x=" + String(repeating: "a", count: Request.maximumTarget - 11)
        for (target, status) in [(most, "200 OK"), (most + "a", "414 ")] {
            try await Self.connect { connection in
                try await connection.send("GET \(target) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                #expect(try await connection.readAll().hasPrefix("HTTP/1.1 \(status)"), "\(status)")
            }
        }
        // No more than is read: what comes after that would reset the connection before the answer is read.
        let tooLong = String(repeating: "a", count: 2 * Request.maximumTarget + 8)
        for head in ["GET /\(tooLong)", "GET /healthz HTTP/1.1\r\nHost: a\r\na: \(tooLong)"] {
            try await Self.connect { connection in
                try await connection.send(head)
                #expect(try await connection.readAll().hasPrefix("HTTP/1.1 431 "))
            }
        }
    }

    @Test(
        "refuses input that is not HTTP or is ambiguous, and closes",
        arguments: [
            "GET  HTTP/1.1\r\n\r\n", "\u{16}\u{3}\u{1}", "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
            "POST /length HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
            "POST /length HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
            "POST /length HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
            "POST /length HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        ]
    )
    func refusesOtherBytes(_ bytes: String) async throws {
        try await Self.connect { connection in
            try await connection.send(bytes)
            let answer = try await connection.readAll()
            #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
            #expect(answer.lowercased().contains("\r\nconnection: close\r\n"))
            #expect(answer.ranges(of: "HTTP/1.1").count == 1)
        }
    }

    @Test("finishes what a client that has gone asked for")
    func finishesForNobody() async throws {
        let (begins, begun) = AsyncStream.makeStream(of: Void.self)
        let (goings, gone) = AsyncStream.makeStream(of: Void.self)
        let (ends, ended) = AsyncStream.makeStream(of: Bool.self)
        let route = Route(
            .get,
            "/slow",
            on: .service,
            errors: .status,
            .open { _ in
                begun.yield()
                for await _ in goings { break }
                ended.yield(Task.isCancelled)
                return Response(status: .ok)
            }
        )
        try await ServiceFixture(additionalRoutes: [route]).serve { port, _ in
            try await RawConnection.open(port: port) { connection in
                try await connection.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
                for await _ in begins { break }
            }
            gone.yield()
            var iterator = ends.makeAsyncIterator()
            #expect(await iterator.next() == false)
        }
    }

    @Test(
        "T-E25: refuses HTTP/1.0 with a transfer coding (RFC 9112 §6.1), and closes",
        arguments: ["Connection: keep-alive\r\n", "Connection: keep-alive\r\nContent-Length: 2\r\n"]
    )
    func refusesCodingsOfHTTP10(_ headers: String) async throws {
        try await Self.connect { connection in
            try await connection.send(
                "POST /length HTTP/1.0\r\n\(headers)Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
            )
            try await connection.send("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            let answer = try await connection.readAll()
            #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n"), "\(answer)")
            #expect(answer.contains("\r\nconnection: close\r\n"), "\(answer)")
            #expect(answer.ranges(of: "HTTP/1.1 ").count == 1, "\(answer)")
        }
    }

    @Test("asks for nothing more while a client does not read its answers")
    func waitsForTheReader() async throws {
        let handled = Counter()
        let large = ByteBuffer(repeating: UInt8(ascii: "x"), count: 1 << 20)
        let route = Route(
            .get,
            "/large",
            on: .service,
            errors: .status,
            .open { _ in
                handled.increment()
                return Response(status: .ok, body: large)
            }
        )
        try await ServiceFixture(additionalRoutes: [Self.echo, route]).serve { port, _ in
            try await RawConnection.open(port: port) { connection in
                let request = "GET /large HTTP/1.1\r\nHost: a\r\n\r\n"
                try await connection.send(String(repeating: request, count: 63))
                try await waitUntil { handled.value > 0 }
                // Others are served meanwhile, and this one no further than the sockets hold.
                try await RawConnection.open(port: port) { other in
                    for _ in 0..<200 {
                        try await other.send(Self.post("/length", "{}"))
                        #expect(try await other.read(until: "}").hasSuffix(#"{"length":2}"#))
                    }
                }
                #expect(handled.value < 40)
                try await connection.send("GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                let answers = try await connection.readAll()
                #expect(answers.ranges(of: "HTTP/1.1 200 OK").count == 64)
                #expect(handled.value == 64)
            }
        }
    }

    @Test("says what time it is, in the form of RFC 9110 §5.6.7")
    func tellsTheTime() async throws {
        try await Self.connect { connection in
            try await connection.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
            let answer = try await connection.read(until: "}")
            #expect(
                answer.contains(
                    /\r\ndate: (Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT\r\n/
                )
            )
        }
    }
}
