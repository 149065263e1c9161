import Foundation
import Postgres
import Projects
import Secrets
import Storage
import TestKit
import Testing

/// `projects/{p}/tenants`.
@Suite("The tenants of a project", .database)
struct TenantConfigurationTests {
    private func run(_ body: @Sendable (TestService) async throws -> Void) async throws {
        var options = TestService.Options()
        options.settings.allowsTenants = true
        try await TestService.run(options, body)
    }

    @Test("a new one has everything off, and a name of its own that Admin SDKs can read")
    func creates() async throws {
        try await run { service in
            let reply = try await service.admin("tenants", ["displayName": "Northwind"], version: "v2")
            reply.expectOK()
            let name = try #require(reply["name"]?.string)
            let parts = name.split(separator: "/").map { String($0) }
            #expect(parts.count == 4 && parts[0] == "projects" && parts[2] == "tenants", "\(name)")
            #expect(parts[1] == "\(service.project.number)")
            #expect(parts[3].wholeMatch(of: /Northwind-[a-z0-9]{5}/) != nil)
            #expect(reply["displayName"] == "Northwind")
            for flag in ["allowPasswordSignup", "enableEmailLinkSignin", "enableAnonymousUser", "disableAuth"] {
                #expect(reply[flag] == nil, "\(flag)")
            }
            #expect(reply["tenantId"]?.string == parts[3])
            for unset in ["mfaConfig", "client", "testPhoneNumbers", "passwordPolicyConfig", "smsRegionConfig"] {
                #expect(reply[unset] == nil, "\(unset)")
            }
            #expect(reply["emailPrivacyConfig"] == ["enableImprovedEmailPrivacy": true])
            let shown = try await service.tenant(parts[3])
            #expect(shown.json == reply.json)
            let other = try await service.makeTenant("Northwind")
            #expect(other != parts[3])
        }
    }

    @Test("what protects accounts begins as it is in the project; the rest of the body counts at once")
    func begins() async throws {
        var options = TestService.Options()
        options.settings.allowsTenants = true
        options.settings.emailEnumerationProtection = false
        options.settings.passwordPolicy.isEnforced = true
        options.settings.passwordPolicy.minimumLength = 12
        options.settings.phone.regions = SMSRegions(isAllowlist: true, listed: ["DE"])
        try await TestService.run(options) { service in
            let plain = try await service.tenant(service.makeTenant("plain"))
            #expect(plain["emailPrivacyConfig"] == ["enableImprovedEmailPrivacy": false])
            #expect(plain["passwordPolicyConfig"] == nil && plain["smsRegionConfig"] == nil, "nobody set them here")
            let members: JSON = [
                "allow_password_signup": true, "enableEmailLinkSignin": true, "enableAnonymousUser": true,
                "emailPrivacyConfig": ["enableImprovedEmailPrivacy": true],
                "testPhoneNumbers": ["+4915550100": "123456"],
                "client": ["permissions": ["disabledUserSignup": true]],
                "mfaConfig": ["state": "ENABLED", "enabledProviders": ["PHONE_SMS"]], "monitoring": [:],
            ]
            let full = try await service.tenant(service.makeTenant("full", members))
            for flag in ["allowPasswordSignup", "enableEmailLinkSignin", "enableAnonymousUser"] {
                #expect(full[flag] == true, "\(flag)")
            }
            #expect(full["emailPrivacyConfig"] == ["enableImprovedEmailPrivacy": true])
            #expect(full["testPhoneNumbers"] == ["+4915550100": "123456"])
            #expect(full["client"] == ["permissions": ["disabledUserSignup": true]])
            #expect(full["mfaConfig"]?["state"] == "ENABLED")
        }
    }

    @Test("T-E11: a project has at most a thousand tenants")
    func limit() async throws {
        try await run { service in
            let made = try await service.makeTenant("Northwind")
            // As many as the first one, which are not read before the next change of the configuration.
            try await TestDatabase.current.client.execute(
                """
                INSERT INTO tenants (project, tenant, display_name, disabled, settings, created_at)
                SELECT t.project, 't-' || n, t.display_name, t.disabled, t.settings, t.created_at
                FROM tenants t, generate_series(1, 999) n WHERE t.project = \(service.project.id.rawValue)
                """
            )
            let refused = try await service.admin("tenants", ["displayName": "Southwind"], version: "v2")
            #expect(refused.error == "INVALID_CONFIG : A project can have at most 1000 tenants.", "\(refused)")
            _ = try await service.admin("tenants/\(made)", nil, method: "DELETE", version: "v2")
            _ = try await service.makeTenant("Southwind")
        }
    }

