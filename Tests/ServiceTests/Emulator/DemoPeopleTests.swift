import Development
import Domain
import Foundation
import Projects
import Testing
import TestKit
import Text

/// The account chooser of the demo providers, which lists the project's accounts as the emulator's widget does.
@Suite("The demo providers' accounts", .database)
struct DemoPeopleTests {
    private struct Scene: Sendable {
        let service: TestService
        let browser = ScriptedBrowser()

        func page(_ provider: ProviderID = .google) async throws -> (page: Visit, flow: TestService.StartedFlow) {
            let flow = try await service.startFlow(through: provider)
            return (try await browser.open(flow.authURI), flow)
        }

        /// The emails on the page, in order.
        func emails(_ provider: ProviderID = .google) async throws -> [String] {
            let page = try await page(provider).page.text
            return page.components(separatedBy: "js-reuse-account").dropFirst().compactMap { row in
                row.firstMatch(of: #/<span>([^<]+@[^<]+)</span>/#).map { String($0.1) }
            }
        }
    }

    private func run(_ body: @Sendable (Scene) async throws -> Void) async throws {
        var options = TestService.Options()
        options.development = true
        options.settings = .development
        try await TestService.run(options) { service in
            let provider = TestProvider(people: DemoProviders.people(of: service.project.id, service.stores))
            try await provider.serve {
                for made in try await DemoProviders.install(in: provider) { try await service.configure(made) }
                try await body(Scene(service: service))
            }
        }
    }

    private static let own = ["grace.hopper@gmail.com", "katherine@example.com"]

    @Test("lists accounts of fake credentials, imports and admins' links, and forgets them when all are deleted")
    func lists() async throws {
        try await run { scene in
            let service = scene.service
            #expect(try await scene.emails() == Self.own)
            let fake = try await service.signInWithIdP(
                postBody:
                    #"id_token={"sub":"g1","email":"fake@example.com","email_verified":true}&providerId=google.com"#
            )
            fake.expectOK()
            service.clock.advance(by: 1)
            let user = try await service.signUp("linked@example.com")
            try await service.admin(
                "accounts:update",
                [
                    "localId": JSON(user.localID),
                    "linkProviderUserInfo": ["providerId": "google.com", "rawId": "g2", "email": "linked@example.com"],
                ]
            )
            service.clock.advance(by: 1)
            let imported = try await service.admin(
                "accounts:batchCreate",
                [
                    "users": [
                        [
                            "localId": "imported", "createdAt": .string(String(service.clock.seconds * 1000)),
                            "providerUserInfo": [
                                ["providerId": "google.com", "rawId": "g3", "email": "imported@example.com"]
                            ],
                        ]
                    ]
                ]
            )
            #expect(imported.status == 200 && imported["error"] == nil, "\(imported)")
            #expect(
                try await scene.emails()
                    == Self.own + ["fake@example.com", "linked@example.com", "imported@example.com"]
            )
            #expect(try await !scene.emails(.github).contains("fake@example.com"))

            // Whoever is chosen signs in to that account.
            for (subject, account) in [("g1", fake.localID), ("g2", user.localID), ("g3", "imported")] {
                let (page, flow) = try await scene.page()
                let form = try #require(page.forms.first { $0.value("subject") == subject })
                let visit = try await scene.browser.submit(form, on: page, until: ["http://localhost/callback"])
                let reply = try await service.finishFlow(at: visit.url, sessionID: flow.sessionID)
                #expect(reply.localID == account, "\(reply)")
            }

            let deleted = try await service.send("DELETE", "/emulator/v1/projects/\(service.project.id)/accounts")
            deleted.expectOK()
            #expect(try await scene.emails() == Self.own)
        }
    }

    @Test("a user who was added on the page is listed once signed in, until all are deleted")
    func added() async throws {
        try await run { scene in
            let service = scene.service
            let (page, flow) = try await scene.page()
            let form = try #require(page.form(with: "The email is verified"))
            let values = ["email": "new@example.com", "name": "New Person"]
            let visit = try await scene.browser.submit(form, values, on: page, until: ["http://localhost/callback"])
            #expect(try await scene.emails() == Self.own)
            try await service.finishFlow(at: visit.url, sessionID: flow.sessionID).expectOK()
            #expect(try await scene.emails() == Self.own + ["new@example.com"])
            _ = try await service.send("DELETE", "/emulator/v1/projects/\(service.project.id)/accounts")
            #expect(try await scene.emails() == Self.own)
        }
    }
}
