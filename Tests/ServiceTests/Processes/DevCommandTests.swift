import Foundation
import TestKit
import Testing

/// `identity dev`, as a newcomer runs it.
@Suite("identity dev", .timeLimit(.minutes(3)))
struct DevCommandTests {
    private func users(_ arguments: String..., data: String) async throws -> [JSON] {
        let result = try await Program.run(
            IdentityProgram.path,
            ["users"] + arguments + ["--data", data, "--json"]
        )
        #expect(result.status == 0, "\(result)")
        return try JSON(parsing: Array(result.output.utf8)).array ?? []
    }

    @Test("serves, signs in through the demo provider, and shows the account to an admin")
    func mainJob() async throws {
        try await withTemporaryFolder { data in
            try await IdentityProgram.dev("--data", data) { _, service in
                let ready = try await service.get("/readyz")
                #expect(ready.status == 200, "\(ready)")
                let signedIn = try await service.signIn(through: "oidc.demo", as: "ada@example.com")
                #expect(signedIn.status == 200, "\(signedIn)")
                #expect(signedIn["isNewUser"] == true)
                let id = try #require(signedIn.localID)
                let account = try await service.admin("accounts:lookup", ["localId": [.string(id)]])
                #expect(account["users"]?[0]?["providerUserInfo"]?[0]?["providerId"] == "oidc.demo")

                #expect(try await users("list", data: data).map { $0["localId"]?.string } == [id])
                #expect(try await users("show", id, data: data).first?["email"] == "ada@example.com")
                #expect(try await users("find", "--email", "ADA@example.com", data: data).count == 1)
                let subject = try #require(account["users"]?[0]?["providerUserInfo"]?[0]?["rawId"]?.string)
                let found = try await users("find", "--provider", "oidc.demo", "--subject", subject, data: data)
                #expect(found.first?["localId"]?.string == id)
                #expect(try await users("find", "--email", "nobody@example.com", data: data).isEmpty)
                let table = try await IdentityProgram.run("users", "list", "--data", data)
                #expect(table.output.contains("PROVIDERS") && table.output.contains("oidc.demo:\(subject)"))
                let check = try await IdentityProgram.run("check", "--data", data)
                #expect(check.status == 0 && check.output.contains("apple-missing"), "\(check)")
            }
        }
    }

    @Test("makes a project that an admin path names")
    func makesProjects() async throws {
        try await IdentityProgram.dev("--ephemeral", "--project", "other-project") { _, service in
            var service = service
            service.project = "new-project"
            let made = try await service.admin("accounts", ["email": "new@example.com"])
            #expect(made.status == 200, "\(made)")
            // The keys of apps mean the project of the command line.
            let account = try await service.signUp("app@example.com")
            #expect(account.claims["aud"] == "other-project")
        }
    }

    @Test("Ctrl-C stops all of it, and what was kept is there at the next start")
    func keepsItsData() async throws {
        try await withTemporaryFolder { data in
            try await IdentityProgram.dev("--data", data) { program, service in
                #expect(try await service.signUp("kept@example.com").status == 200)
                let postgres = try #require(OtherProcess(postgresIn: data))
                #expect(postgres.isRunning)
                program.interrupt()
                let result = await program.result()
                #expect(result.status == 0, "\(result)")
                #expect(result.output.hasSuffix("stopped"))
                #expect(!postgres.isRunning)
            }
            try await IdentityProgram.dev("--data", data) { program, service in
                #expect(try await service.signInWithPassword("kept@example.com").status == 200)
                let second = try await IdentityProgram.run("dev", "--port", "0", "--data", data)
                #expect(second.status == 78)
                #expect(second.errors.hasPrefix("identity: another process already runs"), "\(second)")
                program.terminate()
                #expect(await program.result().status == 0)
            }
        }
    }

    @Test("takes its PostgreSQL along when it is killed")
    func leavesNoChild() async throws {
        try await withTemporaryFolder { data in
            try await IdentityProgram.dev("--data", data) { program, _ in
                let postgres = try #require(OtherProcess(postgresIn: data))
                program.crash()
                #expect(await program.result().status == 128 + SIGKILL)
                #expect(try await postgres.end(within: .seconds(30)))
            }
            // And nothing of it is in the way of the next start.
            try await IdentityProgram.dev("--data", data) { _, service in
                let ready = try await service.get("/readyz")
                #expect(ready.status == 200, "\(ready)")
            }
        }
    }

    @Test("an ephemeral database leaves no trace")
    func ephemeralLeavesNothing() async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o755]
            )
            let environment = ["TMPDIR": folder]
            try await IdentityProgram.dev("--ephemeral", environment: environment) { program, service in
                #expect(try await service.signUp("gone@example.com").status == 200)
                let data = "\(folder)/identity-dev-\(program.processID)"
                let postgres = try #require(OtherProcess(postgresIn: data))
                program.interrupt()
                #expect(await program.result().status == 0)
                #expect(!postgres.isRunning)
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
            }
        }
    }
}
