import Projects
import Storage
import TestKit
import Testing

@Suite("The emulator's endpoints for a tenant", .database)
struct EmulatorTenantTests {
    private func run(_ body: @Sendable (TestService) async throws -> Void) async throws {
        var options = TestService.Options()
        options.development = true
        options.settings = .development
        try await TestService.run(options, body)
    }

    @Test(
        "refuse for one that does not exist, and do nothing to the project",
        arguments: [("DELETE", "accounts"), ("GET", "oobCodes"), ("GET", "verificationCodes")]
    )
    func refuse(_ method: String, _ resource: String) async throws {
        try await run { service in
            try await service.signUp("ada@example.com").expectOK()
            let base = "/emulator/v1/projects/\(service.project.id)"
            let reply = try await service.send(method, "\(base)/tenants/tenant-a/\(resource)")
            #expect(reply.status == 404 && reply.error == "TENANT_NOT_FOUND", "\(reply)")
            try await service.signInWithPassword("ada@example.com").expectOK()
        }
    }

    @Test(
        "a tenant has any display name, as in the emulator, and an ID that fits into paths",
        arguments: ["", "x", "Acme & Söhne GmbH", "myTenant_1", "a name of more than twenty characters"]
    )
    func displayNames(_ name: String) async throws {
        try await run { service in
            let tenant = try await service.admin("tenants", ["displayName": .string(name)], version: "v2")
            #expect(tenant.status == 200 && tenant["displayName"] == .string(name), "\(tenant)")
            let path = try #require(tenant["name"]?.string)
            #expect(path.wholeMatch(of: #/projects/[^/]+/tenants/tenant-[a-z0-9]{5}/#) != nil, "\(path)")
            let id = String(path.suffix(12))
            let changed = try await service.updateTenant(id, ["displayName": "Another: name"])
            #expect(changed["displayName"] == "Another: name", "\(changed)")
            for refused in ["two\nlines", String(repeating: "x", count: 257)] {
                #expect(try await service.updateTenant(id, ["displayName": .string(refused)]).status == 400)
            }
        }
    }

    @Test("show the tenant's codes, and wipe its accounts alone")
    func ofTenant() async throws {
        try await run { service in
            let id = try await service.makeTenant("Northwind", ["allowPasswordSignup": true])
            let base = "/emulator/v1/projects/\(service.project.id)"
            let tenant: JSON = ["tenantId": .string(id)]
            let password: JSON = ["email": "ada@example.com", "password": "correct horse"]
            try await service.signUp("ada@example.com").expectOK()
            try await service.call("accounts:signUp", password.merging(tenant)).expectOK()
            let sent = try await service.sendCode(
                .passwordReset,
                tenant.merging(["email": "ada@example.com"])
            )
            sent.expectOK()
            #expect(try await service.send("GET", "\(base)/oobCodes")["oobCodes"] == [])
            let codes = try await service.send("GET", "\(base)/tenants/\(id)/oobCodes")["oobCodes"]
            let link = try #require(codes?[0]?["oobLink"]?.string, "\(String(describing: codes))")
            let path = String(link.drop { $0 != "?" })
            let reset = try await service.send("GET", "/emulator/action\(path)&newPassword=another%20horse")
            #expect(reset["authEmulator"]?["success"] != nil, "\(reset)")
            try await service.signInWithPassword("ada@example.com").expectOK()
            let signIn: JSON = ["email": "ada@example.com", "password": "another horse"]
            try await service.call("accounts:signInWithPassword", signIn.merging(tenant)).expectOK()
            try await service.send("DELETE", "\(base)/tenants/\(id)/accounts").expectOK()
            let gone = try await service.call("accounts:signInWithPassword", signIn.merging(tenant))
            #expect(gone.error == "EMAIL_NOT_FOUND", "\(gone)")
            try await service.signInWithPassword("ada@example.com").expectOK()
        }
    }
}
