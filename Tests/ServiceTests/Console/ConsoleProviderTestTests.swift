import Accounts
import Development
import Domain
import Foundation
import IdentityService
import Postgres
import Projects
import Secrets
import Storage
import StrictJSON
import Testing
import TestKit

@Suite("The test of a provider at the console", .database, .testProvider)
struct ConsoleProviderTestTests {
    /// A person of the console, and a provider that is configured with these secrets, disabled.
    private static func run(
        secret: String = "secret",
        _ kind: ProviderPersonality = .genericOIDC,
        _ id: ProviderID = LinkingWorld.acmeID,
        _ body: @Sendable (ConsolePerson, TestTenant) async throws -> Void
    ) async throws {
        try await TestService.runConsole {
            $0 = LinkingWorld.options()
        } _: { service in
            let tenant = try await TestProvider.tenant(kind, name: "acme")
            tenant.addClient("client", secrets: ["secret"], redirects: .anyLocal)
            tenant.addUser(TestUser("1001", email: "ada@example.com", emailVerified: true, name: "Ada <of> Acme"))
            var configuration = tenant.configuration(as: id)
            (configuration.enabled, configuration.clientSecret) = (false, Secret(secret))
            try await service.configure(configuration)
            try await body(ConsolePerson.setUp(service), tenant)
        }
    }

    private static func path(_ person: ConsolePerson, _ id: ProviderID = LinkingWorld.acmeID) -> String {
        "/console/\(person.service.project.id)/providers/\(id)"
    }

