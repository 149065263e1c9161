import Development
import Domain
import Postgres
import Projects
import Secrets
import Storage
import Testing
import TestKit

@Suite("Identity providers of a project", .database)
struct ProviderConfigurationTests {
    private let oidc: JSON = [
        "enabled": true, "displayName": "Acme", "clientId": "app", "clientSecret": "s3cret",
        "issuer": "https://login.acme.example", "responseType": ["code": true],
    ]

    @Test("R-21: keeps a custom provider with its client id and secret, without showing the secret again")
    func createsAndReads() async throws {
        try await TestService.run { service in
            let made = try await service.admin("oauthIdpConfigs?oauthIdpConfigId=oidc.acme", oidc, version: "v2")
            made.expectOK()
            #expect(made["name"]?.string == "projects/\(service.project.number)/oauthIdpConfigs/oidc.acme")
            #expect(made["responseType"] == ["code": true])
            #expect(!made.response.text.contains("s3cret"))
            let read = try await service.admin("oauthIdpConfigs/oidc.acme", version: "v2")
            #expect(read.json == made.json)
            let stored = service.stores.configuration.snapshot.provider("oidc.acme", in: service.project.scope)
            #expect(stored?.clientSecret?.reveal() == "s3cret")
            let again = try await service.admin("oauthIdpConfigs?oauthIdpConfigId=oidc.acme", oidc, version: "v2")
            #expect(again.status == 409)
            #expect(
                again.error
                    == "CONFIGURATION_EXISTS : The OAuthIdpConfig already exists with config_id: oidc.acme"
            )
        }
    }

    @Test("T-E11: a provider's configuration has at most 64 KiB")
    func size() async throws {
        try await TestService.run { service in
            let many = JSON.string(String(repeating: "a", count: 65_536))
            _ = try await service.admin("oauthIdpConfigs?oauthIdpConfigId=oidc.acme", oidc, version: "v2")
            for member in ["displayName", "clientId", "clientSecret", "webhookSecret"] {
                let path = "oauthIdpConfigs/oidc.acme?updateMask=\(member)"
                let body: JSON = .object([member: many])
                let refused = try await service.admin(path, body, method: "PATCH", version: "v2")
                #expect(
                    refused.error == "INVALID_CONFIG : A provider's configuration can have at most 64 KiB.",
                    "\(member): \(refused.status) \(refused.error ?? "")"
                )
            }
        }
    }

    @Test("T-E11: a project has at most 8 MiB of configuration, of which it can give up some")
    func projectSize() async throws {
        try await TestService.run { service in
            let refusal =
                "INVALID_CONFIG : A project's configuration, with its tenants, providers and keys, can have at most 8 MiB."
            _ = try await service.admin("oauthIdpConfigs?oauthIdpConfigId=oidc.acme", oidc, version: "v2")
            let project = service.project.id
            let allowed: JSON = ["multiTenant": ["allowTenants": true]]
            let tenants = "config?updateMask=multiTenant.allowTenants"
            try await service.admin(tenants, allowed, method: "PATCH", version: "v2").expectOK()
            try await service.admin("tenants", ["displayName": "first"], version: "v2").expectOK()
            try await TestDatabase.current.client.execute(
                """
                INSERT INTO tenants (project, tenant, display_name, disabled, settings, created_at)
                SELECT project, 'big-' || n, display_name, disabled, settings || jsonb_build_object('x', repeat('a', 1048576)),
                    created_at
                FROM tenants, generate_series(1, 8) n WHERE project = \(project.rawValue)
                """
            )
            let name = try await service.admin(
                "oauthIdpConfigs/oidc.acme?updateMask=displayName",
                ["displayName": "Acme and sons"],
                method: "PATCH",
                version: "v2"
            )
            name.expectRefused(refusal)
            for (path, body) in [
                ("oauthIdpConfigs?oauthIdpConfigId=oidc.new", oidc), ("tenants", ["displayName": "another"] as JSON),
            ] {
                try await service.admin(path, body, version: "v2").expectRefused(refusal)
            }
            await #expect(throws: ConfigurationError.tooLarge) {
                _ = try await service.stores.configuration.createAPIKey(for: project, displayName: nil)
            }
            let gone = try await service.admin("oauthIdpConfigs/oidc.acme", nil, method: "DELETE", version: "v2")
            gone.expectOK()
            try await TestDatabase.current.client.execute("DELETE FROM tenants WHERE project = \(project.rawValue)")
            #expect(
                try await service.admin("oauthIdpConfigs?oauthIdpConfigId=oidc.new", oidc, version: "v2").status == 200
            )
        }
    }

    @Test("T-E11: a project has at most a hundred providers")
    func limit() async throws {
        try await TestService.run { service in
            _ = try await service.admin("oauthIdpConfigs?oauthIdpConfigId=oidc.acme", oidc, version: "v2")
            try await TestDatabase.current.client.execute(
                """
                INSERT INTO provider_configurations (project, tenant, provider, enabled, client_id, created_at, updated_at)
                SELECT p.project, '', 'oidc.n' || n, false, 'app', p.created_at, p.updated_at
                FROM provider_configurations p, generate_series(1, 99) n WHERE p.project = \(service.project.id.rawValue)
                """
            )
            let new = "oauthIdpConfigs?oauthIdpConfigId=oidc.new"
            let refused = try await service.admin(new, oidc, version: "v2")
            #expect(
                refused.error == "INVALID_CONFIG : A project or tenant can have at most 100 providers.",
                "\(refused)"
            )
            _ = try await service.admin("oauthIdpConfigs/oidc.acme", nil, method: "DELETE", version: "v2")
            try await service.admin(new, oidc, version: "v2").expectOK()
        }
    }

    @Test("keeps a built-in provider, in its own collection alone")
    func builtIn() async throws {
        try await TestService.run { service in
            let body: JSON = ["enabled": true, "clientId": "app", "clientSecret": "s"]
            let path = "defaultSupportedIdpConfigs"
            let made = try await service.admin("\(path)?idpId=google.com", body, version: "v2")
            made.expectOK()
            #expect(made["name"]?.string == "projects/\(service.project.number)/\(path)/google.com")
            #expect(made["responseType"] == nil)
            let other = try await service.admin("oauthIdpConfigs/google.com", version: "v2")
            #expect(other.status == 404)
            #expect(other.error == "CONFIGURATION_NOT_FOUND")
        }
    }

    @Test("changes what the mask names, and the secret only when it is named")
    func updates() async throws {
        try await TestService.run { service in
            try await service.admin("oauthIdpConfigs?oauthIdpConfigId=oidc.acme", oidc, version: "v2")
            let path = "oauthIdpConfigs/oidc.acme"
            let masked = try await service.admin(
                "\(path)?updateMask=displayName",
                ["displayName": "New", "clientId": "other"],
                method: "PATCH",
                version: "v2"
            )
            #expect(masked["displayName"]?.string == "New")
            #expect(masked["clientId"]?.string == "app")
            let whole = try await service.admin(
                path,
                ["clientId": "other", "issuer": "https://login.acme.example"],
                method: "PATCH",
                version: "v2"
            )
            #expect(whole["clientId"]?.string == "other")
            #expect(whole["enabled"] == true)
            #expect(whole["responseType"] == ["code": true], "the secret is still there")
            let cleared = try await service.admin(
                "\(path)?updateMask=client_secret,response_type",
                ["responseType": ["idToken": true]],
                method: "PATCH",
                version: "v2"
            )
            #expect(cleared["responseType"] == ["idToken": true])
        }
    }

    @Test("T-D30: a secret that nobody can read is not sent elsewhere by somebody who does not know it")
    func movedSecret() async throws {
        try await TestService.run { service in
            try await service.admin("oauthIdpConfigs?oauthIdpConfigId=oidc.acme", oidc, version: "v2")
            func change(_ mask: String, _ body: JSON) async throws -> Reply {
                let path = "oauthIdpConfigs/oidc.acme?updateMask=\(mask)"
                return try await service.admin(path, body, method: "PATCH", version: "v2")
            }
            let elsewhere: [(String, JSON)] = [
                ("issuer", ["issuer": "https://evil.example"]),
                ("definition.endpoints.token", ["definition": ["endpoints": ["token": "https://evil.example/token"]]]),
                // A provider without an issuer is where its page is.
                (
                    "definition.endpoints.authorization",
                    ["definition": ["endpoints": ["authorization": "https://evil.example/authorize"]]]
                ),
                ("definition.discoveryURL", ["definition": ["discoveryURL": "https://evil.example/discovery"]]),
                // An app chooses among these values.
                ("definition.variableParameters", ["definition": ["variableParameters": ["base": ["evil.example"]]]]),
            ]
            for (mask, body) in elsewhere {
                let refused = try await change(mask, body)
                #expect(refused.status == 400 && refused.text.contains("client secret"), "\(mask): \(refused)")
            }
            let known = try await change(
                "issuer,clientSecret",
                ["issuer": "https://new.example", "clientSecret": "s3cret"]
            )
            known.expectOK()
            try await change("displayName", ["displayName": "New"]).expectOK()
        }
    }

    @Test("T-D30: what a private key signs for one server goes to no other either")
    func movedKey() async throws {
        try await TestService.run { service in
            let created = try await service.admin(
                "oauthIdpConfigs?oauthIdpConfigId=oidc.acme",
                [
                    "clientId": "app", "issuer": "https://acme.example", "enabled": true,
                    "clientSecret": .string(AppleClientKey().pem), "definition": ["clientAuth": "private_key_jwt"],
                ],
                version: "v2"
            )
            created.expectOK()
            let refused = try await service.admin(
                "oauthIdpConfigs/oidc.acme?updateMask=definition.endpoints.token",
                ["definition": ["endpoints": ["token": "https://evil.example/token"]]],
                method: "PATCH",
                version: "v2"
            )
            #expect(refused.status == 400 && refused.text.contains("client secret"), "\(refused)")
            for method in ["post", "basic", "automatic"] {
                let sent = try await service.admin(
                    "oauthIdpConfigs/oidc.acme?updateMask=definition.clientAuth",
                    ["definition": ["clientAuth": .string(method)]],
                    method: "PATCH",
                    version: "v2"
                )
                #expect(sent.status == 400 && sent.text.contains("would send"), "\(method): \(sent)")
            }
        }
    }

    @Test("keeps members of our own under definition")
    func definitions() async throws {
        try await TestService.run { service in
            let body: JSON = [
                "enabled": true, "clientId": "app", "clientSecret": "s",
                "definition": [
                    "audiences": ["com.example.app"],
                    "endpoints": [
                        "authorization": "https://acme.example/authorize", "token": "https://acme.example/token",
                    ],
                    "profile": [["url": "https://acme.example/me"]],
                    "claims": ["subject": ["id"]],
                ],
            ]
            let made = try await service.admin("oauthIdpConfigs?oauthIdpConfigId=oauth.acme", body, version: "v2")
            made.expectOK()
            #expect(made["definition"] == body["definition"])
            let stored = service.stores.configuration.snapshot.provider("oauth.acme", in: service.project.scope)
            #expect(stored?.audiences == ["com.example.app"])
            let read = try await service.admin("oauthIdpConfigs/oauth.acme", version: "v2")
            #expect(read.json == made.json)
        }
    }

    @Test("lists page by page")
    func lists() async throws {
        try await TestService.run { service in
            let none = try await service.admin("oauthIdpConfigs", version: "v2")
            #expect(none.json == ["oauthIdpConfigs": []])
            for id in ["oidc.c.and-d_e", "oidc.a", "oidc.b"] {
                try await service.admin("oauthIdpConfigs?oauthIdpConfigId=\(id)", oidc, version: "v2")
            }
            let first = try await service.admin("oauthIdpConfigs?pageSize=2", version: "v2")
            #expect(first["oauthIdpConfigs"]?.array?.count == 2)
            let next = first["nextPageToken"]?.string ?? ""
            let second = try await service.admin("oauthIdpConfigs?pageSize=2&pageToken=\(next)", version: "v2")
            let other = try await service.admin("oauthIdpConfigs?pageSize=2&pageToken=oidc.b", version: "v2")
            #expect(other.error == "INVALID_PAGE_SELECTION", "\(other)")
            #expect(second["oauthIdpConfigs"]?.array?.count == 1)
            #expect(second["nextPageToken"] == nil)
        }
    }

    @Test("removes a provider once")
    func deletes() async throws {
        try await TestService.run { service in
            try await service.admin("oauthIdpConfigs?oauthIdpConfigId=oidc.acme", oidc, version: "v2")
            let path = "oauthIdpConfigs/oidc.acme"
            let removed = try await service.admin(path, method: "DELETE", version: "v2")
            #expect(removed.json == [:])
            #expect(try await service.admin(path, method: "DELETE", version: "v2").status == 404)
            #expect(try await service.admin(path, version: "v2").status == 404)
        }
    }

    @Test(
        "says what is wrong with a configuration",
        arguments: [
            ("oidc.acme", ["clientId": "a"], "MISSING_ISSUER"),
            (
                "oidc.acme", ["issuer": "https://a.example"],
                "MISSING_OAUTH_CLIENT_ID : Client_id in OAuthIdpConfig cannot be empty."
            ),
            ("", ["clientId": "a"], "MISSING_CONFIG_ID"),
            (
                "google.com", ["clientId": "a"],
                "INVALID_CONFIG_ID : \"google.com\" is not a valid ID of OAuthIdpConfig."
            ),
            ("oidc.a%2Fb", ["clientId": "a"], "INVALID_CONFIG_ID : \"oidc.a/b\" is not a valid ID of OAuthIdpConfig."),
            (
                "oidc.acme",
                ["clientId": "a", "issuer": "https://a.example", "responseType": ["code": true, "idToken": true]],
                "INVALID_CONFIG : The response type must set exactly one of idToken and code."
            ),
            (
                "oidc.acme", ["clientId": "a", "issuer": "https://a.example", "responseType": ["code": true]],
                "INVALID_CONFIG : client_secret cannot be empty for code flow."
            ),
        ] as [(String, JSON, String)]
    )
    func refuses(_ id: String, _ body: JSON, _ message: String) async throws {
        try await TestService.run { service in
            let reply = try await service.admin("oauthIdpConfigs?oauthIdpConfigId=\(id)", body, version: "v2")
            #expect(reply.status == 400)
            #expect(reply.error == message)
        }
    }

    @Test(
        "refuses values that the definition does not allow",
        arguments: [
            ["clientId": "a", "issuer": "http://acme.example"], ["clientId": "a", "issuer": "acme"],
            ["clientId": "a", "issuer": "https://a.example", "definition": ["nonsense": true]],
            [
                "clientId": "a", "issuer": "https://a.example",
                "definition": ["endpoints": ["token": "javascript:alert(1)"]],
            ],
        ] as [JSON]
    )
    func refusesDefinitions(_ body: JSON) async throws {
        try await TestService.run { service in
            let reply = try await service.admin("oauthIdpConfigs?oauthIdpConfigId=oidc.acme", body, version: "v2")
            #expect(reply.status == 400)
            #expect(reply.code == "INVALID_CONFIG", "\(reply)")
        }
    }
}