    @Test("only a project that allows tenants gets one")
    func isAllowed() async throws {
        try await TestService.run { service in
            let refused = try await service.admin("tenants", ["displayName": "Northwind"], version: "v2")
            refused.expectRefused("INVALID_PROJECT_ID")
            #expect(try await service.admin("tenants", version: "v2").json == ["tenants": []])
            let allowed = try await service.admin(
                "config?updateMask=multiTenant.allowTenants",
                ["multiTenant": ["allowTenants": true]],
                method: "PATCH",
                version: "v2"
            )
            #expect(allowed["multiTenant"] == ["allowTenants": true], "\(allowed)")
            _ = try await service.makeTenant("Northwind")
        }
    }

    @Test(
        "refuses names and members that make no sense, and makes nothing",
        arguments: [
            ["displayName": "abc"], ["displayName": "1abc"], ["displayName": "abcdefghijklmnopqrstu"],
            ["displayName": "a bcd"], ["displayName": "abc_d"], ["displayName": ""], ["displayName": "Äbcd"],
            ["displayName": "abcd", "allowPasswordSignup": "yes"],
            ["displayName": "abcd", "testPhoneNumbers": ["+4915550100": "12345"]],
            ["displayName": "abcd", "mfaConfig": ["state": "MANDATORY"]], ["displayName": 1234],
        ] as [JSON]
    )
    func refuses(_ body: JSON) async throws {
        try await run { service in
            let reply = try await service.admin("tenants", body, version: "v2")
            #expect(reply.status == 400, "\(reply)")
            #expect(try await service.admin("tenants", version: "v2").json == ["tenants": []])
        }
    }

    @Test("changes what the mask names, in either spelling; without one, what the body has")
    func changes() async throws {
        try await run { service in
            let id = try await service.makeTenant("Northwind", ["allowPasswordSignup": true])
            let body: JSON = [
                "displayName": "Southwind", "enableEmailLinkSignin": true, "disableAuth": true,
                "client": ["permissions": ["disabledUserDeletion": true]],
            ]
            let mask = "display_name,client.permissions,enable_email_link_signin"
            let masked = try await service.updateTenant(id, mask: mask, body)
            masked.expectOK()
            #expect(masked["displayName"] == "Southwind" && masked["enableEmailLinkSignin"] == true)
            #expect(masked["allowPasswordSignup"] == true && masked["disableAuth"] == nil)
            #expect(masked["client"] == ["permissions": ["disabledUserDeletion": true]])
            let named = try await service.updateTenant(id, mask: "allowPasswordSignup", [:])
            #expect(named["allowPasswordSignup"] == nil && named["enableEmailLinkSignin"] == true)
            let replaced = try await service.updateTenant(id, ["displayName": "Westwind", "enableAnonymousUser": true])
            #expect(replaced["displayName"] == "Westwind" && replaced["enableAnonymousUser"] == true)
            #expect(replaced["enableEmailLinkSignin"] == true)
            #expect(replaced["client"] == ["permissions": ["disabledUserDeletion": true]])
            let unknown = try await service.updateTenant(id, ["displayName": "Other", "enableAnonymousUsers": true])
            #expect(unknown.status == 400 && "\(unknown)".contains("Unknown name"), "\(unknown)")
            let bad = try await service.updateTenant(id, mask: "displayName,enableAnonymousUser", ["displayName": "x"])
            #expect(bad.status == 400)
            #expect(try await service.tenant(id).json == replaced.json)
            #expect(try await service.updateTenant("nobody-12345", ["displayName": "abcd"]).error == "TENANT_NOT_FOUND")
            #expect(try await service.tenant("nobody-12345").status == 404)
        }
    }

