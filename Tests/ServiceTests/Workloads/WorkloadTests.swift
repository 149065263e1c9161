import Administration
import Development
import Foundation
import Postgres
import Projects
import Storage
import StrictJSON
import TestKit
import Testing

/// Access tokens of the admin API for tokens of other platforms (RFC 8693).
@Suite("Workloads", .database, .testProvider)
struct WorkloadTests {
    @Test("a token becomes an access token of 15 minutes; its use and the exchange are recorded")
    func exchanges() async throws {
        try await WorkloadScene.run { scene in
            let form =
                "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&subject_token=\(try scene.token())"
                + "&subject_token_type=urn:ietf:params:oauth:token-type:id_token"
                + "&requested_token_type=urn:ietf:params:oauth:token-type:access_token&audience=\(scene.workload.id)"
            let type = [("Content-Type", "application/x-www-form-urlencoded")]
            let reply = try await scene.service.send("POST", "/token", headers: type, body: Array(form.utf8))
            let token = try #require(reply["access_token"]?.string, "\(reply)")
            let rest: JSON = [
                "access_token": .string(token), "token_type": "Bearer", "expires_in": 900,
                "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
                "scope": "accounts.manage accounts.read",
            ]
            #expect(reply.status == 200 && reply.json == rest, "\(reply)")
            #expect(try await scene.status(token) == 200)
            #expect(try await scene.status(token, manages: true) == 200)
            #expect(try await scene.status(token, project: "another-project") == 403)
            let listed = try await scene.service.stores.configuration
                .list(Workload.self, of: scene.service.project.id)
            #expect(listed.map(\.credential) == [scene.workload])
            #expect(listed.first?.lastUsedAt == scene.service.clock.now())
            let log = try await scene.service.admin("auditEntries?action=ACCESS_TOKEN_GRANTED")
            #expect(log["auditEntries"]?.array?.count == 1, "\(log)")
            scene.service.clock.advance(by: 899)
            #expect(try await scene.status(token) == 200)
            scene.service.clock.advance(by: 1)
            #expect(try await scene.status(token) == 401)
        }
    }

    @Test("a request narrows the scopes, and never widens them")
    func narrows() async throws {
        try await WorkloadScene.run { scene in
            let token = try await scene.accessToken(["scope": "accounts.read"])
            #expect(try await scene.status(token) == 200)
            #expect(try await scene.status(token, manages: true) == 403)
            for scope in ["configuration.manage", "accounts.read configuration.manage", "accounts.read openid", ""] {
                let reply = try await scene.exchange(try scene.token(), ["scope": .string(scope)])
                #expect(reply.status == 400 && reply["error"] == "invalid_scope", "\(scope) \(reply)")
            }
        }
    }

    @Test("a workload that is revoked or over takes its tokens with it, at once")
    func endsWithItsRow() async throws {
        try await WorkloadScene.run({ $0.expiresAt = $1.clock.seconds + 600 }) { scene in
            let reply = try await scene.exchange(try scene.token())
            #expect(reply["expires_in"] == 600, "\(reply)")
            let token = try #require(reply["access_token"]?.string)
            scene.service.clock.advance(by: 599)
            #expect(try await scene.status(token) == 200)
            scene.service.clock.advance(by: 1)
            #expect(try await scene.status(token) == 401)
            try await scene.expectRefused(try scene.token(), because: "workload.issuer")
        }
        try await WorkloadScene.run { scene in
            let token = try await scene.accessToken()
            #expect(try await scene.status(token) == 200)
            // As if another node had done it, so that this one does not know yet.
            try await TestDatabase.current.client.execute(
                "UPDATE admin_credentials SET disabled = true WHERE id = \(scene.workload.id)"
            )
            #expect(try await scene.status(token) == 401)
            try await scene.expectRefused(try scene.token(), because: "workload.used")
            try await scene.service.stores.configuration.load()
            try await scene.expectRefused(try scene.token(), because: "workload.issuer")
        }
    }

    @Test("a token that is that of several workloads needs the ID of one")
    func severalWorkloads() async throws {
        try await WorkloadScene.run { scene in
            var other = scene.workload
            other.scopes = [.readAccounts]
            other = try await scene.service.stores.configuration.create(other)
            let token = try scene.token()
            for more: [String: JSON] in [[:], ["audience": "another"], ["resource": "https://id.example.com/"]] {
                let reply = try await scene.exchange(token, more)
                #expect(reply.status == 400 && reply["error"] == "invalid_target", "\(reply)")
            }
            let reply = try await scene.exchange(token, ["audience": .string(other.id)])
            #expect(reply["scope"] == "accounts.read", "\(reply)")
        }
    }

