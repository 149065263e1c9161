import Foundation
import TestKit
import Testing

/// `identity check --url`: what it says about services that run, good and bad ones.
@Suite("identity check --url", .database, .timeLimit(.minutes(10)))
struct RunningServiceCheckTests {
    private func check(_ url: String) async throws -> (status: Int32, ids: [String], result: Program.Result) {
        let result = try await IdentityProgram.run("check", "--url", url, "--project", "demo-project", "--json")
        let rows = (try? JSON(parsing: Array(result.output.utf8)))?.array ?? []
        return (result.status, rows.compactMap { $0["id"]?.string }, result)
    }

    @Test("has nothing against `identity serve`, and much against `identity dev`")
    func ours() async throws {
        try await IdentityProgram.serve(IdentityProgram.environment(TestDatabase.current.conninfo)) { _, service in
            let good = try await check(service.baseURL + "/")
            #expect(good.status == 0 && good.ids == [], "\(good)")
        }
        try await IdentityProgram.dev("--ephemeral", "--demo-providers", "none") { _, service in
            let bad = try await check(service.baseURL)
            #expect(bad.status == 1 && bad.ids == ["development-mode", "metrics-public"], "\(bad)")
            #expect(bad.result.output.contains("Bearer owner"))
        }
    }

    @Test("says each thing that is wrong, and lets nothing of a stranger's answer onto the terminal")
    func others() async throws {
        let nobody = try await check("http://127.0.0.1:1")
        #expect(nobody.status == 1 && nobody.ids == ["unreachable"], "\(nobody)")
        let plain = try await check("http://192.0.2.1")
        #expect(plain.status == 1 && plain.ids == ["unreachable", "without-tls"], "\(plain)")
        try await WebReceiver.run { receiver in
            receiver.answer { request in
                switch request.path {
                case "/readyz":
                    (
                        503,
                        #"{"checks":{"database":"failed","signingKey":"ok"},"dependencies":{"mail\u001b[31m":"failed"}}"#
                    )
                case "/demo-project/.well-known/openid-configuration": (200, #"{"issuer":"http://\u001b[31mevil"}"#)
                case "/metrics": (200, "a 1")
                case let path where path.contains("/emulator/") || path == "/dev": (404, "")
                case let path where path.contains("batchGet"): (401, "")
                default: (404, "")
                }
            }
            let answer = try await check(receiver.baseURL)
            #expect(answer.status == 1)
            #expect(
                answer.ids == [
                    "not-ready", "dependency-fails", "metrics-public", "keys-missing", "issuer-wrong",
                    "headers-missing",
                ],
                "\(answer)"
            )
            #expect(answer.result.output.contains("database") && !answer.result.output.contains("signingKey"))
            #expect(!answer.result.output.contains("\u{1b}"))
        }
        let usage = try await IdentityProgram.run("check", "--url", "id.example.com")
        #expect(usage.status == 64, "\(usage)")
    }

    @Test("each finding is in the document")
    func documented() throws {
        let rows = try Repository.rows(of: "docs/reference/configuration.md", section: "### A service that runs")
        let source = try Repository.text("Sources/IdentityCLI/RunningServiceCheck.swift")
        let named = source.matches(of: /(?m)^        case ([A-Za-z]+)(?: = "([a-z-]+)")?$/).map { String($0.2 ?? $0.1) }
        #expect(named.count == 10)
        #expect(rows.map { $0[0].replacing("`", with: "") } == named)
    }
}
