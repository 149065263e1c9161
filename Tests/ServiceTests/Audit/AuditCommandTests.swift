import Foundation
import Projects
import TestKit
import Testing

@Suite("identity audit", .database, .timeLimit(.minutes(10)))
struct AuditCommandTests {
    /// With the key ring of the services of tests.
    private func run(_ arguments: String...) async throws -> Program.Result {
        var environment = IdentityProgram.environment(TestDatabase.current.conninfo)
        environment["IDENTITY_ENCRYPTION_KEYS"] = "test:" + Data(repeating: 7, count: 32).base64EncodedString()
        return try await Program.run(IdentityProgram.path, arguments, environment: environment)
    }

    @Test("lists and exports what a project's people, admins and commands did, and what is of the deployment")
    func lists() async throws {
        var options = TestService.Options()
        // With a clock of the test's own, signing keys are made, not copied.
        options.clock = SteppableClock()
        try await TestService.run(options) { service in
            let project = service.project.id.rawValue
            let user = try await service.signUp("ada@example.com")
            #expect(try await run("api-keys", "create", "--project", project).status == 0)
            let made = try await run("audit", "list", "--project", project, "--action", "API_KEY_CREATED", "--json")
            let keys = try JSON(parsing: Array(made.output.utf8)).array ?? []
            #expect(keys.first?["actor"]?.string?.hasPrefix("command:") == true, "\(made)")
            #expect(keys.first?["operation"] == "identity api-keys create")

            let exported = try await run("audit", "export", "--project", project)
            let lines = try exported.output.split(separator: "\n").map { try JSON(parsing: Array($0.utf8)) }
            #expect(
                lines.first?["action"] == "API_KEY_CREATED" && lines.contains { $0["action"] == "PROJECT_CREATED" },
                "\(lines)"
            )
            #expect(lines.contains { $0["localId"]?.string == user.localID && $0["action"] == "ACCOUNT_CREATED" })

            let deployment = try await run("audit", "list")
            #expect(try await run("projects", "delete", project, "--yes").status == 0)
            let afterwards = try await run("audit", "list", "--project", project, "--limit", "1")
            #expect(afterwards.output.contains("PROJECT_DELETED"), "\(afterwards)")
            #expect(deployment.output.contains("SIGNING_KEY_CREATED"), "\(deployment)")
            #expect(!deployment.output.contains("ACCOUNT_CREATED"), "\(deployment)")
            for bad in [["--action", "signed_in"], ["--since", "yesterday"], ["--limit", "0"]] {
                let refused = try await run("audit", "list", bad[0], bad[1])
                #expect(refused.status == 64 && refused.output.isEmpty, "\(refused)")
            }
        }
    }
}
