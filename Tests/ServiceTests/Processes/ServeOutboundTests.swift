import Development
import Foundation
import TestKit
import Testing

/// Which providers `identity serve` calls.
@Suite("identity serve and providers that are not public", .database, .testProvider, .timeLimit(.minutes(10)))
struct ServeOutboundTests {
    private var environment: [String: String] { IdentityProgram.environment(TestDatabase.current.conninfo) }

    /// Configures a provider on this machine at a service of its own, and begins a sign-in there.
    private func begin(
        _ project: String,
        _ settings: [String: String] = [:],
        at tenant: TestTenant
    ) async throws -> (configured: Reply, started: Reply) {
        let made = try await IdentityProgram.run("projects", "create", project, environment: environment)
        let token = try await IdentityProgram.run("admin-keys", "create", "--name", project, environment: environment)
        return try await IdentityProgram.serve(environment.merging(settings) { $1 }) { _, service in
            var service = service
            service.project = project
            service.apiKey = String(made.output.split(separator: " ").last ?? "")
            service.adminToken = token.output
            try await service.learnsItsKey()
            let configured = try await service.admin(
                "oauthIdpConfigs?oauthIdpConfigId=oidc.inside",
                ["clientId": "client", "issuer": .string(tenant.issuer), "enabled": true],
                version: "v2"
            )
            let started = try await service.call(
                "accounts:createAuthUri",
                ["providerId": "oidc.inside", "continueUri": "http://localhost/callback"]
            )
            return (configured, started)
        }
    }

    @Test("T-B17: this machine and its network are out of reach, unless the operator allows them")
    func allowed() async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        let refused = try await begin("closed-project", ["IDENTITY_OUTBOUND_ALLOW": "private"], at: tenant)
        #expect(refused.configured.error?.hasPrefix("INVALID_CONFIG") == true, "\(refused)")
        #expect(refused.started.status == 400)
        #expect(tenant.requests().isEmpty)
        let reached = try await begin("open-project", ["IDENTITY_OUTBOUND_ALLOW": "loopback"], at: tenant)
        #expect(reached.configured.status == 200, "\(reached)")
        #expect(reached.started["authUri"]?.string?.hasPrefix(tenant.base) == true, "\(reached)")
        #expect(tenant.requests().map(\.endpoint) == [.discovery])
        // `identity check` judges by what the node may call.
        for (allowed, isFound) in [("loopback", false), ("private", true)] {
            let setting = environment.merging(["IDENTITY_OUTBOUND_ALLOW": allowed]) { $1 }
            let check = try await IdentityProgram.run("check", "--project", "open-project", environment: setting)
            #expect(check.output.contains("provider-invalid") == isFound, "\(check)")
        }
    }
}
