import Foundation
import Projects
import TestKit
import Testing

/// Firebase's Admin SDK for Python, unmodified, with the service as its emulator.
@Suite("The Admin SDK with the emulator's setting", .database, .timeLimit(.minutes(10)))
struct EmulatorAdminSDKTests {
    @Test("does what the examples of its documentation do")
    func examples() async throws {
        var options = TestService.Options()
        options.development = true
        options.settings = .development
        try await TestService.run(options) { service in
            let script = IdentityProgram.repository.appending(path: "Tests/ServiceTests/Emulator/emulator_admin.py")
                .path
            let python = IdentityProgram.repository.appending(path: ".venv/bin/python").path
            let host = service.baseURL.replacing("http://", with: "")
            let result = try await Program.run(python, [script, host, service.project.id.rawValue])
            #expect(result.output.trimmingCharacters(in: .newlines) == "[]", "\(result)")
            #expect(result.status == 0)
        }
    }
}
