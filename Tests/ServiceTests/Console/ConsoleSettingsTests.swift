import Administration
import Domain
import Foundation
import Projects
import Storage
import Testing
import TestKit

@Suite("Settings at the console", .database)
struct ConsoleSettingsTests {
    @Test("are shown and changed as the API would; what the page does not have stays")
    func change() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            let path = "/console/\(service.project.id)/settings"
            func settings() -> ProjectSettings? {
                service.stores.configuration.snapshot.project(service.project.id)?.settings
            }
            let before = try #require(settings())
            var page = try await person.press("Save", on: try await person.open(path))
            #expect(page.text.contains("Saved.") && settings() == before, "saving what is there changes nothing")
            page = try await person.press(
                "Save",
                [
                    "signIn.anonymous.enabled": "true", "identity.linking": "confirm", "identity.sessionIdleDays": "30",
                    "authorizedDomains": "app.example.com\r\nlocalhost", "identity.appName": "Tea <House>",
                    "reason": "ticket 9",
                ],
                on: page
            )
            #expect(page.status == 200 && page.text.contains("Tea &lt;House&gt;"), "\(page.text)")
            var expected = before
            expected.anonymousSignIn = true
            expected.linking = .confirm
            expected.sessionIdleDays = 30
            expected.authorizedDomains = ["app.example.com", "localhost"]
            expected.mail.appName = "Tea <House>"
            #expect(settings() == expected)
            for (name, value) in [
                ("identity.sessionIdleDays", "-1"), ("identity.sessionIdleDays", "x"), ("identity.linking", "maybe"),
                ("authorizedDomains", "https://app.example.com"),
            ] {
                let refused = try await person.press("Save", [name: value], on: try await person.open(path))
                #expect(refused.status == 400 && refused.text.contains(#"role="alert""#), "\(name): \(refused.text)")
                #expect(settings() == expected, "\(name)")
            }
        }
    }

    @Test("of two admins who change them at the same time, the second is told, and nothing is written")
    func twoAdmins() async throws {
        try await TestService.runConsole { service in
            let first = try await ConsolePerson.setUp(service)
            let second = try await ConsolePerson.setUp(service, "second@example.com")
            let path = "/console/\(service.project.id)/settings"
            let (mine, yours) = (try await first.open(path), try await second.open(path))
            _ = try await first.press("Save", ["identity.appName": "Mine"], on: mine)
            let told = try await second.press("Save", ["identity.appName": "Yours"], on: yours)
            #expect(told.status == 409 && told.text.contains("the settings changed after"), "\(told.text)")
            #expect(told.text.contains("value=\"Mine\""), "\(told.text)")
            let settings = service.stores.configuration.snapshot.project(service.project.id)?.settings
            #expect(settings?.mail.appName == "Mine")
        }
    }

    @Test("have each a member of the API")
    func known() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            let page = try await person.open("/console/\(service.project.id)/settings")
            let paths = Set(Setting.all.map(\.path))
            let names = page.text.matches(of: #/ name="([a-zA-Z]+(?:\.[a-zA-Z]+)*)"/#).map { String($0.1) }
            let own = ["token", "version", "reason", "viewport", "robots"]
            #expect(names.count > 12 && names.filter { !own.contains($0) && !paths.contains($0) } == [], "\(names)")
        }
    }
}
