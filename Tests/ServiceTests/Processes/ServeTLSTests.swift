import Foundation
import Postgres
import TestKit
import Testing

/// `http.tls.*` of `identity serve`, and what `identity check` says of it.
@Suite("identity serve, by TLS", .database, .timeLimit(.minutes(10)))
struct ServeTLSTests {
    private func environment(_ folder: String) -> [String: String] {
        IdentityProgram.environment(TestDatabase.current.conninfo).merging([
            "IDENTITY_HTTP_TLS_CERTIFICATE": "\(folder)/certificate.pem", "IDENTITY_HTTP_TLS_KEY": "\(folder)/key.pem",
            "IDENTITY_HTTP_PUBLIC_URL": "https://localhost",
        ]) { $1 }
    }

    private func withCertificate(_ body: (String) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try await TestCertificate.make(in: folder)
            try await body(folder)
        }
    }

    /// The answer to a GET over a connection of its own.
    private func get(_ path: String, _ service: RemoteService, trusting folder: String) async throws -> String {
        let port = try #require(service.baseURL.split(separator: ":").last.flatMap { Int($0) })
        return try await RawConnection.open(port: port, tls: .init(trusts: "\(folder)/certificate.pem")) { connection in
            try await connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            return try await connection.readAll()
        }
    }

    @Test("serves by it, and takes a renewed certificate while it runs")
    func serves() async throws {
        try await withCertificate { folder in
            let made = try await IdentityProgram.run(
                "projects",
                "create",
                "tls-project",
                environment: environment(folder)
            )
            #expect(made.status == 0, "\(made)")
            try await IdentityProgram.serve(environment(folder)) { program, service in
                #expect(try await get("/readyz", service, trusting: folder).hasPrefix("HTTP/1.1 200 "))
                await #expect(throws: (any Error).self) { try await service.get("/readyz") }
                try await TestCertificate.make(in: folder)
                _ = try await program.line { $0.contains("Loaded a new certificate") }
                #expect(try await get("/readyz", service, trusting: folder).hasPrefix("HTTP/1.1 200 "))
                program.terminate()
                #expect(await program.result().status == 0)
            }
        }
    }

    @Test("does not start with files that are no good, or with one of the two")
    func refuses() async throws {
        try await withCertificate { folder in
            let cases: [(name: String, value: String?, words: String)] = [
                ("IDENTITY_HTTP_TLS_KEY", "\(folder)/nowhere.pem", "nowhere.pem cannot be read"),
                ("IDENTITY_HTTP_TLS_KEY", "\(folder)/certificate.pem", "certificate.pem contains no private key"),
                ("IDENTITY_HTTP_TLS_CERTIFICATE", "\(folder)/key.pem", "key.pem contains no certificate"),
                ("IDENTITY_HTTP_TLS_KEY", nil, "set both http.tls.certificate and http.tls.key"),
            ]
            for (name, value, words) in cases {
                var environment = environment(folder)
                environment[name] = value
                let result = try await IdentityProgram.run("serve", environment: environment)
                #expect(result.status == 78 && result.errors.contains(words), "\(result)")
                #expect(result.errors.split(separator: "\n").count == 1, "\(result)")
            }
        }
    }

    @Test("check says when the certificate ends soon, or cannot be used")
    func check() async throws {
        try await withCertificate { folder in
            /// The exit code, the level, the finding.
            func found(_ live: String? = nil) async throws -> String {
                var environment = environment(folder)
                environment["IDENTITY_HTTP_TLS_FOLDER"] = live
                let check = try await IdentityProgram.run("check", "--json", environment: environment)
                let rows = try JSON(parsing: Array(check.output.utf8)).array ?? []
                let row = rows.first { $0["id"]?.string?.hasPrefix("certificate-") == true }
                return "\(check.status) \(row?["level"]?.string ?? "") \(row?["id"]?.string ?? "")"
            }
            #expect(try await found() == "0  ")
            // A project's own host needs one too.
            let made = try await IdentityProgram.run("projects", "create", "with-url", environment: environment(folder))
            #expect(made.status == 0, "\(made)")
            try await TestDatabase.current.client.execute(
                """
                UPDATE projects SET config = config || '{"publicURL": "https://login.example.com"}'
                WHERE project = 'with-url'
                """
            )
            #expect(try await found() == "0 warning certificate-missing")
            let live = "\(folder)/live"
            try FileManager.default.createDirectory(atPath: "\(live)/a", withIntermediateDirectories: true)
            try await TestCertificate.make(for: "*.example.com", in: "\(live)/a")
            try FileManager.default.moveItem(atPath: "\(live)/a/certificate.pem", toPath: "\(live)/a/fullchain.pem")
            try FileManager.default.moveItem(atPath: "\(live)/a/key.pem", toPath: "\(live)/a/privkey.pem")
            #expect(try await found(live) == "0  ")
            #expect(try await found("\(folder)/none") == "1 error certificate-unusable")
            try FileManager.default.removeItem(atPath: "\(live)/a/privkey.pem")
            #expect(try await found(live) == "1 error certificate-unusable")
            try await TestDatabase.current.client.execute("UPDATE projects SET config = config - 'publicURL'")
            try await TestCertificate.make(in: folder, days: 13)
            #expect(try await found() == "0 warning certificate-expires")
            try await TestCertificate.make(in: folder, days: -1)
            #expect(try await found() == "1 error certificate-expired")
            try FileManager.default.removeItem(atPath: "\(folder)/key.pem")
            #expect(try await found() == "1 error certificate-unusable")
        }
    }
}
