import Development
import Foundation
import Linking
import Projects
import Secrets
import Storage
import TestKit
import Testing

@Suite("Identity providers at the console", .database)
struct ConsoleProviderTests {
    @Test("are added disabled, changed, switched on and deleted; a secret goes in and never comes out")
    func wholeLife() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            let root = "/console/\(service.project.id)/providers"
            let empty = try await person.open(root)
            #expect(empty.text.contains("There is no identity provider yet"), "\(empty.text)")
            #expect(empty.text.contains(service.baseURL + "/__/auth/handler"), "\(empty.text)")
            var page = try await person.press(
                "Add it, disabled",
                ["provider": "github.com", "clientId": "client-1", "clientSecret": "very secret"],
                on: empty
            )
            #expect(page.heading == "GitHub" && page.text.contains("Saved."), "\(page.text)")
            func stored() -> ProviderConfiguration? {
                service.stores.configuration.snapshot.provider("github.com", project: service.project.id)
            }
            #expect(stored()?.enabled == false && stored()?.clientSecret?.reveal() == "very secret")
            #expect(!page.text.contains("very secret") && page.text.contains("One is kept."), "\(page.text)")
            page = try await person.press("Save", ["enabled": "true", "clientId": "client-2"], on: page)
            #expect(stored()?.enabled == true && stored()?.clientID == "client-2")
            #expect(stored()?.clientSecret?.reveal() == "very secret", "one that is not typed stays")
            let wrong = try await person.press("Delete the provider", ["confirm": "google.com"], on: page)
            #expect(wrong.status == 400 && stored() != nil, "\(wrong.text)")
            let gone = try await person.press("Delete the provider", ["confirm": "github.com"], on: wrong)
            #expect(gone.text.contains("The provider is deleted.") && stored() == nil, "\(gone.text)")
        }
    }

    @Test("what cannot be is refused with the reason")
    func invalid() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            let root = "/console/\(service.project.id)/providers"
            for (id, issuer) in [
                ("unknown.example", ""), ("oidc.acme", ""), ("oidc.acme", "http://insecure.example"), ("saml.acme", ""),
                ("<script>", ""), ("password", ""),
            ] {
                let page = try await person.press(
                    "Add it, disabled",
                    ["provider": id, "clientId": "c", "issuer": issuer],
                    on: try await person.open(root)
                )
                #expect(page.status == 400 && page.text.contains(#"role="alert""#), "\(id): \(page.text)")
                #expect(!page.text.contains("<script>"), "\(id)")
            }
            #expect(service.stores.configuration.snapshot.providers(project: service.project.id).isEmpty)
        }
    }

    @Test("of two admins who change one at the same time, the second is told, and nothing is written")
    func twoAdmins() async throws {
        try await TestService.runConsole { service in
            try await service.configure(
                ProviderConfiguration(
                    provider: "github.com",
                    enabled: true,
                    clientID: "c",
                    clientSecret: Secret("first")
                )
            )
            let first = try await ConsolePerson.setUp(service)
            let second = try await ConsolePerson.setUp(service, "second@example.com")
            let path = "/console/\(service.project.id)/providers/github.com"
            let (mine, yours) = (try await first.open(path), try await second.open(path))
            // Nothing but the secret: nobody sees that on the page.
            _ = try await first.press("Save", ["clientSecret": "another"], on: mine)
            let told = try await second.press("Save", ["clientId": "d"], on: yours)
            #expect(told.status == 409 && told.text.contains("somebody changed the provider"), "\(told.text)")
            let stored = service.stores.configuration.snapshot.provider("github.com", project: service.project.id)
            #expect(stored?.clientID == "c" && stored?.clientSecret?.reveal() == "another")
        }
    }
}
