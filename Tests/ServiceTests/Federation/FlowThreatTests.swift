import Development
import Domain
import Foundation
import Postgres
import Projects
import Secrets
import Storage
import StrictJSON
import Testing
import TestKit
import Text

@Suite("Attacks on the flow", .database, .testProvider)
struct FlowThreatTests {
    typealias Kind = ProviderScene.Kind

    // MARK: Whose answer it is

    @Test("T-B2: a flow of one provider is not finished in the name of another")
    func otherProviderNamed() async throws {
        try await ProviderScene.run(.oidc) { scene in
            let second = try await addSecondProvider(to: scene)
            for name in [second.provider.rawValue, "google.com", "password", "oidc.acm"] {
                let arrival = try await scene.arrive()
                try await scene.refuses(Messages.usedFlow) {
                    try await scene.finish(arrival, ["postBody": .string("providerId=\(name)")])
                }
            }
            #expect(scene.tenant.requests(.token).isEmpty)
            #expect(second.tenant.requests(.token).isEmpty)
            let arrival = try await scene.arrive()
            let named = try await scene.finish(arrival, ["postBody": "providerId=OIDC.ACME"])
            #expect(named.status == 200, "its own name, in any letters as SDKs write it: \(named)")
        }
    }

    @Test("T-B3: a code of one provider goes to no other's token endpoint")
    func mixUp() async throws {
        var options = ProviderScene.Options()
        options.expectsViolations = true
        try await ProviderScene.run(.oidc, options) { scene in
            let second = try await addSecondProvider(to: scene)
            let honest = try await scene.arrive()
            let evil = try await scene.arrive(as: second.provider)
            let code = honest.fields["code"]
            // The honest provider's code in the hostile provider's flow: the hostile endpoint must not learn it while it
            // is good. It is bound to the verifier of the honest flow, so that even the one who has it cannot use it.
            try await scene.refuses(nil) { try await scene.finish(evil.with("code", code)) }
            let sent = try #require(second.tenant.requests(.token).first)
            #expect(sent.fields["code_verifier"] != nil)
            let stolen = try await PlainHTTP.post(
                try #require(scene.tenant.url(.token)),
                form: [
                    ("grant_type", "authorization_code"), ("code", code ?? ""),
                    ("redirect_uri", "http://localhost/callback"),
                    ("code_verifier", sent.fields["code_verifier"] ?? ""),
                ],
                headers: [
                    (
                        "Authorization",
                        "Basic "
                            + Data(("client:" + PercentEncoding.encode(ProviderScene.clientSecret)).utf8)
                            .base64EncodedString()
                    )
                ]
            )
            #expect(stolen.status == 400, "the verifier is another flow's")
            #expect(!stolen.text.contains("access_token"))
        }
    }

    @Test("T-B3: an announced issuer parameter that is missing or wrong ends the flow before the code is sent")
    func issuerParameter() async throws {
        var options = ProviderScene.Options()
        options.personality = { $0.sendsIssuerInCallback = true }
        try await ProviderScene.run(.oidc, options) { scene in
            let second = try await addSecondProvider(to: scene)
            let wrong: [String?] = [
                nil, "", second.tenant.issuer, scene.tenant.issuer + "/", scene.tenant.issuer.uppercased(),
                "https://evil.example", scene.tenant.issuer + "%2F",
            ]
            for issuer in wrong {
                let arrival = try await scene.arrive()
                #expect(arrival.fields["iss"] == scene.tenant.issuer)
                try await scene.refuses(Messages.otherIssuer) { try await scene.finish(arrival.with("iss", issuer)) }
            }
            #expect(scene.tenant.requests(.token).isEmpty)
            #expect(second.tenant.requests(.token).isEmpty)
            try await scene.signIn().expectOK()
        }
    }

