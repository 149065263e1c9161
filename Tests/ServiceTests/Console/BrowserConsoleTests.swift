import Domain
import Foundation
import Projects
import Secrets
import Storage
import Testing
import TestKit

/// The console in a real browser: on desktop and phone, light and dark, by the keyboard, looked at by axe.
@Suite("The console in Chromium", .database, .serialized)
struct BrowserConsoleTests {
    private typealias Visit = PagesInChromium.Visit
    private typealias Step = PagesInChromium.Step

    private static let variants = ["desktop", "desktop-dark", "phone", "phone-dark"]

    @Test("pages before the sign-in")
    func entrance() async throws {
        try await TestService.runConsole { service in
            let variants = Self.variants
            var setUps: [Visit] = []
            for variant in variants {
                let (_, code) = try await service.stores.console.createAdmin(
                    try #require(EmailAddress("\(variant)@example.com")),
                    project: nil,
                    scopes: Set(AdminScope.allCases),
                    expiresAt: nil,
                    now: service.clock.current
                )
                setUps.append(
                    Visit(
                        name: "console-enrollment",
                        url: service.baseURL + "/console/set-up",
                        variants: [variant],
                        steps: [
                            Step(fill: ["#setup": code.reveal()]), Step(press: "main form button"),
                            Step(heading: "Set a password and an authenticator app"),
                        ]
                    )
                )
            }
            try await PagesInChromium.look(
                at: setUps + [
                    Visit(name: "console-sign-in", url: service.baseURL + "/console"),
                    Visit(name: "console-set-up", url: service.baseURL + "/console/set-up"),
                    Visit(name: "console-nowhere", url: service.baseURL + "/console/sign-in?next=a&next=b"),
                ]
            )
        }
    }

    @Test("from the sign-in to an account, what is done with it, and the audit log")
    func accounts() async throws {
        try await TestService.runConsole { service in
            var visits: [Visit] = []
            var people: [ConsolePerson] = []
            for variant in Self.variants {
                people.append(try await ConsolePerson.setUp(service, "\(variant)@example.com"))
                let address = "ada-\(variant)@example.com"
                let ada = try await service.admin(
                    "accounts",
                    ["localId": .string("id-\(variant)"), "email": .string(address), "password": "correct horse"]
                )
                ada.expectOK()
                _ = try await service.signInWithPassword(address)
                _ = try await service.signInWithPassword(address, "wrong password")
                let linked = try await service.admin(
                    "accounts:update",
                    [
                        "localId": .string("id-\(variant)"),
                        "linkProviderUserInfo": [
                            "providerId": "github.com", "rawId": .string("4711-\(variant)"),
                            "email": .string("ada.lovelace-\(variant)@example.com"),
                        ],
                    ]
                )
                linked.expectOK()
            }
            let github = ProviderConfiguration(
                provider: "github.com",
                enabled: true,
                clientID: "client",
                clientSecret: Secret("secret")
            )
            try await service.configure(github)
            let root = service.baseURL + "/console/\(service.project.id)"
            let mail = try await service.call(
                "accounts:sendOobCode",
                ["requestType": "PASSWORD_RESET", "email": "ada-phone@example.com"]
            )
            mail.expectOK()
            service.clock.advance(by: 30)
            for (variant, person) in zip(Self.variants, people) {
                let account = service.baseURL + person.path("id-\(variant)")
                let steps = [
                    Step(heading: "Sign in to the console"),
                    Step(fill: ["#email": person.email]), Step(fill: ["#password": ConsolePerson.password]),
                    Step(fill: ["#code": person.code()]), Step(press: "main form button"),
                    Step(heading: "Accounts"), Step(fill: ["#q": "nobody@example.com"]),
                    Step(press: ".search button"), Step(says: "No account matches"),
                    Step(goto: root + "/accounts?state=unverified&provider=github.com"), Step(says: "GitHub"),
                    Step(goto: root + "/accounts?state=disabled"), Step(says: "No account matches these filters"),
                    Step(goto: account), Step(heading: "ada-\(variant)@example.com"),
                    Step(says: "Sign-in methods"),
                    Step(goto: root + "/audit"), Step(heading: "Audit log"),
                    Step(goto: root + "/overview"), Step(heading: "Overview"),
                    Step(goto: root + "/providers"), Step(heading: "Identity providers"),
                    Step(goto: root + "/providers/github.com"), Step(heading: "GitHub"),
                    Step(press: "form[action$='/test'] button"), Step(heading: "Test GitHub"),
                    Step(goto: root + "/settings"), Step(heading: "Settings"),
                    Step(goto: root + "/access"), Step(heading: "API keys and service accounts"),
                    Step(goto: service.baseURL + "/console/operations"), Step(heading: "Operations"),
                    Step(goto: service.baseURL + "/console"), Step(heading: "Projects"),
                    Step(press: "header form button"), Step(heading: "You are signed out"),
                ]
                visits.append(
                    Visit(
                        name: "console",
                        url: service.baseURL + "/console/\(service.project.id)/accounts",
                        variants: [variant],
                        steps: steps
                    )
                )
            }
            try await PagesInChromium.look(at: visits)
        }
    }
}
