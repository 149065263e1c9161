import Foundation
import IdentityService
import InMemoryLogging
import Logging
import NIOCore
import ServiceLifecycle
import TestKit
import Testing

@Suite("TLS in process", .timeLimit(.minutes(10)))
struct TLSTests {
    private static let get = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"

    /// Runs `body` with a service that has a certificate of its own.
    private func serve(
        _ body: @escaping @Sendable (_ port: Int, _ tls: ServerTLS, _ folder: String) async throws -> Void
    ) async throws -> InMemoryLogHandler {
        let logs = InMemoryLogHandler()
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try await TestCertificate.make(in: folder)
            let tls = try ServerTLS(Self.files(folder), logger: Logger(label: "tls") { _ in logs })
            try await ServiceFixture().serve(tls: tls) { port, _ in try await body(port, tls, folder) }
        }
        return logs
    }

    private static func files(_ folder: String) -> ServerTLS.Files {
        ServerTLS.Files(certificate: "\(folder)/certificate.pem", key: "\(folder)/key.pem")
    }

    private static func client(_ folder: String) -> RawConnection.TLS {
        RawConnection.TLS(trusts: "\(folder)/certificate.pem")
    }

    /// The answer to a request of its own connection; nil for a handshake that fails.
    private func answer(_ port: Int, _ tls: RawConnection.TLS) async -> String? {
        try? await RawConnection.open(port: port, tls: tls) { connection in
            try await connection.send(Self.get)
            let answer = try await connection.read(until: "}")
            return answer.isEmpty ? nil : answer
        }
    }

    @Test("answers as without it, with the header that keeps browsers to it, and large bodies too")
    func answers() async throws {
        _ = try await serve { port, _, folder in
            try await RawConnection.open(port: port, tls: Self.client(folder)) { connection in
                try await connection.send(Self.get + Self.get)
                let answers = try await connection.read(until: "}", times: 2)
                #expect(answers.ranges(of: "HTTP/1.1 200 OK\r\n").count == 2, "\(answers)")
                #expect(answers.ranges(of: "strict-transport-security: max-age=31536000\r\n").count == 2)
                let body = String(repeating: " ", count: Request.maximumBody + 1)
                let head = "POST /v1/accounts:lookup?key=\(ServiceFixture.key) HTTP/1.1\r\nHost: localhost\r\n"
                try await connection.send("\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
                #expect(try await connection.read(until: "}}").hasPrefix("HTTP/1.1 413 "))
                try await connection.send("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                #expect(try await connection.readAll().hasSuffix(#"{"status":"ok"}"#))
            }
        }
        try await ServiceFixture().serve { port, _ in
            try await RawConnection.open(port: port) { connection in
                try await connection.send(Self.get)
                #expect(try await !connection.read(until: "}").contains("strict-transport-security"))
            }
        }
    }

    @Test("refuses what is older than TLS 1.2, and closes what is no TLS, and goes on")
    func refuses() async throws {
        _ = try await serve { port, _, folder in
            var old = Self.client(folder)
            old.isOld = true
            #expect(await answer(port, old) == nil)
            for text in [Self.get, "\u{16}\u{3}\u{1}\u{0}\u{5}hello", String(repeating: "x", count: 70_000)] {
                let read = try? await RawConnection.open(port: port) { connection in
                    try await connection.send(text)
                    return try await connection.readAll()
                }
                #expect(read?.contains("HTTP/") != true, "\(read ?? "")")
            }
            var other = Self.client(folder)
            other.name = "elsewhere"
            #expect(await answer(port, other) == nil)
            #expect(await answer(port, Self.client(folder))?.hasPrefix("HTTP/1.1 200 ") == true)
        }
    }

    @Test("T-E16: ends a connection whose handshake does not come in time, or when the server stops")
    func limitsTheHandshake() async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try await TestCertificate.make(in: folder)
            let tls = try ServerTLS(Self.files(folder), logger: Logger(label: "tls"))
            var limits = ServiceResponder.Limits.patient
            limits.head = .milliseconds(20)
            try await ServiceFixture(limits: limits).serve(tls: tls) { port, _ in
                // The start of a ClientHello of 512 bytes, and nothing.
                for start in ["", "\u{16}\u{3}\u{1}\u{2}\u{0}"] {
                    try await RawConnection.open(port: port) { connection in
                        #expect(await connection.readsNothing(after: start))
                    }
                }
            }
            let fixture = try ServiceFixture()
            try await fixture.serve(tls: tls) { port, group in
                try await RawConnection.open(port: port) { connection in
                    try await waitUntil { fixture.assembly.responder.connections == 1 }
                    await group.triggerGracefulShutdown()
                    #expect(try await connection.readAll().isEmpty)
                }
            }
        }
    }

    @Test("takes renewed files for the next connection, and none that are no good; what is open goes on")
    func renews() async throws {
        let logs = try await serve { port, tls, folder in
            let before = "\(folder)/before.pem"
            try FileManager.default.copyItem(atPath: "\(folder)/certificate.pem", toPath: before)
            let old = RawConnection.TLS(trusts: before)
            try await RawConnection.open(port: port, tls: old) { open in
                try await open.send(Self.get)
                #expect(try await open.read(until: "}").hasPrefix("HTTP/1.1 200 "))

                // The certificate comes before its key: until then nothing changes.
                let key = try String(contentsOfFile: "\(folder)/key.pem", encoding: .utf8)
                try await TestCertificate.make(in: folder)
                let newKey = try String(contentsOfFile: "\(folder)/key.pem", encoding: .utf8)
                try key.write(toFile: "\(folder)/key.pem", atomically: true, encoding: .utf8)
                for _ in 0..<2 { tls.renew() }
                #expect(await answer(port, old) != nil)
                try newKey.write(toFile: "\(folder)/key.pem", atomically: true, encoding: .utf8)
                tls.renew()
                #expect(await answer(port, Self.client(folder)) != nil)
                #expect(await answer(port, old) == nil)

                try FileManager.default.removeItem(atPath: "\(folder)/key.pem")
                tls.renew()
                #expect(await answer(port, Self.client(folder)) != nil)
                try await open.send(Self.get)
                #expect(try await open.read(until: "}").hasPrefix("HTTP/1.1 200 "))
            }
        }
        let lines = logs.entries.map { "\($0.level) \($0.metadata["error"].map { "\($0)" } ?? "")" }
        #expect(lines.count == 3, "\(lines)")
        #expect(lines.first == "error the key does not match the certificate" && lines[1].hasPrefix("notice"))
        #expect(lines.last?.hasSuffix("key.pem cannot be read") == true)
    }

    @Test("a client that names a host gets its certificate, every other one the usual; each is renewed by itself")
    func hosts() async throws {
        let logs = InMemoryLogHandler()
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try await TestCertificate.make(in: folder)
            let live = "\(folder)/live"
            @Sendable func make(_ host: String, in name: String, days: Int = 30) async throws {
                try? FileManager.default.removeItem(atPath: "\(live)/\(name)")
                try FileManager.default.createDirectory(atPath: "\(live)/\(name)", withIntermediateDirectories: true)
                try await TestCertificate.make(for: host, in: "\(live)/\(name)", days: days)
                for (old, new) in [("certificate", "fullchain"), ("key", "privkey")] {
                    try FileManager.default.moveItem(
                        atPath: "\(live)/\(name)/\(old).pem",
                        toPath: "\(live)/\(name)/\(new).pem"
                    )
                }
            }
            try await make("login.example.com", in: "a")
            try await make("*.example.org", in: "b")
            // Of two for one host, the one that is valid for longer.
            try await make("login.example.com", in: "c", days: 2)
            try await make("broken.example.com", in: "d")
            try FileManager.default.removeItem(atPath: "\(live)/d/privkey.pem")
            try "Certbot's".write(toFile: "\(live)/README", atomically: true, encoding: .utf8)
            let tls = try ServerTLS(Self.files(folder), folder: live, logger: Logger(label: "tls") { _ in logs })
            try await ServiceFixture().serve(tls: tls) { port, _ in
                func isTrusted(_ host: String, _ file: String) async -> Bool {
                    var client = RawConnection.TLS(trusts: file)
                    client.name = host
                    return await answer(port, client)?.hasPrefix("HTTP/1.1 200 ") == true
                }
                #expect(await isTrusted("login.example.com", "\(live)/a/fullchain.pem"))
                #expect(await isTrusted("LOGIN.example.com", "\(live)/a/fullchain.pem"))
                #expect(await isTrusted("tea.example.org", "\(live)/b/fullchain.pem"))
                #expect(await isTrusted("localhost", "\(folder)/certificate.pem"))
                for other in ["a.tea.example.org", "example.org", "broken.example.com", "elsewhere"] {
                    #expect(await !isTrusted(other, "\(live)/b/fullchain.pem"), "\(other)")
                }
                // A new one comes, one goes, one is renewed.
                try await make("new.example.com", in: "e")
                try FileManager.default.removeItem(atPath: "\(live)/b")
                try FileManager.default.copyItem(atPath: "\(live)/a/fullchain.pem", toPath: "\(folder)/before.pem")
                try await make("login.example.com", in: "a")
                tls.renew()
                #expect(await isTrusted("new.example.com", "\(live)/e/fullchain.pem"))
                #expect(await isTrusted("login.example.com", "\(live)/a/fullchain.pem"))
                #expect(await !isTrusted("login.example.com", "\(folder)/before.pem"))
                #expect(await isTrusted("localhost", "\(folder)/certificate.pem"))
                // For a moment there is no folder.
                try FileManager.default.moveItem(atPath: live, toPath: "\(folder)/moved")
                tls.renew()
                #expect(await isTrusted("login.example.com", "\(folder)/moved/a/fullchain.pem"))
            }
        }
        let errors = logs.entries.filter { $0.level == .error }.map { "\($0.message)" }
        #expect(errors == ["A certificate is not valid"], "once for the host without a key: \(logs.entries)")
    }

    @Test("a folder that is not there is refused at the start")
    func noFolder() async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try await TestCertificate.make(in: folder)
            #expect(throws: ServerTLS.Unusable.unreadable("\(folder)/live")) {
                _ = try ServerTLS(Self.files(folder), folder: "\(folder)/live", logger: Logger(label: "tls"))
            }
        }
    }

    @Test("says what is wrong with files that are no good")
    func unusable() async throws {
        try await withTemporaryFolder { folder in
            let other = "\(folder)/other"
            try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
            try await TestCertificate.make(in: folder)
            try await TestCertificate.make(in: other)
            let (good, elsewhere) = (Self.files(folder), Self.files(other))
            #expect(try ServerTLS.Pair(good).expiresAt > Date().addingTimeInterval(29 * 86_400))
            let cases: [(certificate: String, key: String, error: ServerTLS.Unusable)] = [
                ("\(folder)/none.pem", good.key, .unreadable("\(folder)/none.pem")),
                (good.key, good.key, .noCertificate(good.key)),
                (good.certificate, good.certificate, .noKey(good.certificate)),
                (good.certificate, elsewhere.key, .unrelated),
            ]
            for (certificate, key, error) in cases {
                #expect(throws: error) { _ = try ServerTLS.Pair(.init(certificate: certificate, key: key)) }
            }
        }
    }
}
