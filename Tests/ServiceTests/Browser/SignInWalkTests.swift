import Development
import Domain
import Foundation
import Projects
import Storage
import StrictJSON
import Synchronization
import Testing
import TestKit
import Text

/// An app in a real browser, whose page speaks the web SDK's side of the protocol.
@Suite("Sign-in in a browser", .database, .testProvider, .serialized, .timeLimit(.minutes(10)))
struct SignInWalkTests {
    private struct Step: Sendable {
        var provider: String
        var mode: String
        var expected: JSON
        /// What the person does at the provider; nil for nothing.
        var decision: ScriptedLogin.Decision? = .approve
    }

    private static func signedIn(_ provider: String, _ mode: String) -> Step {
        Step(
            provider: provider,
            mode: mode,
            expected: [
                "mode": .string(mode), "providerId": .string(provider), "signedIn": .string(provider),
                "email": "ada@example.com", "hasToken": true,
            ]
        )
    }

    private static func failed(_ provider: String, _ mode: String, _ code: String) -> Step {
        Step(
            provider: provider,
            mode: mode,
            expected: ["mode": .string(mode), "providerId": .string(provider), "error": .string(code)]
        )
    }

    private static let providers = ["google.com", "apple.com", "github.com", "oidc.yahoojp"]

    @Test("popup and redirect, there and back, through every way in which providers answer")
    func popupAndRedirect() async throws {
        let steps = ["popup", "redirect"].flatMap { mode in Self.providers.map { Self.signedIn($0, mode) } }
        try await walk(steps)
    }

    @Test("a window that is closed, a double click and two windows at once each end in a clear state")
    func windows() async throws {
        var closed = Self.failed("google.com", "closed", "popup-closed-by-user")
        closed.decision = nil
        var tabs = Self.signedIn("github.com", "tabs")
        tabs.expected = [
            "mode": "tabs", "providerId": "github.com", "signedIn": ["github.com", "github.com"], "flows": 2,
        ]
        try await walk([
            closed, Self.signedIn("google.com", "popup"), Self.signedIn("google.com", "doubleClick"),
            Self.signedIn("apple.com", "doubleClick"), tabs,
        ])
    }

    @Test("a refusal and a provider that is off each end in a clear state")
    func failures() async throws {
        var refused = Self.failed("google.com", "popup", "auth/user-cancelled")
        refused.decision = .deny
        var refusedRedirect = Self.failed("apple.com", "redirect", "auth/user-cancelled")
        refusedRedirect.decision = .deny
        try await walk([
            refused, refusedRedirect, Self.failed("oidc.nobody", "popup", "auth/operation-not-allowed"),
            Self.failed("oidc.nobody", "redirect", "auth/operation-not-allowed"),
        ])
    }

    @Test("popups work where an app is of another site and a browser keeps nothing for frames of other sites")
    func otherSite() async throws {
        var options = Chromium.Options()
        options.preferences = ["profile": ["block_third_party_cookies": true, "cookie_controls_mode": 1]]
        try await walk(Self.providers.map { Self.signedIn($0, "popup") }, options, appHost: "localhost")
    }

    @Test("a browser that keeps nothing at all says so")
    func blockedStorage() async throws {
        var options = Chromium.Options()
        options.preferences = ["profile": ["default_content_setting_values": ["cookies": 2]]]
        try await walk([Self.failed("google.com", "popup", "auth/web-storage-unsupported")], options)
    }

    @Test("on a phone's screen too")
    func phone() async throws {
        var options = Chromium.Options()
        (options.width, options.height) = (390, 844)
        try await walk([Self.signedIn("google.com", "redirect"), Self.signedIn("apple.com", "popup")], options)
    }

    // MARK: The walk

    private func walk(
        _ steps: [Step],
        _ browser: Chromium.Options = .init(),
        appHost: String = "127.0.0.1"
    ) async throws {
        var options = TestService.Options()
        options.ownPages = true
        options.settings.authorizedDomains = ["localhost", "127.0.0.1"]
        options.settings.googleLoader = false
        try await TestSlots.services.use {
            try await TestService.run(options) { service in
                let tenants = try await configure(service)
                try await WebReceiver.run { app in
                    let results = try await run(steps, browser, service, tenants, app, host: appHost)
                    #expect(results == steps.map(\.expected))
                    for tenant in tenants.values { #expect(tenant.violations.isEmpty) }
                }
            }
        }
    }

    private func configure(_ service: TestService) async throws -> [String: TestTenant] {
        var tenants: [String: TestTenant] = [:]
        for (name, personality) in zip(
            Self.providers,
            [.google, .apple, .github, .yahooJapan] as [ProviderPersonality]
        ) {
            let tenant = try await TestProvider.tenant(personality, name: name.replacing(".", with: "-"))
            tenant.addClient(redirects: .anyLocal)
            tenant.addUser(TestUser(name == "github.com" ? "42" : "ada", email: "ada@example.com", name: "Ada"))
            let overrides: JSONObject = name == "oidc.yahoojp" ? ["responseTypes": ["code id_token"]] : [:]
            try await service.configure(tenant.configuration(as: ProviderID(name), overrides: overrides))
            tenants[name] = tenant
        }
        return tenants
    }

    /// The app's page tells each result and is told where to go next.
    private func run(
        _ steps: [Step],
        _ browser: Chromium.Options,
        _ service: TestService,
        _ tenants: [String: TestTenant],
        _ app: WebReceiver,
        host: String
    ) async throws -> [JSON] {
        let page = try Repository.text("Tests/ServiceTests/Browser/app.html")
        let base = app.baseURL.replacing("127.0.0.1", with: host)
        @Sendable func url(_ step: Step) -> String {
            let user = TestUser(step.provider == "github.com" ? "42" : "ada", email: "ada@example.com", name: "Ada")
            tenants[step.provider]?.everyLogin(step.decision.map { ScriptedLogin(user, $0) })
            let fields = [
                ("auth", service.baseURL), ("key", service.apiKey), ("provider", step.provider), ("mode", step.mode),
            ]
            return "\(base)/?\(FormFields(pairs: fields).text)"
        }
        let (results, continuation) = AsyncStream.makeStream(of: JSON.self)
        let told = Counter()
        app.answer { request in
            guard request.path == "/result" else { return request.path.hasPrefix("/?") ? (200, page) : (404, "") }
            continuation.yield(request.json)
            // Another account for each step: their addresses are the same.
            _ = try? await service.stores.accounts.deleteAll(in: Scope(project: service.project.id))
            let number = told.increment()
            return steps.indices.contains(number) ? (200, url(steps[number])) : (204, "")
        }
        guard let first = steps.first else { return [] }
        return try await Chromium.open(url(first), browser) {
            var found: [JSON] = []
            for await result in results {
                found.append(result)
                if found.count == steps.count { break }
            }
            return found
        }
    }
}
