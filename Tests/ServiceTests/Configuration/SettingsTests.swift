import Projects
import TestKit
import Testing

@Suite("Settings of a project", .database)
struct SettingsTests {
    @Test("shows the defaults, without the flags that are off")
    func showsDefaults() async throws {
        try await TestService.run { service in
            let reply = try await service.admin("config", version: "v2")
            #expect(reply.status == 200)
            #expect(reply["name"]?.string == "projects/\(service.project.number)/config")
            #expect(reply["signIn"]?["email"] == ["enabled": true, "passwordRequired": true])
            #expect(reply["signIn"]?["allowDuplicateEmails"] == nil)
            #expect(reply["client"] == ["permissions": [:]])
            #expect(reply["emailPrivacyConfig"] == ["enableImprovedEmailPrivacy": true])
            #expect(reply["identity"]?["recentSignInSeconds"]?.string == "300")
        }
    }

    @Test("changes what the mask names, in either spelling, and nothing else")
    func changesMasked() async throws {
        try await TestService.run { service in
            let body: JSON = [
                "signIn": ["allowDuplicateEmails": true, "email": ["enabled": false]],
                "identity": ["recentSignInSeconds": 60, "emailTrust": "strict"], "authorizedDomains": ["App.example"],
            ]
            let mask = "sign_in.allow_duplicate_emails,identity.recentSignInSeconds,authorizedDomains,unknown.path"
            let reply = try await service.admin("config?updateMask=\(mask)", body, method: "PATCH", version: "v2")
            #expect(reply.status == 200)
            #expect(reply["signIn"]?["allowDuplicateEmails"]?.bool == true)
            #expect(reply["signIn"]?["email"]?["enabled"]?.bool == true)
            #expect(reply["identity"]?["recentSignInSeconds"]?.string == "60")
            #expect(reply["identity"]?["emailTrust"]?.string == "default")
            #expect(reply["authorizedDomains"] == ["app.example"])
            let again = try await service.admin("config", version: "v2")
            #expect(again.json == reply.json)
        }
    }

    @Test("replaces everything without a mask")
    func replacesAll() async throws {
        try await TestService.run { service in
            let body: JSON = ["client": ["permissions": ["disabledUserSignup": true]]]
            let reply = try await service.admin("config", body, method: "PATCH", version: "v2")
            #expect(reply["client"]?["permissions"]?["disabledUserSignup"]?.bool == true)
            #expect(reply["signIn"]?["anonymous"] == [:], "the test's project had it on")
            let signUp = try await service.signUp("ada@example.com")
            #expect(signUp.error == "ADMIN_ONLY_OPERATION")
        }
    }

    @Test(
        "refuses values that make no sense, and changes nothing",
        arguments: [
            ["identity": ["recentSignInSeconds": -1]], ["identity": ["emailTrust": "lenient"]],
            ["identity": ["linking": "sometimes"]], ["signIn": ["hashConfig": ["rounds": 3]]],
            ["signIn": ["hashConfig": ["rounds": 9]]], ["signIn": ["hashConfig": ["memoryCost": 11]]],
            ["signIn": ["hashConfig": ["memoryCost": 15]]], ["signIn": ["hashConfig": ["memoryCost": "a lot"]]],
            ["authorizedDomains": ["https://app.example"]], ["authorizedDomains": [""]], ["signIn": ["email": true]],
            ["signIn": ["allowDuplicateEmails": "yes"]], ["notification": ["defaultLocale": "de\r\nX: y"]],
            ["identity": ["appName": "a\nb"]],
            ["notification": ["sendEmail": ["verifyEmailTemplate": ["body": "Hello"]]]],
            ["notification": ["sendEmail": ["verifyEmailTemplate": ["subject": "Hello\r\nBcc: x@example.com"]]]],
            ["notification": ["sendEmail": ["signInTemplate": ["bodyFormat": "MARKDOWN"]]]],
            ["notification": ["sendEmail": ["signInTemplate": ["senderDisplayName": "a\u{0}"]]]],
            ["notification": ["sendEmail": ["signInTemplate": ["senderLocalPart": "a@b"]]]],
            ["notification": ["sendEmail": ["signInTemplate": ["replyTo": "a@b.example, c@d.example"]]]],
        ] as [JSON]
    )
    func refuses(_ body: JSON) async throws {
        try await TestService.run { service in
            let before = try await service.admin("config", version: "v2")
            let reply = try await service.admin("config", body, method: "PATCH", version: "v2")
            #expect(reply.status == 400, "\(reply)")
            let after = try await service.admin("config", version: "v2")
            #expect(after.json == before.json)
        }
    }
}
