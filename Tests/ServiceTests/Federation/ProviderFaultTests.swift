import Development
import Domain
import Federation
import Foundation
import InMemoryLogging
import Outbound
import Postgres
import Projects
import Storage
import StrictJSON
import Testing
import TestKit

@Suite("Providers that are slow, broken or hostile", .database, .testProvider)
struct ProviderFaultTests {
    typealias Kind = ProviderScene.Kind

    // MARK: The token endpoint

    @Test(
        "4.1: a provider that stalls is left within the time limit",
        arguments: [Kind.oidc, .oauth2],
        [ProviderEndpoint.token, .userinfo]
    )
    func stalls(_ kind: Kind, _ endpoint: ProviderEndpoint) async throws {
        for fault in [ProviderFault.held(TestGate()), .heldInBody(TestGate()), .endless] {
            // What sign-in can do without is done without.
            let message = kind == .oidc && endpoint == .userinfo ? nil : Messages.providerDown
            try await ProviderScene.meets(FaultCase("\(fault)", fault, message), at: endpoint, kind)
        }
    }

    @Test("4.1: no server listens", arguments: [Kind.oidc, .oauth2])
    func nobodyListens(_ kind: Kind) async throws {
        var options = ProviderScene.Options()
        let nowhere: JSONValue = ["token": "http://127.0.0.1:1/token"]
        options.definition = kind == .oidc ? ["endpoints": nowhere] : [:]
        try await ProviderScene.run(kind, options) { scene in
            if kind == .oauth2 {
                var configuration = scene.tenant.configuration(as: scene.provider)
                configuration.overrides = configuration.overrides?
                    .replacing(scene.tenant.url(.token) ?? "", with: "http://127.0.0.1:1/token")
                try await scene.service.stores.configuration.replaceProvider(
                    configuration,
                    in: Scope(project: scene.service.project.id)
                )
            }
            let arrival = try await scene.arrive()
            try await scene.refuses(Messages.providerDown) { try await scene.finish(arrival) }
        }
    }

    @Test("4.3: OpenID needs an ID token, plain OAuth does not look at one")
    func idTokenPresence() async throws {
        let cases: [(FaultCase, Kind)] = [
            (FaultCase("none", .members(remove: ["id_token"]), Messages.invalidAnswer), .oidc),
            (FaultCase("empty", .members(set: ["id_token": ""]), Messages.invalidAnswer), .oidc),
            (FaultCase("unasked", .members(set: ["id_token": "junk"]), nil), .oauth2),
        ]
        for (test, kind) in cases { try await ProviderScene.meets(test, at: .token, kind) }
    }

    @Test(
        "4.3, R-48: a client secret that was rotated is used from then on, and the old one is an admin's matter",
        arguments: [Kind.oidc, .oauth2]
    )
    func rotatedSecret(_ kind: Kind) async throws {
        var options = ProviderScene.Options()
        options.expectsViolations = true
        try await ProviderScene.run(kind, options) { scene in
            let session = try await scene.signIn()
            let open = try await scene.arrive()
            scene.tenant.addClient(secrets: ["the-new-secret"], redirects: .anyLocal)
            scene.secrets.add("the-new-secret")
            let stale = try await scene.arrive()
            try await scene.refuses(Messages.clientRejected) { try await scene.finish(stale) }
            scene.logsForAdmin("exchange.clientRejected")
            let patched = try await scene.service.admin(
                "oauthIdpConfigs/\(kind.rawValue)?updateMask=clientSecret",
                ["clientSecret": "the-new-secret"],
                method: "PATCH",
                version: "v2"
            )
            patched.expectOK()
            #expect(try await scene.finish(open).status == 200, "also for a flow that was open")
            try await scene.service.refresh(session.refreshToken).expectOK()
        }
    }

    // MARK: The profile

    @Test(
        "4.5: the id in a plain OAuth provider's profile is the proof",
        arguments: [
            FaultCase("no id", .members(remove: ["id"]), Messages.invalidAnswer),
            FaultCase("empty id", .members(set: ["id": ""]), Messages.invalidAnswer),
            FaultCase("id null", .members(set: ["id": .null]), Messages.invalidAnswer),
            FaultCase("id as an object", .members(set: ["id": ["a": 1]]), Messages.invalidAnswer),
            FaultCase("id as a flag", .members(set: ["id": true]), Messages.invalidAnswer),
            FaultCase(
                "long id",
                .members(set: ["id": .string(String(repeating: "1", count: 256))]),
                Messages.invalidAnswer
            ),
            FaultCase("another content type", .contentType("text/html"), Messages.invalidAnswer),
            FaultCase("cut", .body(Array(#"{"id":"1""#.utf8)), Messages.invalidAnswer),
            FaultCase("no address", .members(remove: ["email"]), nil),
        ]
    )
    func requiredProfile(_ test: FaultCase) async throws {
        try await ProviderScene.meets(test, at: .userinfo, .oauth2)
        guard test.name != "no address" else { return }
        try await ProviderScene.meets(test, at: .userinfo, .github)
    }

    @Test("4.5: GitHub's list of addresses may be missing, empty, or without a verified primary one")
    func githubEmails() async throws {
        for fault in [
            ProviderFault.status(403), .status(404), .body(Array("[]".utf8)), .body(Array("{}".utf8)),
            .body(Array(#"[{"email":"ada@example.com","primary":true,"verified":false}]"#.utf8)),
            .body(Array(#"[{"email":"ada@example.com","primary":false,"verified":true}]"#.utf8)),
            .body(Array(#"[{"email":"ada@example.com","primary":"true","verified":"true"}]"#.utf8)),
        ] {
            try await ProviderScene.run(.github) { scene in
                scene.tenant.addFault(fault, at: .emails)
                let reply = try await scene.signIn()
                reply.expectOK()
                #expect(reply["email"] == nil)
                #expect(reply["emailVerified"] == false)
            }
        }
    }

    @Test("a slow provider does not delay sign-ins elsewhere")
    func isolation() async throws {
        try await ProviderScene.run(.oauth2) { scene in
            let gate = TestGate()
            let waiting = try await scene.arrive()
            scene.tenant.addFault(.held(gate), at: .token)
            let other = try await TestProvider.tenant(.genericOIDC, name: "other")
            other.addClient(secrets: ["other-secret"], redirects: .anyLocal)
            other.everyLogin(other.addUser(TestUser("grace-1", email: "grace@example.com")))
            try await scene.service.configure(other.configuration(as: "oidc.other"))
            async let held = scene.finish(waiting)
            await gate.reached()
            let quick = try await scene.service.signIn(through: "oidc.other")
            quick.expectOK()
            gate.open()
            try await held.expectOK()
        }
    }
}
