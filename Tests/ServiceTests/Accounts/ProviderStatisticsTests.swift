import Domain
import Projects
import Storage
import Testing
import TestKit

@Suite("providers:stats", .database)
struct ProviderStatisticsTests {
    @Test("counts the accounts of each method, and those that have no other way in")
    func counts() async throws {
        try await TestService.run { service in
            try await service.configure(ProviderConfiguration(provider: .google, enabled: true, clientID: "app"))
            try await service.configure(ProviderConfiguration(provider: .github, enabled: false, clientID: "app"))
            try await service.configure(ProviderConfiguration(provider: "oidc.new", enabled: true, clientID: "app"))
            let google: JSON = ["providerId": "google.com", "rawId": "1"]
            let users: [JSON] = [
                ["localId": "google", "providerUserInfo": [google]],
                [
                    "localId": "both", "email": "both@example.com", "rawPassword": "correct horse",
                    "providerUserInfo": [google.merging(["rawId": "2"])],
                ],
                ["localId": "password", "email": "ada@example.com", "rawPassword": "correct horse"],
                [
                    "localId": "off",
                    "providerUserInfo": [
                        google.merging(["rawId": "3"]), ["providerId": "github.com", "rawId": "3"],
                    ],
                ],
                ["localId": "phone", "phoneNumber": "+15555550101"],
                ["localId": "guest"],
            ]
            let uploaded = try await service.admin("accounts:batchCreate", ["users": .array(users)])
            #expect(uploaded["error"] == nil, "\(uploaded)")
            let before = try await service.admin("providers:stats")
            let rows: [JSON] = [
                row("github.com", false, 1, 0), row("google.com", true, 3, 2), row("oidc.new", true, 0, 0),
                row("password", true, 2, 1), row("phone", false, 1, 1),
            ]
            #expect(before.json == ["providers": .array(rows)], "\(before)")

            service.clock.advance(by: 1000)
            try await service.signInWithPassword("ada@example.com").expectOK()
            let after = try await service.admin("providers:stats")["providers"]?.array ?? []
            let used = after.filter { $0["lastUsedAt"] != nil }
            #expect(used.map { $0["providerId"] } == ["password"])
            #expect(used.first?["lastUsedAt"]?.string == "\(service.clock.seconds * 1000)")

            // Who is affected by a switch is told before it, and is still when it is off.
            let scope = Scope(project: service.project.id)
            _ = try await service.stores.configuration.updateProvider(.google, in: scope) { $0.enabled = false }
            let off = try await service.admin("providers:stats")["providers"]?.array ?? []
            #expect(off.first { $0["providerId"] == "google.com" } == row("google.com", false, 3, 2))
            #expect(off.first { $0["providerId"] == "password" }?["dependentAccounts"] == "2")
        }
    }

    private func row(_ provider: String, _ enabled: Bool, _ accounts: Int, _ dependent: Int) -> JSON {
        [
            "providerId": .string(provider), "enabled": .bool(enabled), "accounts": .string(String(accounts)),
            "dependentAccounts": .string(String(dependent)),
        ]
    }

    @Test("in identity dev a provider without a configuration is on")
    func development() async throws {
        var options = TestService.Options()
        options.development = true
        try await TestService.run(options) { service in
            let google: JSON = ["providerId": "google.com", "rawId": "1"]
            let user: JSON = ["localId": "ada", "providerUserInfo": [google]]
            try await service.admin("accounts:batchCreate", ["users": [user]])
            let rows = try await service.admin("providers:stats")["providers"]?.array ?? []
            #expect(rows.first { $0["providerId"] == "google.com" } == row("google.com", true, 1, 1))
        }
    }
}
