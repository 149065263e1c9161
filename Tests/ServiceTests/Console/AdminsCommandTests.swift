import Domain
import Foundation
import Projects
import Secrets
import Storage
import Testing
import TestKit

@Suite("identity admins", .database, .timeLimit(.minutes(10)))
struct AdminsCommandTests {
    /// With the key ring of the services of tests.
    private func run(_ arguments: String...) async throws -> Program.Result {
        var environment = IdentityProgram.environment(TestDatabase.current.conninfo)
        environment["IDENTITY_ENCRYPTION_KEYS"] = "test:" + Data(repeating: 7, count: 32).base64EncodedString()
        return try await Program.run(IdentityProgram.path, ["admins"] + arguments, environment: environment)
    }

    @Test("lets people in, lists them, takes what they chose back, and shuts them out")
    func wholeLife() async throws {
        try await TestService.runConsole {
            $0.conninfo = TestDatabase.current.conninfo
        } _: { service in
            service.clock.set(Date())
            let project = service.project.id.rawValue
            let made = try await run("create", "Ada@Example.com", "--project", project, "--scope", "accounts.read")
            #expect(made.status == 0 && made.errors.isEmpty, "\(made)")
            let code = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
            let page = try await ConsolePerson.enter(code, ScriptedBrowser(), service)
            #expect(page.heading == "Set a password and an authenticator app" && page.text.contains("ada@example.com"))
            func listed() async throws -> JSON? {
                let result = try await run("list", "--json")
                #expect(result.status == 0 && !result.output.contains(code), "\(result)")
                return try JSON(parsing: Array(result.output.utf8)).array?.last
            }
            let ada = try await listed()
            #expect(
                ada?["email"] == "Ada@Example.com" && ada?["project"]?.string == project,
                "\(String(describing: ada))"
            )
            #expect(ada?["scopes"] == "accounts.read" && ada?["state"] == "invited")
            let twice = try await run("create", "ada@example.com")
            #expect(twice.status == 1 && twice.errors.contains("reset"), "\(twice)")
            let reset = try await run("reset", "ada@example.com")
            #expect(reset.status == 0 && reset.output != made.output, "\(reset)")
            #expect(try await ConsolePerson.enter(code, ScriptedBrowser(), service).status == 403)
            #expect(try await run("revoke", "ada@example.com").status == 0)
            #expect(try await listed()?["state"] == "revoked")
            for command in ["revoke", "reset"] {
                let refused = try await run(command, "ada@example.com")
                #expect(refused.status == 1 && refused.output.isEmpty, "\(refused)")
            }
        }
    }
}
