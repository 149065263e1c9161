import Domain
import Projects
import StrictJSON
import Testing
import TestKit

/// Provider IDs that the project lacks, and those that nobody can have: an app's mistake, not an admin's.
@Suite("Provider IDs that are not configured", .database)
struct UnknownProviderTests {
    struct Row: CustomTestStringConvertible, Sendable {
        var id: String
        /// Whether it is a provider's, here or in Firebase.
        var isProvider = false
        var testDescription: String { id.isEmpty ? "empty" : String(id.prefix(40)) }
    }

    static let rows = [
        Row(id: "google.com", isProvider: true), Row(id: "facebook.com", isProvider: true),
        Row(id: "oidc.acme", isProvider: true), Row(id: "oidc.acme.jp", isProvider: true),
        Row(id: "oauth.acme", isProvider: true), Row(id: "saml.acme", isProvider: true),
        // Firebase's, which nobody can configure here.
        Row(id: "gc.apple.com", isProvider: true), Row(id: "playgames.google.com", isProvider: true),
        Row(id: "MadeUpProvider"), Row(id: "example.com"), Row(id: "oidc."), Row(id: "oidc"), Row(id: "saml."),
        Row(id: "oidc.a..b"), Row(id: "oidc.a b"), Row(id: "google.com "), Row(id: "oidc.\u{65E5}\u{672C}"),
        Row(id: "oidc." + String(repeating: "a", count: 65)), Row(id: "password"), Row(id: "phone"),
        Row(id: "anonymous"), Row(id: "custom"), Row(id: "emailLink"), Row(id: "passkey"), Row(id: "firebase"),
    ]

    @Test("signInWithIdp says which of both it is, in production and with fake credentials", arguments: rows)
    func signIn(_ row: Row) async throws {
        for development in [false, true] {
            var options = TestService.Options()
            options.development = development
            options.settings = development ? .development : .init()
            try await TestService.run(options) { service in
                let token = development ? #"{"sub":"ada"}"# : "x.y.z"
                let body = "id_token=\(token)&providerId=\(row.id.replacing(" ", with: "%20"))"
                let reply = try await service.signInWithIdP(postBody: body)
                switch (row.isProvider, development) {
                case (true, false): reply.expectRefused(Messages.noProvider)
                case (true, true): #expect(reply.status == 200, "\(reply)")
                case (false, _):
                    reply.expectRefused(
                        """
                        INVALID_CREDENTIAL_OR_PROVIDER_ID : Invalid IdP response/credential: \
                        http://localhost?providerId=\(row.id.lowercased())
                        """
                    )
                }
            }
        }
    }

    @Test("createAuthUri refuses them likewise", arguments: rows)
    func start(_ row: Row) async throws {
        try await TestService.run { service in
            let body: JSON = ["providerId": .string(row.id), "continueUri": "http://localhost/callback"]
            try await service.call("accounts:createAuthUri", body)
                .expectRefused(row.isProvider ? Messages.noProvider : Messages.unsupportedProvider)
        }
    }

    @Test("an empty ID, and one in capitals")
    func edges() async throws {
        try await TestService.run { service in
            let empty = try await service.signInWithIdP(postBody: "id_token=x.y.z&providerId=")
            empty.expectRefused(
                "INVALID_CREDENTIAL_OR_PROVIDER_ID : Invalid IdP response/credential: http://localhost?providerId="
            )
            try await service.signInWithIdP(postBody: "id_token=x.y.z&providerId=GOOGLE.COM")
                .expectRefused(Messages.noProvider)
            let body: JSON = ["providerId": "GOOGLE.COM", "continueUri": "http://localhost/callback"]
            try await service.call("accounts:createAuthUri", body).expectRefused(Messages.unsupportedProvider)
        }
    }

    @Test("unlinking and linking name providers and methods only", arguments: rows)
    func update(_ row: Row) async throws {
        try await TestService.run { service in
            let user = try await service.signUp("ada@example.com")
            let isMethod = !ProviderID(row.id).isFederated
            let removed: JSON = [.string(row.id), "google.com"]
            let calls: [@Sendable () async throws -> Reply] = [
                {
                    let body: JSON = ["idToken": JSON(user.idToken), "deleteProvider": removed]
                    return try await service.call("accounts:update", body)
                },
                {
                    let body: JSON = ["localId": JSON(user.localID), "deleteProvider": removed]
                    return try await service.admin("accounts:update", body)
                },
            ]
            // The account's only method is its password.
            for call in calls where row.id != "password" && row.id != "emailLink" {
                let reply = try await call()
                if row.isProvider || isMethod {
                    // What the account lacks is gone already: a retry is no mistake.
                    reply.expectOK()
                } else {
                    reply.expectRefused(Messages.unsupportedProvider)
                }
            }
            let link: JSON = ["providerId": .string(row.id), "rawId": "R"]
            let linked = try await service.admin(
                "accounts:update",
                ["localId": JSON(user.localID), "linkProviderUserInfo": link]
            )
            if row.isProvider {
                linked.expectOK()
            } else {
                linked.expectRefused(Messages.unsupportedProvider)
            }
        }
    }

    @Test("an identity of an ID that an import brought can be unlinked")
    func imported() async throws {
        try await TestService.run { service in
            let account: JSON = [
                "localId": "old", "email": "ada@example.com",
                "providerUserInfo": [["providerId": "legacy.example", "rawId": "R"]],
            ]
            let reply = try await service.admin("accounts:batchCreate", ["users": [account]])
            #expect(reply.status == 200 && reply["error"] == nil, "\(reply)")
            #expect(try await service.account("old")?["providerUserInfo"]?[0]?["providerId"] == "legacy.example")
            let body: JSON = ["localId": "old", "deleteProvider": ["legacy.example"]]
            try await service.admin("accounts:update", body).expectOK()
            #expect(try await service.account("old")?["providerUserInfo"]?[0]?["providerId"] != "legacy.example")
        }
    }
}
