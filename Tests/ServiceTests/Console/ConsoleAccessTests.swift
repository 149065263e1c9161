import Foundation
import Projects
import Sessions
import Storage
import TestKit
import Testing

@Suite("Keys at the console", .database)
struct ConsoleAccessTests {
    @Test("API keys are made and revoked, and those of service accounts revoked, each project's alone")
    func keys() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            let path = "/console/\(service.project.id)/access"
            let page = try await person.open(path)
            #expect(page.text.contains(service.apiKey) && page.text.contains("service-accounts create"), "\(page.text)")
            service.clock.advance(by: 1)
            let made = try await person.press("Create API key", ["name": "iOS <b>"], on: page)
            #expect(made.text.contains("Key created.") && made.text.contains("iOS &lt;b&gt;"), "\(made.text)")
            let revoked = try await person.press("Revoke permanently", on: made)
            #expect(revoked.text.contains("Key revoked"), "\(revoked.text)")
            #expect(try await service.signUp("ada@example.com").status == 400, "the first key is the service's own")
            let late = try await person.press("Revoke permanently", on: made)
            #expect(late.status == 409 && late.text.contains("already"), "\(late.text)")

            let name = try #require(ProjectID(rawValue: "other-" + service.project.id.rawValue.suffix(8)))
            let other = try await service.stores.configuration.createProject(name, settings: ProjectSettings())
            let foreign = try await service.stores.configuration.createAPIKey(for: other.id, displayName: nil)
            let fields = [("token", try await person.token()), ("do", "revokeKey"), ("key", foreign.rawValue)]
            #expect(try await person.send("POST", path, fields).status == 409)
            #expect(service.stores.configuration.snapshot.project(apiKey: foreign)?.id == other.id)

            let pair = try ServiceAccountKeyPair.generate()
            try await service.stores.configuration.create(
                ServiceAccountKey(
                    id: pair.id,
                    name: "admin-sdk",
                    project: service.project.id,
                    scopes: [.readAccounts],
                    publicKey: pair.publicKey
                )
            )
            let both = try await person.open(path)
            let form = try #require(both.forms.first { $0.value("key") == pair.id }, "\(both.text)")
            let gone = try await person.browser.submit(form, on: both)
            #expect(gone.text.contains("Key revoked"), "\(gone.text)")
            let listed = try await service.stores.configuration.list(ServiceAccountKey.self)
            #expect(listed.map(\.credential).first { $0.id == pair.id }?.disabled == true)
        }
    }

    @Test("workloads are shown and revoked, each project's alone")
    func workloads() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            let path = "/console/\(service.project.id)/access"
            let empty = try await person.open(path)
            #expect(empty.text.contains("identity workloads create"), "\(empty.text)")
            var workload = Workload(
                credential: AdminCredential(
                    id: "",
                    name: "deploy <b>",
                    project: service.project.id,
                    scopes: [.readAccounts]
                ),
                issuer: "https://ci.example.com",
                audience: "https://id.example.com",
                claims: ["sub": "repo:acme/<shop>"]
            )
            workload = try await service.stores.configuration.create(workload)
            var foreign = workload
            foreign.project = nil
            foreign = try await service.stores.configuration.create(foreign)

            let page = try await person.open(path)
            #expect(page.text.contains("deploy &lt;b&gt;") && page.text.contains("sub=repo:acme/&lt;shop&gt;"))
            #expect(!page.text.contains(foreign.id))
            let form = try #require(page.forms.first { $0.value("key") == workload.id }, "\(page.text)")
            let gone = try await person.browser.submit(form, on: page)
            #expect(gone.text.contains("Key revoked"), "\(gone.text)")
            let fields = [("token", try await person.token()), ("do", "revokeWorkload"), ("key", foreign.id)]
            #expect(try await person.send("POST", path, fields).status == 409)
            let listed = try await service.stores.configuration.list(Workload.self).map(\.credential)
            #expect(listed.first { $0.id == workload.id }?.disabled == true)
            #expect(listed.first { $0.id == foreign.id }?.disabled == false)
        }
    }
}
