import Development
import Domain
import Federation
import Foundation
import Outbound
import Projects
import Secrets
import Testing
import TestKit

/// The service's own client against the test provider, with a person in front of the page.
@Suite struct TestProviderFederationTests {
    private func signIn(
        _ name: String,
        at tenantName: String,
        as person: String,
        _ check: @escaping @Sendable (FederatedCredential, TestTenant) throws -> Void
    ) async throws {
        let provider = TestProvider()
        try await provider.serve {
            let configurations = try await DemoProviders.install(in: provider)
            let configuration = try #require(configurations.first { $0.provider.rawValue == name })
            let tenant = try #require(provider.tenant(tenantName))
            let client = OutboundClient(allowsLoopback: true, limits: .patient)
            let outcome: Result<Void, any Error>
            do {
                let service = FederationService(http: client, now: { Date() })
                let redirect = "http://127.0.0.1:9099/"
                let request = try await service.authorizationRequest(
                    for: configuration,
                    AuthorizationOptions(redirectURI: redirect)
                )
                let browser = ScriptedBrowser()
                let page = try await browser.open(request.url)
                let visit = try await browser.submit(
                    try #require(page.form(with: person)),
                    on: page,
                    until: [redirect]
                )
                let credential = try await service.redeem(
                    try ProviderCallback(requestURI: visit.url, postBody: nil),
                    flow: request.flow,
                    with: configuration
                )
                outcome = .success(try check(credential, tenant))
            } catch {
                outcome = .failure(error)
            }
            await client.shutdown()
            try outcome.get()
        }
    }

    @Test func signsInWithDemoID() async throws {
        try await signIn("oidc.demo", at: "demo", as: "Ada Lovelace") { credential, tenant in
            #expect(credential.identity.subject == "1001")
            #expect(credential.identity.issuer == "https://demo-id.example")
            #expect(credential.identity.email == EmailAddress("ada@example.com"))
            #expect(credential.identity.emailVerifiedClaim)
            #expect(tenant.violations.isEmpty)
        }
    }

    @Test func signsInWithGoogle() async throws {
        try await signIn("google.com", at: "google", as: "Grace Hopper") { credential, tenant in
            #expect(credential.identity.issuer == "https://accounts.google.com")
            #expect(credential.identity.email == EmailAddress("grace.hopper@gmail.com"))
            #expect(tenant.violations.isEmpty)
        }
    }

    @Test func signsInWithGitHub() async throws {
        try await signIn("github.com", at: "github", as: "Ada Lovelace") { credential, tenant in
            #expect(credential.identity.issuer == "https://github.com")
            #expect(credential.identity.subject == "583201")
            #expect(credential.identity.email == EmailAddress("ada@example.com"))
            #expect(tenant.violations.isEmpty)
        }
    }
}