    @Test(
        "T-B3: a wrong issuer parameter ends the flow also where none was announced",
        arguments: Kind.withCodes
    )
    func unannouncedIssuer(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            let arrival = try await scene.arrive()
            try await scene.refuses(Messages.otherIssuer) {
                try await scene.finish(arrival.with("iss", "https://evil.example"))
            }
            #expect(scene.tenant.requests(.token).isEmpty)
        }
    }

    @Test("T-B3: a code is exchanged where the flow began, whatever discovery says by then")
    func storedEndpoint() async throws {
        try await ProviderScene.run(.oidc) { scene in
            let evil = try await TestProvider.tenant(.genericOIDC, name: "evil")
            scene.tenant.addFault(
                .headers([("Cache-Control", "max-age=60")]),
                at: .discovery
            )
            scene.tenant.addFault(
                .members(set: ["token_endpoint": .string(evil.url(.token) ?? "")]),
                at: .discovery,
                call: 2
            )
            let arrival = try await scene.arrive()
            scene.service.clock.advance(by: 61)
            let later = try await scene.arrive()
            #expect(scene.tenant.requests(.discovery).count == 2)
            let reply = try await scene.finish(arrival)
            reply.expectOK()
            #expect(scene.tenant.requests(.token).count == 1)
            #expect(evil.requests(.token).isEmpty)
            // The one that began afterwards does go there.
            try await scene.refuses(Messages.clientRejected) { try await scene.finish(later) }
            #expect(scene.tenant.requests(.token).count == 1)
            #expect(evil.requests(.token).count == 1)
        }
    }

    // MARK: Whose code it is

    @Test("T-B4: a stolen code in another person's flow fails the proof key")
    func codeInjection() async throws {
        var options = ProviderScene.Options()
        options.expectsViolations = true
        for kind in Kind.allCases where kind.usesPKCE {
            try await ProviderScene.run(kind, options) { scene in
                let victim = try await scene.arrive()
                scene.tenant.everyLogin(scene.addGrace())
                let attacker = try await scene.arrive()
                try await scene.refuses(Messages.usedCode) {
                    try await scene.finish(attacker.with("code", victim.fields["code"]))
                }
                #expect(scene.tenant.violations.map(\.rule) == [.pkce])
                #expect(try await scene.finish(victim)["email"] == "ada@example.com")
            }
        }
    }

    @Test("T-B4: without a proof key, the nonce tells", arguments: [Kind.oidc, .yahoo, .slack])
    func codeInjectionWithoutProofKey(_ kind: Kind) async throws {
        var options = ProviderScene.Options()
        options.personality = { $0.pkce = .refused }
        try await ProviderScene.run(kind, options) { scene in
            let victim = try await scene.arrive()
            #expect(victim.request["code_challenge"] == nil)
            let attacker = try await scene.arrive()
            try await scene.refuses(Messages.otherNonce) {
                try await scene.finish(attacker.with("code", victim.fields["code"]))
            }
        }
    }

    // MARK: Forced linking

    @Test("T-A14: a link flow that another client started is not finished here")
    func forcedLink() async throws {
        try await ProviderScene.run(.oidc) { scene in
            let victim = try await scene.service.signUp("victim@example.com")
            scene.secrets.add("victim@example.com")
            // The attacker starts a link flow, signs in at the provider, and has the victim's browser finish it.
            let arrival = try await scene.arrive(["authType": "linkViaPopup"])
            let victims = try await scene.arrive(["authType": "linkViaPopup"])
            for sessionID in [nil, victims.sessionID, "guess"] as [String?] {
                try await scene.refuses(Messages.usedFlow) {
                    try await scene.service.finishFlow(
                        at: arrival.callback,
                        sessionID: sessionID,
                        idToken: victim.idToken
                    )
                }
            }
            let account = try await scene.service.account(victim.localID)
            #expect(account?["providerUserInfo"]?.array?.count == 1, "the password alone")
            let linked = try await scene.finish(arrival, idToken: victim.idToken)
            #expect(linked.localID == victim.localID, "the client that started may: \(linked)")
        }
    }

    // MARK: Support

    private func addSecondProvider(to scene: ProviderScene) async throws -> (provider: ProviderID, tenant: TestTenant) {
        let tenant = try await TestProvider.tenant(.genericOIDC, name: "second")
        tenant.addClient(secrets: ["second-secret"], redirects: .anyLocal)
        tenant.everyLogin(tenant.addUser(TestUser("eve-1", email: "eve@example.com")))
        let provider = ProviderID("oidc.second")
        try await scene.service.configure(tenant.configuration(as: provider))
        return (provider, tenant)
    }
}
