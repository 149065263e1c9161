import Development
import Foundation
import Projects
import Secrets
import StrictJSON
import TestKit
import Testing
import Text

@Suite("A client secret for Apple that was signed elsewhere", .database, .testProvider)
struct AppleSecretTests {
    private static let path = "defaultSupportedIdpConfigs/apple.com"
    /// The configuration has no team and no key.
    private static let keyNames = ["teamId", "keyId"].map { ",appleSignInConfig.codeFlowConfig.\($0)" }.joined()

    /// A scene where the private key is elsewhere, and the service has a JWT in its place.
    private static func run(
        audiences: [String] = [],
        _ body: @Sendable (ProviderScene, _ secret: String) async throws -> Void
    ) async throws {
        let key = AppleClientKey()
        var options = ProviderScene.Options()
        options.audiences = audiences
        options.personality = { $0.clientAuthentication = .appleSecret(key) }
        try await ProviderScene.run(.apple, options) { scene in
            let secret = try key.secret(
                for: "client",
                audience: scene.tenant.issuer,
                now: scene.service.clock.now(),
                lifetime: 120
            )
            scene.secrets.add(secret)
            let changed = try await scene.service.admin(
                "\(path)?updateMask=clientSecret\(keyNames)",
                ["clientSecret": .string(secret)],
                method: "PATCH",
                version: "v2"
            )
            #expect(changed.status == 200 && changed["appleSignInConfig"]?["codeFlowConfig"] == nil, "\(changed)")
            #expect(!changed.description.contains(secret))
            try await body(scene, secret)
        }
    }

    @Test("authenticates at Apple's endpoints as it is")
    func authenticates() async throws {
        try await Self.run { scene, secret in
            let reply = try await scene.signIn()
            reply.expectOK()
            #expect(scene.tenant.requests(.token).map { $0.fields["client_secret"] } == [secret])
            let token = try #require(scene.tenant.refreshTokens.first)
            let revoked = try await Self.revoke(token, reply, scene)
            revoked.expectOK()
            #expect(scene.tenant.requests(.revocation).map { $0.fields["client_secret"] } == [secret])
        }
    }

    @Test("once it has expired, flows say so, and nobody else is kept out; an admin still changes the rest")
    func expires() async throws {
        try await Self.run { scene, _ in
            let arrival = try await scene.arrive()
            scene.service.clock.advance(by: 121)
            try await scene.finish(arrival)
                .expectRefused("INVALID_CONFIG : clientSecret is a JWT that has expired: set a new one")
            #expect(scene.tenant.requests(.token).isEmpty, "Apple is not asked")
            let native = try await scene.signIn(idToken: scene.tenant.mintIDToken(for: scene.ada))
            native.expectOK()
            let body: JSON = ["enabled": false]
            let off = try await scene.service.admin(
                "\(Self.path)?updateMask=enabled",
                body,
                method: "PATCH",
                version: "v2"
            )
            off.expectOK()
        }
    }

    @Test("is for one client: what a bundle ID got needs the key")
    func bundle() async throws {
        try await Self.run(audiences: ["com.example.app"]) { scene, _ in
            scene.tenant.addClient("com.example.app", redirects: .anyLocal)
            let idToken = try scene.tenant.mintIDToken(for: scene.ada, client: "com.example.app")
            let reply = try await scene.signIn(idToken: idToken)
            let token = scene.tenant.mintRefreshToken(for: scene.ada, client: "com.example.app")
            scene.secrets.add(token)
            try await Self.revoke(token, reply, scene).expectRefused(
                """
                INVALID_CONFIG : clientSecret is a JWT that is for client only: requests of com.example.app need the \
                private key
                """
            )
            #expect(scene.tenant.requests(.revocation).isEmpty)
        }
    }

    private static func revoke(_ token: String, _ reply: Reply, _ scene: ProviderScene) async throws -> Reply {
        let body: JSON = [
            "providerId": "apple.com", "tokenType": "REFRESH_TOKEN", "token": .string(token),
            "idToken": JSON(reply.idToken),
        ]
        return try await scene.service.post("/v2/accounts:revokeToken?key=\(scene.service.apiKey)", text: body.text)
    }

    /// A change of a good JWT, and what an admin reads then; nil if it is good.
    struct Row: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var header: JSON = ["alg": "ES256", "kid": "KEY"]
        var claims: [String: JSON] = [:]
        /// Seconds from now.
        var end = 15_000_000
        var names: JSON = [:]
        var problem: String?
    }

    static let rows = [
        Row(testDescription: "good"),
        Row(testDescription: "names that it has", names: ["teamId": "T", "keyId": "KEY"]),
        Row(testDescription: "RS256", header: ["alg": "RS256"], problem: "is not signed with ES256"),
        Row(testDescription: "none", header: ["alg": "none"], problem: "is not signed with ES256"),
        Row(testDescription: "sub", claims: ["sub": "another"], problem: "has another sub than clientId"),
        Row(testDescription: "no sub", claims: ["sub": .null], problem: "has no sub"),
        Row(
            testDescription: "aud",
            claims: ["aud": "https://example.com"],
            problem: "has another aud than https://appleid.apple.com"
        ),
        Row(testDescription: "no exp", claims: ["exp": .null], problem: "has no exp"),
        Row(testDescription: "exp as text", claims: ["exp": "never"], problem: "has no exp"),
        Row(testDescription: "expired", end: -1, problem: "has expired: set a new one"),
        Row(testDescription: "now", end: 0, problem: "has expired: set a new one"),
        Row(testDescription: "the longest", end: 15_777_000),
        Row(testDescription: "too long", end: 15_777_001, problem: "is valid for more than six months"),
        Row(testDescription: "another team", names: ["teamId": "U"], problem: "definition.variables.teamId differs"),
        Row(testDescription: "another key", names: ["keyId": "L"], problem: "definition.variables.keyId differs"),
    ]

    @Test("is refused by name when it is set", arguments: rows)
    func validates(_ row: Row) async throws {
        try await TestService.run { service in
            let now = Int(service.clock.now().timeIntervalSince1970)
            let claims: [String: JSON] = [
                "iss": "T", "sub": "com.example.web", "aud": "https://appleid.apple.com",
                "exp": .number(Double(now + row.end)),
            ].merging(row.claims) { $1 }
            let parts = [row.header.text, JSON.object(claims).text].map { Base64URL.encode($0.utf8) }
            let secret = parts.joined(separator: ".") + "." + Base64URL.encode("signature".utf8)
            let reply = try await service.admin(
                "defaultSupportedIdpConfigs?idpId=apple.com",
                [
                    "enabled": true, "clientId": "com.example.web", "clientSecret": .string(secret),
                    "definition": ["variables": row.names],
                ],
                version: "v2"
            )
            guard let problem = row.problem else {
                reply.expectOK()
                let other = try await service.admin(
                    "\(Self.path)?updateMask=clientId",
                    ["clientId": "com.example.other"],
                    method: "PATCH",
                    version: "v2"
                )
                #expect(other.error?.contains("has another sub than clientId") == true, "\(other)")
                return
            }
            #expect(reply.status == 400 && reply.error?.contains(problem) == true, "\(reply)")
            #expect(!reply.description.contains(secret))
        }
    }
}
