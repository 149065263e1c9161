import Development
import Domain
import Foundation
import Projects
import Secrets
import Storage
import Testing
import TestKit

@Suite("Identity providers at the console", .database)
struct ConsoleProviderTests {
    @Test("are added disabled, changed, switched on and deleted; a secret goes in and never comes out")
    func wholeLife() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            let root = "/console/\(service.project.id)/providers"
            let empty = try await person.open(root)
            #expect(empty.text.contains("No identity providers yet"), "\(empty.text)")
            #expect(empty.text.contains(service.baseURL + "/__/auth/handler"), "\(empty.text)")
            var page = try await person.press(
                "Add (disabled)",
                ["provider": "github.com", "clientId": "client-1", "clientSecret": "very secret"],
                on: empty
            )
            #expect(page.heading == "GitHub" && page.text.contains("Saved."), "\(page.text)")
            func stored() -> ProviderConfiguration? {
                service.stores.configuration.snapshot.provider("github.com", in: service.project.scope)
            }
            #expect(stored()?.enabled == false && stored()?.clientSecret?.reveal() == "very secret")
            #expect(!page.text.contains("very secret") && page.text.contains("Leave empty to keep"), "\(page.text)")
            page = try await person.press("Save", ["enabled": "true", "clientId": "client-2"], on: page)
            #expect(stored()?.enabled == true && stored()?.clientID == "client-2")
            #expect(stored()?.clientSecret?.reveal() == "very secret", "one that is not typed stays")
            let wrong = try await person.press("Delete provider", ["confirm": "google.com"], on: page)
            #expect(wrong.status == 400 && stored() != nil, "\(wrong.text)")
            let gone = try await person.press("Delete provider", ["confirm": "github.com"], on: wrong)
            #expect(gone.text.contains("Provider deleted.") && stored() == nil, "\(gone.text)")
        }
    }

    @Test("Apple's ids and key have fields of their own; the key stays unless another one is typed")
    func apple() async throws {
        let key = AppleClientKey()
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            let root = "/console/\(service.project.id)/providers"
            var page = try await person.press(
                "Add (disabled)",
                ["provider": "apple.com", "clientId": "com.example.service"],
                on: try await person.open(root)
            )
            #expect(page.heading == "Apple" && !page.text.contains(#"name="clientSecret""#), "\(page.text)")
            func shown() async throws -> JSON {
                let path = "defaultSupportedIdpConfigs/apple.com"
                return try await service.admin(path, nil, method: "GET", version: "v2").json
            }
            let typed = [
                "enabled": "true", "bundleIds": "com.example.app\r\ncom.example.other", "teamId": "TEAM",
                "keyId": "KEY",
                "privateKey": key.pem,
            ]
            let wrong = try await person.press("Save", typed.merging(["privateKey": "nonsense"]) { $1 }, on: page)
            #expect(wrong.status == 400 && wrong.text.contains("must be a private key"), "\(wrong.text)")
            #expect(!wrong.text.contains("nonsense"), "\(wrong.text)")
            page = try await person.press("Save", typed, on: wrong)
            #expect(page.text.contains("Saved.") && page.text.contains("Leave empty to keep"), "\(page.text)")
            #expect(!page.text.contains("PRIVATE KEY") && page.text.contains("com.example.other"), "\(page.text)")
            let all: JSON = [
                "bundleIds": ["com.example.app", "com.example.other"],
                "codeFlowConfig": ["teamId": "TEAM", "keyId": "KEY"],
            ]
            #expect(try await shown()["appleSignInConfig"] == all)
            page = try await person.press("Save", ["keyId": "NEXT", "bundleIds": " "], on: page)
            #expect(page.text.contains("Saved."), "\(page.text)")
            let fewer = try await shown()["appleSignInConfig"]
            #expect(fewer == ["codeFlowConfig": ["teamId": "TEAM", "keyId": "NEXT"]], "\(String(describing: fewer))")
            let stored = service.stores.configuration.snapshot.provider("apple.com", in: service.project.scope)
            #expect(stored?.clientSecret?.reveal() == key.pem && stored?.enabled == true)
            // What a form does not say stays.
            _ = try await person.press("Save", ["keyId": "", "bundleIds": "", "privateKey": ""], on: page)
            #expect(try await shown()["appleSignInConfig"] == fewer)
        }
    }

    @Test("what a provider does otherwise is said as JSON, by the words of the API")
    func definition() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            try await service.configure(
                ProviderConfiguration(provider: "github.com", enabled: true, clientID: "c", clientSecret: Secret("s"))
            )
            func stored() -> ProviderConfiguration? {
                service.stores.configuration.snapshot.provider("github.com", in: service.project.scope)
            }
            var page = try await person.open("/console/\(service.project.id)/providers/github.com")
            let text = #"{"audiences": ["other"], "emailTrust": "never"}"#
            page = try await person.press("Save", ["definition": text], on: page)
            #expect(stored()?.overrides == #"{"emailTrust":"never"}"# && stored()?.audiences == ["other"])
            #expect(page.text.contains("&quot;emailTrust&quot;:&quot;never&quot;"), "\(page.text)")
            for (text, words) in [
                ("{", "must be a JSON object"), ("[]", "must be a JSON object"),
                (#"{"emailTrust": "</textarea>"}"#, "emailTrust"),
                (#"{"nothing": 1}"#, "nothing"), (#"{"a": 1, "a": 2}"#, "must be a JSON object"),
            ] {
                let refused = try await person.press("Save", ["definition": text], on: page)
                let alert = refused.text.firstMatch(of: #/role="alert"[^$]*?<\/div>/#).map { String($0.0) } ?? ""
                #expect(refused.status == 400 && alert.contains(words), "\(text): \(refused.text)")
                #expect(stored()?.overrides == #"{"emailTrust":"never"}"#, "\(text)")
            }
            _ = try await person.press("Save", ["definition": " "], on: page)
            #expect(stored()?.overrides == nil && stored()?.audiences == [] && stored()?.clientID == "c")
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
                    "Add (disabled)",
                    ["provider": id, "clientId": "c", "issuer": issuer],
                    on: try await person.open(root)
                )
                #expect(page.status == 400 && page.text.contains(#"role="alert""#), "\(id): \(page.text)")
                #expect(!page.text.contains("<script>"), "\(id)")
            }
            #expect(service.stores.configuration.snapshot.providers(in: service.project.scope).isEmpty)
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
            #expect(told.status == 409 && told.text.contains("the provider changed after"), "\(told.text)")
            let stored = service.stores.configuration.snapshot.provider("github.com", in: service.project.scope)
            #expect(stored?.clientID == "c" && stored?.clientSecret?.reveal() == "another")
        }
    }
}
