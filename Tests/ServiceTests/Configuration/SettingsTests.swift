import Projects
import TestKit
import Testing

@Suite("Settings of a project", .database)
struct SettingsTests {
    @Test(
        "what Terraform sends is what it reads, and nothing besides: its plan is empty after its apply",
        arguments: [
            ("quota", ["quota": ["signUpQuotaConfig": ["quota": 1000]]], ["signUpQuotaConfig": ["quota": "1000"]]),
            ("multiTenant", ["multiTenant": [:]], ["allowTenants": false]), ("multiTenant", [:], nil),
            (
                "client", ["client": [:]],
                ["permissions": ["disabledUserSignup": false, "disabledUserDeletion": false]]
            ), ("mfa", ["mfa": ["state": "DISABLED"]], ["state": "DISABLED"]),
            (
                "mfa", ["mfa": ["state": "ENABLED", "enabledProviders": ["PHONE_SMS"]]],
                ["state": "ENABLED", "enabledProviders": ["PHONE_SMS"]]
            ),
        ] as [(String, JSON, JSON?)]
    )
    func terraform(_ mask: String, _ body: JSON, _ shown: JSON?) async throws {
        try await TestService.run { service in
            let path = "config?updateMask=\(mask)"
            let changed = try await service.admin(path, body, method: "PATCH", version: "v2")
            changed.expectOK()
            for reply in [changed, try await service.admin("config", version: "v2")] {
                var members = reply[mask]?.object ?? [:]
                // What the provider does not know, or takes as it comes.
                for name in ["apiKey", "firebaseSubdomain"] { members[name] = nil }
                #expect((reply[mask] == nil ? nil : .object(members)) == shown, "\(reply)")
            }
        }
    }

    @Test("shows the defaults, without the flags that are off")
    func showsDefaults() async throws {
        try await TestService.run { service in
            let reply = try await service.admin("config", version: "v2")
            reply.expectOK()
            #expect(reply["name"]?.string == "projects/\(service.project.number)/config")
            #expect(reply["signIn"]?["email"] == ["enabled": true, "passwordRequired": true])
            #expect(reply["signIn"]?["allowDuplicateEmails"] == nil)
            for unset in [
                "client", "mfa", "passwordPolicyConfig", "smsRegionConfig", "blockingFunctions", "notification",
            ] {
                #expect(reply[unset] == nil, "\(unset)")
            }
            #expect(reply["emailPrivacyConfig"] == ["enableImprovedEmailPrivacy": true])
            #expect(reply["identity"]?["recentSignInSeconds"]?.string == "300")
        }
    }

    @Test(
        "a mask that names no member is refused, and nothing is changed",
        arguments: [
            ("config", "authorizedDomain"), ("config", "identity.webhook.url"), ("config", "signIn.email.enabledd"),
            ("config", "authorizedDomains,unknown"), ("config", "smsRegionConfig.allowlistOnly.regions"),
            ("config", "mobileLinksConfig.domains"), ("config", "*"), ("config", "authorizedDomains,*"),
            ("config", "authorizedDomains.0"),
            ("config", "identity.oauth.scopes.orders"), ("tenants/{tenant}", "displayname"),
            ("tenants/{tenant}", "authorizedDomains"),
            ("tenants/{tenant}", "displayName,mfaConfig.providerConfigs.state"),
            ("passkeyConfig", "rpid"), ("passkeyConfig", "passkeyConfig.rpId"),
            ("tenants/{tenant}/passkeyConfig", "signIn"), ("oauthClients/{client}", "client_name"),
        ]
    )
    func unknownMask(_ resource: String, _ mask: String) async throws {
        try await TestService.run { service in
            let tenants: JSON = ["multiTenant": ["allowTenants": true], "identity": ["oauth": ["enabled": true]]]
            let masked = "config?updateMask=multiTenant.allowTenants"
            try await service.admin(masked, tenants, method: "PATCH", version: "v2").expectOK()
            let tenant = try await service.makeTenant("Northwind")
            let client = try await service.admin(
                "oauthClients",
                ["redirect_uris": ["https://app.example/cb"], "client_name": "App"],
                version: "v2"
            )
            let path = resource.replacing("{tenant}", with: tenant)
                .replacing("{client}", with: client["client_id"]?.string ?? "")
            let before = try await service.admin(path, version: "v2")
            before.expectOK()
            let body: JSON =
                switch resource {
                case "config": ["authorizedDomains": ["a.example"], "signIn": ["email": ["enabled": false]]]
                case "tenants/{tenant}": ["displayName": "Southwind"]
                case "oauthClients/{client}": ["client_name": "Other"]
                default: ["rpId": "b.example"]
                }
            for parameter in ["updateMask", "update_mask"] {
                let reply = try await service.admin(
                    "\(path)?\(parameter)=\(mask)",
                    body,
                    method: "PATCH",
                    version: "v2"
                )
                #expect(reply.status == 400 && "\(reply)".contains("The updateMask "), "\(reply)")
            }
            #expect(try await service.admin(path, version: "v2").json == before.json)
        }
    }

    @Test("changes what the mask names, in either spelling, and nothing else")
    func changesMasked() async throws {
        try await TestService.run { service in
            let body: JSON = [
                "signIn": ["allowDuplicateEmails": true, "email": ["enabled": false]],
                "identity": ["recentSignInSeconds": 60, "emailTrust": "strict"], "authorizedDomains": ["App.example"],
            ]
            let mask = "sign_in.allow_duplicate_emails,identity.recentSignInSeconds,authorizedDomains"
            let reply = try await service.admin("config?updateMask=\(mask)", body, method: "PATCH", version: "v2")
            reply.expectOK()
            #expect(reply["signIn"]?["allowDuplicateEmails"]?.bool == true)
            #expect(reply["signIn"]?["email"]?["enabled"]?.bool == true)
            #expect(reply["identity"]?["recentSignInSeconds"]?.string == "60")
            #expect(reply["identity"]?["emailTrust"]?.string == "default")
            #expect(reply["authorizedDomains"] == ["app.example"])
            let again = try await service.admin("config", version: "v2")
            #expect(again.json == reply.json)
        }
    }

    @Test("without a mask, changes what the body has, also what is off or empty there, and nothing else")
    func changesWhatTheBodyHas() async throws {
        try await TestService.run { service in
            let before = try await service.admin("config", version: "v2")
            #expect(before["signIn"]?["anonymous"] == ["enabled": true], "the test's project has it on")
            let nothing: [JSON?] = [nil, [:], ["signIn": [:], "client": ["permissions": .null], "mfa": .null]]
            for body in nothing {
                let reply = try await service.admin("config", body, method: "PATCH", version: "v2")
                #expect(reply.json == before.json)
            }
            let body: JSON = [
                "client": ["permissions": ["disabledUserSignup": true]], "signIn": ["anonymous": ["enabled": false]],
                "authorizedDomains": [],
            ]
            let reply = try await service.admin("config", body, method: "PATCH", version: "v2")
            #expect(reply["client"]?["permissions"] == ["disabledUserSignup": true])
            #expect(reply["signIn"]?["anonymous"] == ["enabled": false])
            #expect(reply["signIn"]?["email"] == before["signIn"]?["email"])
            #expect(reply["authorizedDomains"] == nil || reply["authorizedDomains"] == [])
            #expect(reply["identity"] == before["identity"])
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
            ["authorizedDomains": ["https://app.example"]], ["authorizedDomains": ["*.app.example"]],
            ["authorizedDomains": .array((0...1_000).map { .string("a\($0).example") })], ["authorizedDomains": [""]],
            ["signIn": ["email": true]],
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