    @Test("what a tenant has from its project protects it, and is not shown as if somebody had set it")
    func inherited() async throws {
        try await run { service in
            let mask = "smsRegionConfig.allowlistOnly.allowedRegions,passwordPolicyConfig"
            let changed = try await service.admin(
                "config?updateMask=\(mask)",
                [
                    "smsRegionConfig": ["allowlistOnly": ["allowedRegions": ["JP"]]],
                    "passwordPolicyConfig": [
                        "passwordPolicyEnforcementState": "ENFORCE",
                        "passwordPolicyVersions": [["customStrengthOptions": ["minPasswordLength": 12]]],
                    ],
                ],
                method: "PATCH",
                version: "v2"
            )
            changed.expectOK()
            let made = try await service.admin(
                "tenants",
                ["displayName": "Northwind", "allowPasswordSignup": true],
                version: "v2"
            )
            #expect(made["smsRegionConfig"] == nil && made["passwordPolicyConfig"] == nil, "\(made)")
            let id = made["tenantId"]?.string ?? ""
            let weak = try await service.call(
                "accounts:signUp",
                ["tenantId": .string(id), "email": "ada@example.com", "password": "short one"]
            )
            #expect(weak.code == "PASSWORD_DOES_NOT_MEET_REQUIREMENTS", "\(weak)")
            let regions: JSON = ["smsRegionConfig": ["allowByDefault": ["disallowedRegions": ["DE"]]]]
            let own = try await service.updateTenant(
                id,
                mask: "smsRegionConfig.allowByDefault.disallowedRegions",
                regions
            )
            #expect(
                own["smsRegionConfig"] == regions["smsRegionConfig"] && own["passwordPolicyConfig"] == nil,
                "\(own)"
            )
        }
    }

    @Test("lists all of them, page by page")
    func lists() async throws {
        try await run { service in
            var made: [String] = []
            for name in ["dddd", "aaaa", "cccc", "bbbb", "eeee"] { made.append(try await service.makeTenant(name)) }
            var seen: [String] = []
            var token = ""
            repeat {
                let page = try await service.admin("tenants?pageSize=2&pageToken=\(token)", version: "v2")
                let ids = (page["tenants"]?.array ?? []).compactMap { $0["name"]?.string?.split(separator: "/").last }
                #expect((1...2).contains(ids.count), "\(page)")
                seen += ids.map { String($0) }
                token = page["nextPageToken"]?.string ?? ""
            } while !token.isEmpty
            #expect(seen == made.sorted())
            #expect(try await service.admin("tenants?pageSize=1000", version: "v2")["tenants"]?.array?.count == 5)
            #expect(try await service.admin("tenants?pageSize=x", version: "v2").status == 400)
        }
    }

    @Test("two changes at once do not undo each other", .twoNodes)
    func concurrentChanges() async throws {
        try await run { service in
            let id = try await service.makeTenant("Northwind")
            let flags = ["allowPasswordSignup", "enableEmailLinkSignin", "enableAnonymousUser"]
            let replies = try await inParallel(3) { index in
                try await service.updateTenant(id, mask: flags[index], [flags[index]: true])
            }
            #expect(replies.allSatisfy { $0.status == 200 }, "\(replies)")
            let tenant = try await service.tenant(id)
            for flag in flags { #expect(tenant[flag] == true, "\(flag)") }
        }
    }

    @Test("only an admin of the configuration comes here")
    func needsScope() async throws {
        try await run { service in
            let id = try await service.makeTenant("Northwind")
            let (_, token) = try await service.stores.configuration.createAdminCredential(
                name: "accounts",
                project: service.project.id,
                scopes: [.manageAccounts, .readAccounts],
                expiresAt: nil
            )
            for (method, path) in [("GET", "tenants"), ("POST", "tenants"), ("DELETE", "tenants/\(id)")] {
                let reply = try await service.send(
                    method,
                    "/v2/projects/\(service.project.id)/\(path)",
                    headers: [("Authorization", "Bearer \(token.reveal())")]
                )
                #expect(reply.status == 403, "\(method) \(path)")
            }
            try await service.tenant(id).expectOK()
        }
    }

    @Test("what a tenant does not have by itself is not there")
    func hasNoConfig() async throws {
        try await run { service in
            let id = try await service.makeTenant("Northwind")
            for path in ["config", "apps"] {
                let reply = try await service.admin("tenants/\(id)/\(path)", version: "v2")
                #expect(reply.status == 404 && reply.error != "TENANT_NOT_FOUND", "\(reply)")
            }
            for verb in ["getIamPolicy", "setIamPolicy", "testIamPermissions"] {
                #expect(try await service.admin("tenants/\(id):\(verb)", [:], version: "v2").status == 501, "\(verb)")
            }
        }
    }

    @Test(
        "a deletion takes all that is of the tenant but what the audit log says, and leaves nothing that could get its id"
    )
    func deletes() async throws {
        try await run { service in
            let id = try await service.makeTenant("Northwind", ["allowPasswordSignup": true])
            let other = try await service.makeTenant("Southwind", ["allowPasswordSignup": true])
            var users: [Reply] = []
            for tenant in [id, other] {
                users.append(
                    try await service.call(
                        "accounts:signUp",
                        ["email": "ada@example.com", "password": "correct horse", "tenantId": .string(tenant)]
                    )
                )
                let sent = try await service.admin(
                    "tenants/\(tenant)/accounts:sendOobCode",
                    ["requestType": "PASSWORD_RESET", "email": "ada@example.com"]
                )
                sent.expectOK()
                let provider = try await service.admin(
                    "tenants/\(tenant)/defaultSupportedIdpConfigs?idpId=google.com",
                    ["enabled": true, "clientId": "app", "clientSecret": "s"],
                    version: "v2"
                )
                provider.expectOK()
            }
            #expect(try await service.deleteTenant(id).json == [:])
            #expect(try await service.deleteTenant(id).error == "TENANT_NOT_FOUND")
            #expect(try await service.tenant(id).status == 404)
            #expect(try await service.admin("tenants", version: "v2")["tenants"]?.array?.count == 1)
            try await service.refresh(users[0].refreshToken).expectRefused("USER_NOT_FOUND")
            #expect(try await service.lookUp(users[0].idToken).code == "TENANT_ID_MISMATCH")
            let signIn = try await service.call(
                "accounts:signInWithPassword",
                ["email": "ada@example.com", "password": "correct horse", "tenantId": .string(id)]
            )
            signIn.expectRefused("INVALID_TENANT_ID")
            try await service.refresh(users[1].refreshToken).expectOK()
            let left = try await Self.rows(of: id)
            #expect(left == ["tenants": 1], "\(left)")
            #expect(try await Self.rows(of: other).count > 5)
            await #expect(throws: ConfigurationError.alreadyExists) {
                try await service.stores.configuration.createTenant(
                    TenantConfiguration(id: TenantID(rawValue: id), settings: TenantSettings()),
                    in: service.project.id
                )
            }
        }
    }

    /// How many rows each table has of a tenant, where there are any; and of activity of no account.
    private static func rows(of tenant: String) async throws -> [String: Int64] {
        let client = TestDatabase.current.client
        let tables: [String] = try await client.query(
            """
            SELECT table_name::text FROM information_schema.columns
            WHERE table_schema = current_schema() AND column_name = 'tenant' AND table_name NOT LIKE 'audit%'
            """
        ) { try $0.next() }
        var counts: [String: Int64] = [:]
        for table in tables {
            let count = try await client.query(
                "SELECT count(*) FROM \(identifier: table) WHERE tenant = \(tenant)"
            ) { try $0.next(Int64.self) }.first
            if let count, count > 0 { counts[table] = count }
        }
        return counts
    }

    @Test("a tenant of a newer release that cannot be read keeps no other from being seen")
    func unreadable() async throws {
        try await run { service in
            let id = try await service.makeTenant("Northwind")
            let broken = try await service.makeTenant("Southwind")
            try await TestDatabase.current.client.execute(
                "UPDATE tenants SET settings = '{\"passwordSignIn\": \"often\"}' WHERE tenant = \(broken)"
            )
            try await service.stores.configuration.load()
            try await service.tenant(id).expectOK()
            #expect(try await service.tenant(broken).status == 404)
        }
    }

    @Test("another node sees a tenant come and go")
    func otherNodes() async throws {
        var options = TestService.Options()
        options.settings.allowsTenants = true
        try await TestService.runPair(options) { first, second in
            let id = try await first.makeTenant("Northwind")
            try await second.stores.configuration.refresh()
            try await second.tenant(id).expectOK()
            try await first.deleteTenant(id).expectOK()
            try await second.stores.configuration.refresh()
            #expect(try await second.tenant(id).status == 404)
        }
    }
}
