import Domain
import Foundation
import Postgres
import Projects
import Secrets
import Storage
import Testing
import TestKit

@Suite("What is taken in", .database)
struct InputTests {
    @Test("an anonymous account's name has the limits of any other")
    func anonymousName() async throws {
        try await TestService.run { service in
            let name = String(repeating: "a", count: 257)
            let reply = try await service.call("accounts:signUp", ["displayName": .string(name)])
            #expect(reply.error == "INVALID_PROFILE_ATTRIBUTE : Display name too long.", "\(reply)")
        }
    }

    @Test("custom claims are measured by what they take, not by what they look like")
    func customClaims() async throws {
        try await TestService.run { service in
            let user = try await service.signUp("ada@example.com")
            let claims = #"{"a":"x\#(String(repeating: "\u{301}", count: 2000))"}"#
            let reply = try await service.admin(
                "accounts:update",
                ["localId": JSON(user.localID), "customAttributes": .string(claims)]
            )
            #expect(reply.error == "CLAIMS_TOO_LARGE", "\(reply)")
        }
    }

    @Test("the context of a flow, which is kept for anybody, is short")
    func context() async throws {
        try await TestService.run { service in
            try await service.configure(
                ProviderConfiguration(provider: "google.com", enabled: true, clientID: "app", clientSecret: Secret("s"))
            )
            let reply = try await service.call(
                "accounts:createAuthUri",
                [
                    "providerId": "google.com", "continueUri": "http://localhost/callback",
                    "context": .string(String(repeating: "a", count: 4097)),
                ]
            )
            #expect(reply.code == "INVALID_ARGUMENT", "\(reply)")
        }
    }

    @Test("T-A13: the address of an account that has nothing but its password cannot be removed")
    func addressOfTheLastMethod() async throws {
        try await TestService.run { service in
            let user = try await service.signUp("ada@example.com")
            let reply = try await service.call(
                "accounts:update",
                ["idToken": JSON(user.idToken), "deleteAttribute": ["EMAIL"]]
            )
            #expect(reply.error == "OPERATION_NOT_ALLOWED : The last sign-in method cannot be removed.", "\(reply)")
            #expect(try await service.account(user.localID)?["email"] == "ada@example.com")
        }
    }

    @Test("attributes that cannot be deleted are refused, by name and by number")
    func undeletableAttributes() async throws {
        try await TestService.run { service in
            let user = try await service.signUp("ada@example.com")
            for attribute in ["PROVIDER", "RAW_USER_INFO", 0, "3"] as [JSON] {
                let reply = try await service.call(
                    "accounts:update",
                    ["idToken": JSON(user.idToken), "deleteAttribute": [attribute]]
                )
                #expect(reply.error == "INVALID_REQ_TYPE : Unsupported request parameters.", "\(reply)")
            }
        }
    }

    @Test("T-E6: linking a password with another address keeps the first one for recovery")
    func initialEmail() async throws {
        var options = TestService.Options()
        options.settings.emailEnumerationProtection = false
        try await TestService.run(options) { service in
            let user = try await service.signUp("ada@example.com")
            let linked = try await service.call(
                "accounts:signUp",
                ["idToken": JSON(user.idToken), "email": "ada@example.net", "password": "correct horse"]
            )
            #expect(linked["email"] == "ada@example.net", "\(linked)")
            #expect(try await service.account(user.localID)?["initialEmail"] == "ada@example.com")
        }
    }

    @Test("T-D13: a credential that may only read accounts gets no password hashes")
    func hashesNeedMoreThanReading() async throws {
        try await TestService.run { service in
            _ = try await service.signUp("ada@example.com")
            let (_, reader) = try await service.stores.configuration.createAdminCredential(
                name: "reader",
                project: service.project.id,
                scopes: [.readAccounts],
                expiresAt: nil
            )
            let reply = try await service.send(
                "GET",
                "/v1/projects/\(service.project.id)/accounts:batchGet",
                headers: [("Authorization", "Bearer \(reader.reveal())")]
            )
            let user = reply["users"]?[0]
            #expect(user?["passwordHash"] == "UkVEQUNURUQ=", "\(reply)")
            #expect(user?["salt"] == nil)
        }
    }

    @Test("two changes of a provider at once do not undo each other")
    func providerChanges() async throws {
        try await TestService.run { service in
            try await service.configure(
                ProviderConfiguration(
                    provider: "oidc.acme",
                    enabled: true,
                    clientID: "app",
                    clientSecret: Secret("s3cret")
                ).with(issuer: "https://login.acme.example")
            )
            let reply = try await Race.run(
                service,
                hold: {
                    try await $0.execute(
                        """
                        UPDATE provider_configurations SET enabled = false
                        WHERE project = \(service.project.id.rawValue)
                        """
                    )
                },
                {
                    try await service.admin(
                        "oauthIdpConfigs/oidc.acme?updateMask=displayName",
                        ["displayName": "Acme"],
                        method: "PATCH",
                        version: "v2"
                    )
                }
            )
            reply.expectOK()
            let after = try await service.admin("oauthIdpConfigs/oidc.acme", version: "v2")
            #expect(after["displayName"] == "Acme")
            #expect(after["enabled"] == nil, "\(after)")
        }
    }
}

extension ProviderConfiguration {
    fileprivate func with(issuer: String) -> ProviderConfiguration {
        var configuration = self
        configuration.issuer = issuer
        return configuration
    }
}
