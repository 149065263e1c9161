import Foundation
import TestKit
import Testing

/// `identity keys`, as operators run it.
@Suite("identity keys", .timeLimit(.minutes(10)))
struct KeysCommandTests {
    private func run(_ arguments: String...) async throws -> Program.Result {
        let environment = IdentityProgram.environment(TestDatabase.current.conninfo)
        return try await Program.run(IdentityProgram.path, ["keys"] + arguments, environment: environment)
    }

    private func list() async throws -> [JSON] {
        let listed = try await run("list", "--json")
        return try #require(try JSON(parsing: Array(listed.output.utf8)).array, "\(listed)")
    }

    @Test("T-D8: keys are listed with their states, followed by others, and revoked while the service runs", .database)
    func wholeLife() async throws {
        let environment = IdentityProgram.environment(TestDatabase.current.conninfo)
        #expect(try await run("list").output.hasPrefix("KID "))
        try await IdentityProgram.serve(environment) { _, service in
            func published() async throws -> Set<String> {
                let reply = try await PlainHTTP.send("GET", service.baseURL + ResourceServer.idTokens)
                let keys = try JSON(parsing: reply.body)["keys"]?.array ?? []
                return Set(keys.filter { $0["kty"] == "RSA" }.compactMap { $0["kid"]?.string })
            }
            let first = try await list()
            #expect(first.map { $0["state"] } == ["current", "current", "current"])
            #expect(Set(first.map { $0["algorithm"]?.string ?? "" }) == ["RS256", "ES256"])
            let key = first.first { $0["purpose"] == "id_token" && $0["algorithm"] == "RS256" }
            let old = try #require(key?["kid"]?.string)

            let rotated = try await run("rotate")
            #expect(rotated.status == 0 && rotated.output.split(separator: "\n").count == 3, "\(rotated)")
            #expect(try await run("rotate").output == rotated.output, "none follows the next ones yet")
            let both = try await list()
            #expect(both.map { $0["state"] } == ["current", "current", "current", "next", "next", "next"])
            #expect(both.allSatisfy { ($0["signsUntil"] == "") == ($0["state"] == "next") })
            try await waitUntil { try await published().count == 2 }

            let revoked = try await run("revoke", old)
            #expect(revoked.status == 0 && revoked.output.hasPrefix("revoked \(old)\n"), "\(revoked)")
            #expect(revoked.output.contains("7200 seconds"))
            try await waitUntil { try await !published().contains(old) }
            #expect(try await list().map { $0["state"] }.filter { $0 == "current" }.count == 3)
            let again = try await run("revoke", old)
            #expect(again.status == 1 && again.errors == "identity: this signing key does not exist", "\(again)")
        }
    }
}
