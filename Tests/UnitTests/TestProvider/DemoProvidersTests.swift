import Development
import Domain
import Federation
import Foundation
import Projects
import Secrets
import StrictJSON
import Testing
import TestKit

/// What `identity dev` brings along for people to sign in with.
@Suite struct DemoProvidersTests {
    private func overrides(_ configuration: ProviderConfiguration) throws -> [String: Any] {
        let text = try #require(configuration.overrides)
        return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test func bringsThreeProvidersWhoseIssuersDoNotDependOnThePort() async throws {
        let provider = TestProvider()
        try await provider.serve {
            let base = try await provider.baseURL()
            let configurations = try await DemoProviders.install(in: provider)
            #expect(configurations.map(\.provider.rawValue) == ["oidc.demo", "google.com", "github.com"])
            #expect(configurations.map(\.displayName) == ["Demo ID", "Google (demo)", "GitHub (demo)"])
            #expect(configurations.allSatisfy { $0.enabled && $0.clientSecret != nil })
            let demo = try #require(configurations.first)
            #expect(demo.issuer == "https://demo-id.example")
            #expect(try overrides(demo)["discoveryURL"] as? String == base + "/t/demo/.well-known/openid-configuration")
            #expect(try overrides(demo)["emailTrust"] as? String == "claim")
            let google = try overrides(configurations[1])
            #expect(google["issuers"] as? [String] == ["https://accounts.google.com", "accounts.google.com"])
            let github = try overrides(configurations[2])
            #expect((github["variables"] as? [String: String])?["api"] == base + "/t/github/api")
            let document = try await PlainHTTP.send("GET", base + "/t/demo/.well-known/openid-configuration").json()
            #expect(document["issuer"] as? String == "https://demo-id.example")
        }
    }

    @Test func allOfThemHavePeopleAndIssuersThatDoNotDependOnThePort() async throws {
        let provider = TestProvider()
        try await provider.serve {
            let base = try await provider.baseURL()
            let configurations = try await DemoProviders.install(.all, in: provider)
            #expect(configurations.map(\.provider) == DemoProviders.all.map(\.id))
            for configuration in configurations {
                try ProviderDefinition.validate(configuration, allowsLoopback: true)
                let definition = try ProviderDefinition.make(for: configuration, allowsLoopback: true)
                #expect(definition.issuers.allSatisfy { !$0.contains(base) }, "\(configuration.provider)")
                #expect(definition.issuers.first?.hasPrefix("https://") == true, "\(configuration.provider)")
            }
            #expect(DemoProviders.all.allSatisfy { !$0.people.isEmpty })
        }
    }

    @Test func noneOfThemNeedsNoServer() async throws {
        #expect(try await DemoProviders.install(.none, in: TestProvider()).isEmpty)
    }

    @Test func oneAddressIsAtSeveralProvidersSoThatAConflictCanBeSeen() async throws {
        let provider = TestProvider()
        try await provider.serve {
            _ = try await DemoProviders.install(in: provider)
            for (name, address) in [("demo", "ada@example.com"), ("github", "ada@example.com")] {
                let tenant = try #require(provider.tenant(name))
                var client = ReferenceClient(tenant: tenant, id: DemoProviders.client)
                client.redirectURI = "http://127.0.0.1:9099/demo"
                let page = try await client.authorize()
                #expect(page.form(with: "Ada Lovelace")?.text.contains(address) == true)
            }
        }
    }

    @Test func otherTenantsAreConfiguredByDiscoveryOrByTheirEndpoints() async throws {
        let provider = TestProvider()
        try await provider.serve {
            let oidc = try await provider.addTenant("oidc", .genericOIDC)
            oidc.addClient(secrets: ["one", "two"], redirects: .anyLocal)
            let configuration = oidc.configuration(as: ProviderID("oidc.acme"))
            #expect(configuration.issuer == oidc.base)
            #expect(configuration.overrides == nil)
            #expect(configuration.clientSecret?.reveal() == "one")
            let oauth = try await provider.addTenant("oauth", .genericOAuth2)
            let plain = try overrides(
                oauth.configuration(as: ProviderID("oauth.acme"), overrides: ["claims": ["subject": ["id"]]])
            )
            #expect((plain["endpoints"] as? [String: String])?["userInfo"] == oauth.base + "/profile")
            #expect(plain["claims"] != nil)
        }
    }
}