    @Test("an issuer that cannot be reached is temporary; one whose keys are stored is not asked")
    func unreachable() async throws {
        try await WorkloadScene.run { scene in
            scene.platform.addFault(.status(503), at: .keys, call: nil)
            let reply = try await scene.exchange(try scene.token())
            #expect(reply.status == 503 && reply["error"] == "temporarily_unavailable", "\(reply)")
        }
        try await WorkloadScene.run { scene in
            var pinned = scene.workload
            pinned.issuer = "https://kubernetes.default.svc"
            pinned.jwks = #"{"keys":[\#(JSONValue.object(try scene.platform.signingKey().jwk()).jsonText)]}"#
            _ = try await scene.service.stores.configuration.create(pinned)
            let token = try scene.token(set: ["iss": .string(pinned.issuer)])
            try await scene.exchange(token).expectOK()
            #expect(scene.platform.requests(.keys).isEmpty)
        }
    }

    @Test("what cannot be read is refused in OAuth's form")
    func refusesRequests() async throws {
        try await WorkloadScene.run { scene in
            let wrong: [[String: JSON]] = [
                ["subject_token": ""], ["subject_token": 1], ["subject_token_type": "jwt"],
                ["subject_token_type": "urn:ietf:params:oauth:token-type:saml2"],
                ["requested_token_type": "urn:ietf:params:oauth:token-type:refresh_token"], ["actor_token": "x"],
            ]
            for more in wrong {
                let reply = try await scene.exchange(try scene.token(), more)
                #expect(reply.status == 400 && reply["error"] == "invalid_request", "\(more) \(reply)")
            }
        }
    }

    /// Changes of a workload that an admin must not make.
    private static let mistakes: [(text: String, change: @Sendable (inout Workload) -> Void)] = [
        ("name", { $0.name = "" }), ("https", { $0.issuer = "http://ci.example.com" }),
        ("https", { $0.issuer = "https://ci.example.com?tenant=1" }), ("https", { $0.issuer = "ci" }),
        ("https", { $0.issuer = "http://127.0.0.1:1" }), ("audience", { $0.audience = "" }),
        ("JWK", { $0.jwks = #"{"keys":[{"kty":"oct","k":"AAAA"}]}"# }), ("JWK", { $0.jwks = "{}" }),
        ("minutes", { $0.tokenLifetime = 3601 }), ("minutes", { $0.tokenLifetime = 0 }),
    ]

    @Test("an admin's mistake is refused", arguments: mistakes.indices)
    func refusesMistakes(_ index: Int) async throws {
        try await Self.expectRefused(Self.mistakes[index].text, Self.mistakes[index].change)
    }

    @Test(
        "T-D27: a workload names exactly one repository, project or account of its platform",
        arguments: [
            [:], ["environment": "production"], ["ref": "refs/heads/main", "event_name": "push"],
            ["repository": "acme/*"], ["sub": ""], ["job_workflow_ref": "acme/ci/.github/workflows/deploy.yml@main"],
        ]
    )
    func requiresConditions(_ claims: [String: String]) async throws {
        let text = claims.keys.contains { Workload.identifyingClaims.contains($0) } ? "exact" : "everybody"
        try await Self.expectRefused(text) { $0.claims = claims }
    }

    private static func expectRefused(
        _ text: String,
        _ change: @Sendable (inout Workload) -> Void
    ) async throws {
        try await TestService.run { service in
            var workload = Workload(
                credential: AdminCredential(id: "", name: "ci", project: nil, scopes: []),
                issuer: "https://ci.example.com",
                audience: WorkloadScene.audience,
                claims: ["sub": "repo:acme/shop"]
            )
            change(&workload)
            let manage = AdministrationService(stores: service.stores).workloads
            do {
                _ = try await manage.create(workload, try AdminGrant(scopes: [.readAccounts], days: nil))
                Issue.record("was created")
            } catch AdministrationError.invalid(let problem) {
                #expect(problem.contains(text), "\(problem)")
            }
            let listed = try await service.stores.configuration.list(Workload.self).map(\.credential)
            #expect(!listed.contains { $0.name == workload.name && $0.project == nil })
        }
    }
}
