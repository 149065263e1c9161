import Domain
import InMemoryLogging
import Logging
import Postgres
import Projects
import Secrets
import Storage
import Testing
import TestKit

@Suite("Configuration that cannot be read", .database)
struct UnreadableConfigurationTests {
    @Test("calls with the key of a project that this release cannot read get 503: apps keep what they have")
    func isUnavailable() async throws {
        try await TestService.run { service in
            let user = try await service.signUp("ada@example.com")
            let project = service.project.id.rawValue
            try await service.stores.database.execute(
                """
                WITH version AS (UPDATE configuration SET version = version + 1)
                UPDATE projects SET config = config || '{"linking": "ofNextRelease"}' WHERE project = \(project)
                """
            )
            try await service.stores.configuration.load()
            #expect(service.stores.configuration.snapshot.project(service.project.id) == nil)
            #expect(try await service.signUp("eve@example.com").status == 503)
            #expect(try await service.refresh(user.refreshToken).status == 503)
            #expect(try await service.lookUp(user.idToken).status == 503)
        }
    }

    @Test("a project or a provider that cannot be read is left out, and keeps no revocation from being seen")
    func isLeftOut() async throws {
        try await TestDatabase.withAnother { conninfo in
            var options = TestService.Options()
            options.conninfo = conninfo
            try await TestService.run(options) { service in
                let configuration = service.stores.configuration
                let id = try #require(ProjectID(rawValue: "broken-project"))
                try await configuration.createProject(id, settings: ProjectSettings())
                try await configuration.createProvider(
                    ProviderConfiguration(
                        provider: "oidc.broken",
                        enabled: true,
                        displayName: nil,
                        clientID: "client",
                        clientSecret: Secret("secret")
                    ),
                    in: Scope(project: service.project.id)
                )
                try await service.stores.database.execute(
                    "UPDATE projects SET password_signer_key = '\\x00' WHERE project = 'broken-project'"
                )
                try await service.stores.database.execute(
                    "UPDATE provider_configurations SET client_secret = '\\x00' WHERE provider = 'oidc.broken'"
                )
                try await service.signUp("ada@example.com").expectOK()
                try await configuration.revokeAPIKey(APIKey(rawValue: service.apiKey))
                #expect(configuration.snapshot.project(id) == nil)
                #expect(try await service.signUp("eve@example.com").status == 400)
                let left = service.logs.entries.filter { $0.message.description == "Skipped unreadable configuration" }
                #expect(left.count >= 2)
            }
        }
    }
}
