import Development
import Foundation
import Linking
import Postgres
import Projects
import Secrets
import Storage
import TestKit
import Testing

@Suite("Attacks on the flow", .database, .testProvider)
struct FlowThreatTests {
    typealias Kind = ProviderScene.Kind

    // MARK: Login CSRF and fixation

    @Test("T-B1: the right state without the client's own session id is refused", arguments: [Kind.oidc, .oauth2])
    func sessionBinding(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            let arrival = try await scene.arrive()
            let other = try await scene.arrive()
            let state = arrival.fields["state"] ?? ""
            let wrong: [String?] = [
                nil, "", "wrong", other.sessionID, state, arrival.sessionID + "A", String(arrival.sessionID.dropLast()),
                arrival.sessionID.uppercased(), SecureHash.sha256Hex(arrival.sessionID),
            ]
            for sessionID in wrong {
                try await scene.refuses(Messages.usedFlow) {
                    try await scene.service.finishFlow(at: arrival.callback, sessionID: sessionID)
                }
            }
            #expect(scene.tenant.requests(.token).isEmpty, "the code stays good for the one who started")
            #expect(try await scene.finish(arrival).status == 200)
        }
    }

    @Test("T-B1: a client may begin with the hash of its session id and end with the id itself")
    func hashedSession() async throws {
        try await ProviderScene.run(.oidc) { scene in
            let raw = "the-raw-session-id-of-an-app"
            let hash = SecureHash.sha256Hex(raw)
            for proof in [raw, hash] {
                var arrival = try await scene.arrive(["sessionId": .string(hash)])
                #expect(arrival.sessionID == hash, "echoed")
                arrival.sessionID = proof
                #expect(try await scene.finish(arrival).status == 200, "\(proof)")
            }
            // One hash, of exactly that text, in lower case.
            var arrival = try await scene.arrive(["sessionId": .string(hash)])
            for proof in [SecureHash.sha256Hex(hash), raw + " ", hash.uppercased(), raw.uppercased()] {
                arrival.sessionID = proof
                try await scene.refuses(Messages.usedFlow) { try await scene.finish(arrival) }
            }
        }
    }

    @Test("T-B1, T-B15: a state is good once", arguments: Kind.allCases)
    func reuse(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            let arrival = try await scene.arrive()
            let first = try await scene.finish(arrival)
            #expect(first.status == 200)
            for _ in 0..<3 { try await scene.refuses(Messages.usedFlow) { try await scene.finish(arrival) } }
            #expect(scene.tenant.requests(.token).count == 1)
            #expect(try await scene.service.refresh(first.refreshToken).status == 200, "the session lives on")
        }
    }

    @Test("T-B1: a state is another project's business there")
    func otherProject() async throws {
        try await ProviderScene.run(.oidc) { scene in
            let arrival = try await scene.arrive()
            let id = try #require(ProjectID(rawValue: "other-" + RandomSource.system.text(8, of: "abcdef")))
            try await scene.service.stores.configuration.createProject(id, settings: ProjectSettings())
            let key = try await scene.service.stores.configuration.createAPIKey(for: id, displayName: nil)
            try await scene.service.stores.configuration.createProvider(
                scene.tenant.configuration(as: scene.provider),
                in: Scope(project: id)
            )
            try await scene.refuses(Messages.usedFlow) {
                try await scene.service.post(
                    "/v1/accounts:signInWithIdp?key=\(key.rawValue)",
                    text: JSON.object([
                        "requestUri": .string(arrival.callback), "sessionId": .string(arrival.sessionID),
                    ]).text
                )
            }
            #expect(try await scene.finish(arrival).status == 200)
        }
    }

    @Test("T-B15: fifty callbacks at once over two nodes are one success", arguments: [Kind.oidc, .oauth2])
    func parallelReplay(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            let arrival = try await scene.arrive()
            var options = TestService.Options()
            options.project = scene.service.project
            options.clock = scene.service.clock
            let replies = try await TestService.run(options) { node in
                try await withThrowingTaskGroup(of: Reply.self) { group in
                    for index in 0..<50 {
                        let service = index % 2 == 0 ? scene.service : node
                        group.addTask {
                            try await service.finishFlow(at: arrival.callback, sessionID: arrival.sessionID)
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
            }
            for reply in replies { scene.secrets.add(from: reply) }
            #expect(replies.filter { $0.status == 200 }.count == 1)
            #expect(replies.filter { $0.error == Messages.usedFlow }.count == 49)
            #expect(scene.tenant.requests(.token).count == 1, "the code was sent once")
            let sessions = try await TestDatabase.current.client.query(
                "SELECT count(*) FROM sessions WHERE project = \(scene.service.project.id.rawValue)"
            ) { try $0.next(Int64.self) }
            #expect(sessions == [1])
        }
    }

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
                            + Data(("client:" + FormFields.encode(ProviderScene.clientSecret)).utf8)
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
            #expect(try await scene.signIn().status == 200)
        }
    }

    @Test(
        "T-B3: a wrong issuer parameter ends the flow also where none was announced",
        arguments: [Kind.oidc, .oauth2]
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
            #expect(reply.status == 200, "\(reply)")
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
        for kind in Kind.allCases {
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

    @Test("T-B4: without a proof key, the nonce tells")
    func codeInjectionWithoutProofKey() async throws {
        var options = ProviderScene.Options()
        options.personality = { $0.pkce = .refused }
        try await ProviderScene.run(.oidc, options) { scene in
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
