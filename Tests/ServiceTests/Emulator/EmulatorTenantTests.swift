import Projects
import TestKit
import Testing

@Suite("The emulator's endpoints for a tenant", .database)
struct EmulatorTenantTests {
    @Test(
        "refuse, and do nothing to the project: there are no tenants",
        arguments: [
            ("DELETE", "accounts"), ("GET", "oobCodes"), ("GET", "verificationCodes"), ("GET", "config"),
            ("PATCH", "config"),
        ]
    )
    func refuse(_ method: String, _ resource: String) async throws {
        var options = TestService.Options()
        options.development = true
        options.settings = .development
        try await TestService.run(options) { service in
            #expect(try await service.signUp("ada@example.com").status == 200)
            let base = "/emulator/v1/projects/\(service.project.id)"
            let reply = try await service.send(method, "\(base)/tenants/tenant-a/\(resource)")
            #expect(reply.status == 404 && reply.error == "TENANT_NOT_FOUND", "\(reply)")
            #expect(try await service.signInWithPassword("ada@example.com").status == 200)
        }
    }
}