    /// From the provider's page to the page that the provider sends the browser back to.
    private static func comeBack(_ person: ConsolePerson, _ page: Visit) async throws -> Visit {
        let start = try await person.press("Test provider", on: page)
        #expect(start.heading?.hasPrefix("Test ") == true, "\(start.text)")
        let link = start.text.firstMatch(of: #/<a class="button" href="(http:[^"]*)">Go to/#).map { String($0.1) }
        let url = try #require(link, "\(start.text)").replacing("&amp;", with: "&")
        var visit = try await person.browser.open(url)
        for _ in 0..<3 where visit.heading?.hasPrefix("Redirected from") != true {
            visit = try await person.browser.submit(try #require(visit.forms.first, "\(visit.text)"), on: visit)
        }
        return visit
    }

    private static func signIns(_ service: TestService) async throws -> Int64? {
        try await service.stores.database.query(
            """
            SELECT (SELECT count(*) FROM accounts WHERE project = \(service.project.id.rawValue))
                + (SELECT count(*) FROM sessions WHERE project = \(service.project.id.rawValue))
                + (SELECT count(*) FROM flows WHERE project = \(service.project.id.rawValue))
            """
        ) { try $0.next(Int64.self) }.first
    }

    @Test("shows each step of a real sign-in, also for a disabled provider, and signs no one in")
    func wholeWay() async throws {
        try await Self.run { person, tenant in
            let page = try await person.open(Self.path(person))
            let back = try await Self.comeBack(person, page)
            #expect(tenant.requests(.token).isEmpty, "the code is exchanged by the person's word")
            let result = try await person.press("Exchange authorization code", on: back)
            #expect(result.status == 200 && result.text.contains("The test succeeded."), "\(result.text)")
            for text in [
                "<code>1001</code>", "ada@example.com", "Ada &lt;of&gt; Acme", "verified", "Creates an account.",
                "No account has the identity or the email.", "ID token, access token",
            ] { #expect(result.text.contains(text), "\(text): \(result.text)") }
            let token = try #require(tenant.requests(.token).first)
            #expect(result.text.contains("/token</code>") && tenant.requests(.token).count == 1, "\(token)")
            #expect(!result.text.contains(/eyJ[\w-]+\.eyJ/), "no token is shown")
            #expect(try await Self.signIns(person.service) == 0)
            // The same answer once more.
            let again = try await person.press("Exchange authorization code", on: back)
            #expect(again.status == 400 && tenant.requests(.token).count == 1, "\(again.text)")
            let counted = try await person.service.assembly.accounts.countSignIns(person.service.project)
            #expect(counted.methods.isEmpty, "a test is no sign-in")
        }
    }

    @Test("says what a sign-in would come to where the address belongs to somebody")
    func conflict() async throws {
        try await Self.run(.github, .github) { person, tenant in
            tenant.addUser(TestUser("1002", email: "ada@example.com", emailVerified: true, name: "Ada"))
            _ = try await person.service.signUp("ada@example.com")
            let back = try await Self.comeBack(person, try await person.open(Self.path(person, .github)))
            let result = try await person.press("Exchange authorization code", on: back)
            #expect(result.text.contains("Asks the user to sign in with an existing method"), "\(result.text)")
            #expect(!result.text.contains("The ID token is verified"), "GitHub has none")
        }
    }

    @Test(
        "tells where it ended, why, and what to mend",
        arguments: [
            (
                ProviderEndpoint?.none, ProviderFault?.none, "wrong", "The authorization code is exchanged",
                "Copy both from the provider again"
            ),
            (.token, .status(503), "secret", "The authorization code is exchanged", "did not respond"),
            (.userinfo, .members(set: ["sub": "another"]), "secret", "The user is identified", ""),
            (.token, .members(remove: ["id_token"]), "secret", "The authorization code is exchanged", ""),
            (.keys, .status(500), "secret", "The ID token is verified", "did not respond"),
        ]
    )
    func failures(
        _ endpoint: ProviderEndpoint?,
        _ fault: ProviderFault?,
        _ secret: String,
        _ step: String,
        _ advice: String
    ) async throws {
        try await Self.run(secret: secret) { person, tenant in
            let back = try await Self.comeBack(person, try await person.open(Self.path(person)))
            if let endpoint, let fault { tenant.addFault(fault, at: endpoint, call: nil) }
            let result = try await person.press("Exchange authorization code", on: back)
            #expect(result.status == 200, "\(result.text)")
            let failed = "<b>\(step)</b> <span class=\"tag warning\">failed</span>"
            #expect(result.text.contains(failed), "\(result.text)")
            #expect(advice.isEmpty || result.text.contains(advice), "\(result.text)")
            #expect(
                result.text.contains("not reached") && !result.text.contains("The test succeeded"),
                "\(result.text)"
            )
            #expect(try await Self.signIns(person.service) == 0)
        }
    }

    @Test("a provider that cannot be reached is shown at the first step")
    func noDiscovery() async throws {
        try await Self.run { person, tenant in
            tenant.addFault(.status(503), at: .discovery, call: nil)
            let start = try await person.press("Test provider", on: try await person.open(Self.path(person)))
            #expect(
                start.text.contains("Redirect to the provider</b> <span class=\"tag warning\">failed"),
                "\(start.text)"
            )
        }
    }

    @Test("T-D9: what comes back is taken from the browser and the session that began, once, for that provider")
    func bound() async throws {
        try await Self.run { person, tenant in
            let other = try await ConsolePerson.setUp(person.service, "other@example.com")
            var configuration = tenant.configuration(as: "oidc.other")
            configuration.clientSecret = Secret("secret")
            try await person.service.configure(configuration)
            let back = try await Self.comeBack(person, try await person.open(Self.path(person)))
            let form = try #require(back.forms.first { $0.text.contains("Exchange authorization code") })
            let fields = ["token", "requestUri", "sessionId"].map { ($0, form.value($0) ?? "") }
            let path = Self.path(person) + "/test/result"
            // Of another person, of another page, without the token, at another provider, without the browser's part.
            let stolen = try await other.send("POST", path, fields)
            #expect(stolen.status == 403, "\(stolen)")
            let foreign = try await person.send("POST", path, fields, headers: [("Sec-Fetch-Site", "cross-site")])
            #expect(foreign.status == 403, "\(foreign)")
            let bare = try await person.send("POST", path, fields.filter { $0.0 != "token" })
            #expect(bare.status == 403, "\(bare)")
            let unproved = try await person.send("POST", path, fields.filter { $0.0 != "sessionId" })
            #expect(unproved.status == 400, "\(unproved)")
            // Another browser is not taken back at all.
            let callback = try #require(form.value("requestUri"))
            let elsewhere = try await ScriptedBrowser().open(callback)
            #expect(elsewhere.heading?.hasPrefix("Redirected from") != true, "\(elsewhere.text)")
            #expect(tenant.requests(.token).isEmpty)
            // An app that has all of it ends no sign-in with it, for the provider is disabled.
            let app = try await person.service.call(
                "accounts:signInWithIdp",
                [
                    "requestUri": .string(callback), "sessionId": .string(form.value("sessionId") ?? ""),
                    "returnSecureToken": true,
                ]
            )
            #expect(app.status == 400 && tenant.requests(.token).isEmpty, "\(app)")
        }
    }

    @Test("T-D9: an app's flow cannot be finished here, even by a caller who knows all of it")
    func appsFlow() async throws {
        try await TestService.runConsole {
            $0 = LinkingWorld.options()
        } _: { service in
            let world = try await LinkingWorld(service)
            let user = world.person()
            let person = try await ConsolePerson.setUp(service)
            let callback = "http://localhost/callback"
            let flow = try await service.startFlow(through: LinkingWorld.acmeID, continueURI: callback)
            let browser = ScriptedBrowser()
            var visit = try await browser.open(flow.authURI, until: [callback])
            while !visit.isStopped {
                let form = try #require(visit.forms.first, "\(user.subject): \(visit.text)")
                visit = try await browser.submit(form, on: visit, until: [callback])
            }
            let fields = [
                ("token", try await person.token()), ("requestUri", visit.url), ("sessionId", flow.sessionID),
            ]
            let reply = try await person.send("POST", Self.path(person) + "/test/result", fields)
            #expect(reply.status == 400, "\(reply)")
            #expect(world.acme.requests(.token).isEmpty, "the code is the app's")
        }
    }
}
