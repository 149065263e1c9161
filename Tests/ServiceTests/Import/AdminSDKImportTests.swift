import Foundation
import Projects
import TestKit
import Testing

/// Firebase's Admin SDK for Python, unmodified.
@Suite("The Admin SDK's import_users", .database, .timeLimit(.minutes(10)))
struct AdminSDKImportTests {
    @Test("brings users in with every hash that it knows, and each signs in")
    func importsUsers() async throws {
        var options = TestService.Options()
        options.development = true
        options.settings = .development
        try await TestService.run(options) { service in
            let script = IdentityProgram.repository.appending(path: "Tests/ServiceTests/Import/import_users.py").path
            let python = IdentityProgram.repository.appending(path: ".venv/bin/python").path
            let host = service.baseURL.replacing("http://", with: "")
            let result = try await Program.run(python, [script, host, service.project.id.rawValue])
            #expect(result.output.trimmingCharacters(in: .newlines) == "[]", "\(result)")
            #expect(result.status == 0)
        }
    }
}
