import Development
import Domain
import Federation
import Foundation
import InMemoryLogging
import Postgres
import Projects
import Testing
import TestKit

@Suite("Configuring providers", .database)
struct ConfiguringProvidersTests {
    private static let secret = "a-very-secret-client-secret"

    private func run(_ body: @Sendable (TestService) async throws -> Void) async throws {
        try await TestSlots.services.use {
            try await TestService.run { service in
                try await body(service)
                let log = service.logs.entries.map { "\($0.message) \($0.metadata)" }
                #expect(!log.contains { $0.contains(Self.secret) || $0.contains(service.adminToken) })
            }
        }
    }

    private func send(
        _ method: String,
        _ path: String,
        _ body: JSON? = nil,
        to service: TestService
    ) async throws -> Reply {
        let reply = try await service.admin(path, body, method: method, version: "v2")
        #expect(!reply.response.text.contains(Self.secret), "the secret is never shown")
        #expect(reply["clientSecret"] == nil)
        return reply
    }

    private static let oidc: JSON = [
        "clientId": "the-client", "clientSecret": .string(secret), "issuer": "https://issuer.example.com",
        "displayName": "Acme", "enabled": true, "responseType": ["code": true],
    ]

    @Test("R-21: an OpenID provider is created, read, listed, changed and deleted, and its secret never shown")
    func lifeOfOIDC() async throws {
        try await run { service in
            let name = JSON.string("projects/\(service.project.number)/oauthIdpConfigs/oidc.acme")
            let created = try await send("POST", "oauthIdpConfigs?oauthIdpConfigId=oidc.acme", Self.oidc, to: service)
            created.expectOK()
            #expect(created["name"] == name, "with the project's number")
            #expect(created["enabled"] == true)
            #expect(created["clientId"] == "the-client")
            #expect(created["issuer"] == "https://issuer.example.com")
            #expect(created["displayName"] == "Acme")
            #expect(created["responseType"] == ["code": true])
            #expect(try await send("GET", "oauthIdpConfigs/oidc.acme", to: service).json == created.json)
            let list = try await send("GET", "oauthIdpConfigs", to: service)
            #expect(list["oauthIdpConfigs"]?.array?.count == 1)
            #expect(list["oauthIdpConfigs"]?[0] == created.json)
            let byNumber = try await service.send(
                "GET",
                "/v2/projects/\(service.project.number)/oauthIdpConfigs/oidc.acme",
                headers: [("Authorization", "Bearer \(service.adminToken)")]
            )
            #expect(byNumber.json == created.json)

            // The secret is kept where it must be: encrypted.
            let stored = try await TestDatabase.current.client.query(
                """
                SELECT position(\(Array(Self.secret.utf8)) IN client_secret) FROM provider_configurations
                WHERE project = \(service.project.id.rawValue)
                """
            ) { try $0.next(Int32.self) }
            #expect(stored == [0])

            // A change of one member leaves the others.
            let patched = try await send(
                "PATCH",
                "oauthIdpConfigs/oidc.acme?updateMask=display_name",
                ["displayName": "Acme Corp", "clientId": "ignored", "enabled": false],
                to: service
            )
            #expect(patched["displayName"] == "Acme Corp")
            #expect(patched["clientId"] == "the-client")
            #expect(patched["enabled"] == true)
            #expect(patched["responseType"] == ["code": true], "the secret is still there")
            // `false` is left out.
            let disabled = try await send(
                "PATCH",
                "oauthIdpConfigs/oidc.acme?updateMask=enabled",
                ["enabled": false],
                to: service
            )
            #expect(disabled["enabled"] == nil)
            disabled.expectOK()

            #expect(try await send("DELETE", "oauthIdpConfigs/oidc.acme", to: service).json == [:])
            for (method, body) in [("GET", nil), ("DELETE", nil), ("PATCH", Self.oidc)] as [(String, JSON?)] {
                let gone = try await send(method, "oauthIdpConfigs/oidc.acme", body, to: service)
                #expect(gone.status == 404)
                #expect(gone.error == "CONFIGURATION_NOT_FOUND")
                #expect(gone["error"]?["status"] == "NOT_FOUND")
            }
            #expect(
                try await send("GET", "oauthIdpConfigs", to: service).json == ["oauthIdpConfigs": []],
                "an empty list is {}"
            )
        }
    }

    @Test("R-21: a built-in provider is configured by its id, in its own collection")
    func lifeOfBuiltIn() async throws {
        try await run { service in
            let path = "defaultSupportedIdpConfigs"
            for id in ["google.com", "github.com"] {
                let created = try await send(
                    "POST",
                    "\(path)?idpId=\(id)",
                    ["clientId": "the-client", "clientSecret": .string(Self.secret), "enabled": true],
                    to: service
                )
                created.expectOK()
                #expect(created["name"] == .string("projects/\(service.project.number)/\(path)/\(id)"))
                #expect(try await send("GET", "\(path)/\(id)", to: service).json == created.json)
                #expect(try await send("GET", "oauthIdpConfigs/\(id)", to: service).status == 404, "its own collection")
            }
            let first = try await send("GET", "\(path)?pageSize=1", to: service)
            #expect(first[path]?.array?.count == 1)
            let token = try #require(first["nextPageToken"]?.string)
            let second = try await send("GET", "\(path)?pageSize=1&pageToken=\(token)", to: service)
            #expect(second[path]?.array?.count == 1)
            #expect(second[path]?[0] != first[path]?[0])
            #expect(second["nextPageToken"] == nil)
            #expect(try await send("GET", "\(path)?pageSize=1000", to: service)[path]?.array?.count == 2)
            try await send("DELETE", "\(path)/github.com", to: service).expectOK()
            #expect(try await send("GET", path, to: service)[path]?.array?.count == 1)
        }
    }

    @Test("names what is wrong with a configuration, and stores none of it")
    func validation() async throws {
        try await run { service in
            func changed(_ members: [String: JSON]) -> JSON {
                .object((Self.oidc.object ?? [:]).merging(members) { $1 })
            }
            let loud = "INVALID_CONFIG : "
            let cases: [(String, JSON, String)] = [
                ("", Self.oidc, "MISSING_CONFIG_ID"),
                ("?oauthIdpConfigId=", Self.oidc, "MISSING_CONFIG_ID"),
                ("?oauthIdpConfigId=acme", Self.oidc, "INVALID_CONFIG_ID"),
                ("?oauthIdpConfigId=saml.acme", Self.oidc, "INVALID_CONFIG_ID"),
                ("?oauthIdpConfigId=google.com", Self.oidc, "INVALID_CONFIG_ID"),
                ("?oauthIdpConfigId=oidc.", Self.oidc, "INVALID_CONFIG_ID"),
                ("?oauthIdpConfigId=oidc.a%20b", Self.oidc, "INVALID_CONFIG_ID"),
                ("?oauthIdpConfigId=oidc..a", Self.oidc, "INVALID_CONFIG_ID"),
                ("?oauthIdpConfigId=oidc.a.", Self.oidc, "INVALID_CONFIG_ID"),
                ("?oauthIdpConfigId=oidc.a..b", Self.oidc, "INVALID_CONFIG_ID"),
                ("?oauthIdpConfigId=oidc.a%2Fb", Self.oidc, "INVALID_CONFIG_ID"),
                ("?oauthIdpConfigId=oidc." + String(repeating: "a", count: 65), Self.oidc, "INVALID_CONFIG_ID"),
                ("?oauthIdpConfigId=OIDC.acme", Self.oidc, "INVALID_CONFIG_ID"),
                (
                    "?oauthIdpConfigId=oidc.acme", changed(["clientId": nil]),
                    "MISSING_OAUTH_CLIENT_ID : Client_id in OAuthIdpConfig cannot be empty."
                ),
                (
                    "?oauthIdpConfigId=oidc.acme", changed(["clientId": ""]),
                    "MISSING_OAUTH_CLIENT_ID : Client_id in OAuthIdpConfig cannot be empty."
                ),
                ("?oauthIdpConfigId=oidc.acme", changed(["issuer": nil]), "MISSING_ISSUER"),
                ("?oauthIdpConfigId=oidc.acme", changed(["issuer": "not a url"]), loud),
                ("?oauthIdpConfigId=oidc.acme", changed(["issuer": "http://issuer.example.com"]), loud),
                ("?oauthIdpConfigId=oidc.acme", changed(["issuer": "https://u:p@issuer.example.com"]), loud),
                ("?oauthIdpConfigId=oidc.acme", changed(["issuer": "https://issuer.example.com?a=b"]), loud),
                ("?oauthIdpConfigId=oidc.acme", changed(["clientId": "a b"]), loud),
                (
                    "?oauthIdpConfigId=oidc.acme", changed(["responseType": ["code": true, "idToken": true]]),
                    "INVALID_CONFIG : The response type must set exactly one of idToken and code."
                ),
                (
                    "?oauthIdpConfigId=oidc.acme", changed(["responseType": [:]]),
                    "INVALID_CONFIG : The response type must set exactly one of idToken and code."
                ),
                (
                    "?oauthIdpConfigId=oidc.acme", changed(["clientSecret": nil]),
                    "INVALID_CONFIG : client_secret cannot be empty for code flow."
                ),
                ("?oauthIdpConfigId=oidc.acme", changed(["definition": ["unknown": 1]]), loud),
                ("?oauthIdpConfigId=oidc.acme", changed(["definition": ["pkce": "maybe"]]), loud),
                (
                    "?oauthIdpConfigId=oidc.acme",
                    changed(["definition": ["extraAuthorizationParameters": ["State": "x"]]]), loud
                ),
                (
                    "?oauthIdpConfigId=oidc.acme",
                    changed(["definition": ["endpoints": ["token": "http://evil.example/token"]]]), loud
                ),
                ("?oauthIdpConfigId=oidc.acme", changed(["definition": ["redirectURIs": ["javascript:x"]]]), loud),
                ("?oauthIdpConfigId=oauth.acme", ["clientId": "c"], loud),
            ]
            for (query, body, message) in cases {
                let reply = try await send("POST", "oauthIdpConfigs" + query, body, to: service)
                #expect(reply.status == 400, "\(query) \(body.text): \(reply)")
                #expect(reply.error?.hasPrefix(message) == true, "\(query) \(body.text): \(reply)")
                #expect(reply["error"]?["status"] == "INVALID_ARGUMENT")
                #expect(reply["error"]?["errors"] == nil, "envelope B")
            }
            #expect(try await send("GET", "oauthIdpConfigs", to: service).json == ["oauthIdpConfigs": []])

            // A change that makes a good one bad is refused whole.
            let made = try await send("POST", "oauthIdpConfigs?oauthIdpConfigId=oidc.acme", Self.oidc, to: service)
            for (mask, body) in [
                ("clientId", ["clientId": ""]), ("issuer", ["issuer": "http://x.example"]), ("issuer", [:]),
                ("clientSecret,responseType", ["clientSecret": "", "responseType": ["code": true]]),
                ("definition", ["definition": ["unknown": true]]),
            ] as [(String, JSON)] {
                let reply = try await send("PATCH", "oauthIdpConfigs/oidc.acme?updateMask=\(mask)", body, to: service)
                #expect(reply.status == 400, "\(mask): \(reply)")
            }
            #expect(try await send("GET", "oauthIdpConfigs/oidc.acme", to: service).json == made.json)
        }
    }

    @Test("a second one of the same id is told from the first")
    func conflict() async throws {
        try await run { service in
            for expected in [200, 409] {
                let reply = try await send("POST", "oauthIdpConfigs?oauthIdpConfigId=oidc.acme", Self.oidc, to: service)
                #expect(reply.status == expected)
                guard expected == 409 else { continue }
                #expect(
                    reply.error
                        == "CONFIGURATION_EXISTS : The OAuthIdpConfig already exists with config_id: oidc.acme"
                )
                #expect(reply["error"]?["status"] == "ALREADY_EXISTS")
            }
        }
    }

    @Test("changes of one configuration at the same time leave one of them whole", .twoNodes)
    func parallelChanges() async throws {
        try await run { service in
            _ = try await send("POST", "oauthIdpConfigs?oauthIdpConfigId=oidc.acme", Self.oidc, to: service)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<16 {
                    group.addTask {
                        try await send(
                            "PATCH",
                            "oauthIdpConfigs/oidc.acme?updateMask=displayName,clientId",
                            ["displayName": .string("name \(index)"), "clientId": .string("client-\(index)")],
                            to: service
                        ).status
                    }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(statuses == [200])
            let after = try await send("GET", "oauthIdpConfigs/oidc.acme", to: service)
            let number = after["displayName"]?.string?.split(separator: " ").last ?? ""
            #expect(after["clientId"] == .string("client-\(number)"))
        }
    }

    @Test("another project's providers are out of reach")
    func otherProject() async throws {
        try await run { service in
            _ = try await send("POST", "oauthIdpConfigs?oauthIdpConfigId=oidc.acme", Self.oidc, to: service)
            try await TestService.run { (other: TestService) async throws in
                #expect(try await send("GET", "oauthIdpConfigs", to: other).json == ["oauthIdpConfigs": []])
                #expect(try await send("GET", "oauthIdpConfigs/oidc.acme", to: other).status == 404)
                #expect(try await send("DELETE", "oauthIdpConfigs/oidc.acme", to: other).status == 404)
            }
            try await send("GET", "oauthIdpConfigs/oidc.acme", to: service).expectOK()
        }
    }
}
