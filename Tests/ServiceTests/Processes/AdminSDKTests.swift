import Foundation
import TestKit
import Testing

/// Firebase's Admin SDK for Python, unmodified, with a service account's file, against `identity serve`; Google's host names
/// lead to a TLS front of its process.
@Suite("The Admin SDK in production", .database, .timeLimit(.minutes(10)))
struct AdminSDKTests {
    @Test(
        "T-D7: manages users, providers and tenants, makes links, custom tokens and session cookies, and verifies what is ours"
    )
    func backEnd() async throws {
        let environment = IdentityProgram.environment(TestDatabase.current.conninfo)
            .merging(["IDENTITY_HTTP_PUBLIC_URL": "https://auth.example.com"]) { $1 }
        try await IdentityProgram.serve(environment) { _, service in
            let made = try await IdentityProgram.run("projects", "create", "sdk-project", environment: environment)
            let key = String(made.output.split(separator: " ").last ?? "")
            let account = try await IdentityProgram.run(
                "service-accounts",
                "create",
                "--project",
                "sdk-project",
                environment: environment
            )
            #expect(account.status == 0, "\(account)")
            let file = FileManager.default.temporaryDirectory.appending(path: "account-\(UUID().uuidString).json")
            defer { try? FileManager.default.removeItem(at: file) }
            try Data(account.output.utf8).write(to: file)
            var project = service
            (project.project, project.apiKey) = ("sdk-project", key)
            try await project.learnsItsKey()

            let script = IdentityProgram.repository.appending(path: "Tests/ServiceTests/Processes/admin_sdk.py").path
            let python = IdentityProgram.repository.appending(path: ".venv/bin/python").path
            let port = service.baseURL.split(separator: ":").last.map { String($0) } ?? ""
            let result = try await Program.run(python, [script, port, file.path, key])
            #expect(result.output.trimmingCharacters(in: .newlines) == "[]", "\(result)")
            #expect(result.status == 0)
        }
    }
}
