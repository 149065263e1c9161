import Development
import Domain
import Foundation
import Projects
import Secrets
import StrictJSON
import Testing
import TestKit

/// The rows of the fault table that look the same at every provider, for each kind of them; a service per kind.
@Suite("Faults, for each kind of provider", .database, .testProvider)
struct EveryKindFaultTests {
    typealias Kind = ProviderScene.Kind

    private static func run(
        _ kind: Kind,
        expectsViolations: Bool = false,
        _ body: @Sendable (ProviderScene) async throws -> Void
    ) async throws {
        var options = ProviderScene.Options()
        options.definition = kind.codeAlone
        options.expectsViolations = expectsViolations
        try await ProviderScene.run(kind, options, body)
    }

    /// A sign-in that ends in a refusal: nothing is left, the flow is over, its code was sent once.
    private static func refuses(
        _ name: String,
        _ message: String,
        in scene: ProviderScene,
        arm: (ProviderScene) -> Void
    ) async throws {
        scene.tenant.removeFaults()
        let arrival = try await scene.arrive()
        let exchanges = scene.tenant.requests(.token).count
        arm(scene)
        let reply = try await scene.refuses(nil) { try await scene.finish(arrival) }
        #expect(reply.error?.hasPrefix(message) == true, "\(scene.kind), \(name): \(reply)")
        try await scene.refuses(Messages.usedFlow) { try await scene.finish(arrival) }
        #expect(scene.tenant.requests(.token).count == exchanges + 1, "\(scene.kind), \(name): a code is sent once")
        #expect(scene.tenant.unusedFaults.isEmpty)
    }

    // MARK: The token endpoint

    @Test(
        "4.1, 4.3: a broken or refusing token endpoint signs no one in; one that is merely unusual does",
        arguments: Kind.allCases
    )
    func tokenEndpoint(_ kind: Kind) async throws {
        try await Self.run(kind) { scene in
            for test in TokenFaults.all(kind) {
                if let message = test.message {
                    try await Self.refuses(test.name, message, in: scene) { $0.tenant.addFault(test.fault, at: .token) }
                    continue
                }
                scene.tenant.removeFaults()
                let arrival = try await scene.arrive()
                scene.tenant.addFault(test.fault, at: .token)
                let reply = try await scene.finish(arrival)
                #expect(reply.status == 200, "\(kind), \(test.name): \(reply)")
                #expect(scene.tenant.unusedFaults.isEmpty)
            }
            scene.tenant.removeFaults()
            #expect(try await scene.signIn().status == 200, "the service goes on")
            try await scene.service.send("GET", "/readyz").expectOK()
        }
    }

    // MARK: The ID token

    private static let audience = "INVALID_IDP_RESPONSE : The audience in ID Token ["
    private static let issuer = "INVALID_IDP_RESPONSE : The issuer in ID Token "
    private static let stale = "INVALID_IDP_RESPONSE : ID Token issued at "
    private static let nobody = "INVALID_IDP_RESPONSE : ID Token does not contain user's identity in 'sub' claim: "

    private static func idTokens(_ scene: ProviderScene) throws -> [(String, IDTokenChanges, String)] {
        let now = scene.service.clock.seconds
        let key = try scene.tenant.signingKey()
        return [
            ("alg none", .unsigned(), Messages.badSignature),
            ("alg NONE", .unsigned(algorithm: "NONE"), Messages.badSignature),
            ("no signature", IDTokenChanges(signature: .empty), Messages.badSignature),
            ("a MAC under the public key", .hmac(Array(key.publicKeyPEM.utf8)), Messages.badSignature),
            ("a MAC under nothing", .hmac([]), Messages.badSignature),
            ("unknown crit", IDTokenChanges(header: ["crit": ["exp"]]), Messages.badSignature),
            (
                "two parts", .rewritten { $0.split(separator: ".").prefix(2).joined(separator: ".") },
                Messages.unparsable
            ),
            ("encrypted", .rewritten { $0 + ".AAAA.BBBB" }, Messages.unparsable),
            ("another issuer", IDTokenChanges(set: ["iss": "https://evil.example"]), issuer),
            ("no issuer", IDTokenChanges(remove: ["iss"]), issuer),
            ("another audience", IDTokenChanges(set: ["aud": "another-app"], remove: ["azp"]), audience),
            ("no audience", IDTokenChanges(remove: ["aud", "azp"]), audience),
            (
                "a foreign party", IDTokenChanges(set: ["aud": ["client", "another-app"], "azp": "another-app"]),
                "INVALID_IDP_RESPONSE : The authorized party (azp) in ID Token another-app: add it to audiences."
            ),
            ("expired", IDTokenChanges(set: ["exp": .integer(now - 61)]), stale),
            ("no end", IDTokenChanges(remove: ["exp"]), stale),
            ("of the future", IDTokenChanges(set: ["iat": .integer(now + 600)]), stale),
            ("another nonce", IDTokenChanges(set: ["nonce": "another"]), Messages.otherNonce),
            ("no nonce", IDTokenChanges(remove: ["nonce"]), Messages.otherNonce),
            (
                "another access token's hash", IDTokenChanges(set: ["at_hash": "AAAAAAAAAAAAAAAAAAAAAA"]),
                Messages.badHash
            ),
            ("no subject", IDTokenChanges(remove: ["sub"]), nobody),
            ("empty subject", IDTokenChanges(set: ["sub": ""]), nobody),
            ("subject as a number", IDTokenChanges(set: ["sub": 1]), nobody),
            (
                "long subject", IDTokenChanges(set: ["sub": .string(String(repeating: "a", count: 300))]), nobody
            ),
            ("a logout token", IDTokenChanges(set: ["events": [:]]), Messages.badSignature),
        ]
    }

    @Test("4.4: an ID token with any fault signs no one in", arguments: Kind.allCases.filter(\.isOpenID))
    func idToken(_ kind: Kind) async throws {
        try await Self.run(kind) { scene in
            for (name, changes, message) in try Self.idTokens(scene) {
                // It is asked for none, because it repeats none.
                if name == "no nonce", kind == .linkedIn { continue }
                scene.tenant.nextLogin(ScriptedLogin(scene.ada, idToken: changes))
                try await Self.refuses(name, message, in: scene) { _ in }
            }
            // Mix-up: the token of another tenant of the same software.
            let evil = try await TestProvider.tenant(kind.personality, name: "evil")
            let foreign = try evil.mintIDToken(for: scene.ada)
            scene.tenant.nextLogin(ScriptedLogin(scene.ada, idToken: .rewritten { _ in foreign }))
            try await Self.refuses("another tenant's", "INVALID_IDP_RESPONSE : ", in: scene) { _ in }
            #expect(evil.requests().isEmpty)
            try await scene.signIn().expectOK()
        }
    }

    // MARK: The profile

    @Test(
        "4.5: a profile that is the proof must be there, and be one",
        arguments: Kind.allCases.filter { !$0.isOpenID }
    )
    func requiredProfile(_ kind: Kind) async throws {
        try await Self.run(kind) { scene in
            for (fault, message) in [
                (.status(401), Messages.accessTokenRejected), (.status(403), Messages.accessTokenRejected),
                (.status(500), Messages.providerDown), (.status(429), Messages.providerDown),
                (.reset, Messages.providerDown), (.resetInBody, Messages.providerDown),
                (.redirect(to: "/elsewhere"), Messages.providerDown),
                (.body(Array("{}".utf8)), Messages.invalidAnswer), (.body(Array("[]".utf8)), Messages.invalidAnswer),
                (.body(Array("<html>".utf8), contentType: "text/html"), Messages.invalidAnswer),
                (.body(Array(#"{"id":"1","id":"2"}"#.utf8)), Messages.invalidAnswer),
                (.body([UInt8](repeating: 0x20, count: 1 << 20)), Messages.providerDown),
            ] as [(ProviderFault, String)] {
                try await Self.refuses("\(fault)", message, in: scene) { $0.tenant.addFault(fault, at: .userinfo) }
            }
            scene.tenant.removeFaults()
            try await scene.signIn().expectOK()
        }
    }

    @Test(
        "4.5: a profile beside an ID token may be missing, but not another person's",
        // The others' ID token says it all.
        arguments: Kind.allCases.filter { $0.isOpenID && $0.hasProfile && ![.google, .line].contains($0) }
    )
    func optionalProfile(_ kind: Kind) async throws {
        try await Self.run(kind) { scene in
            let user = try await scene.signIn()
            try #require(!scene.tenant.requests(.userinfo).isEmpty)
            for fault in [
                .status(401), .status(403), .status(500), .reset, .redirect(to: "/elsewhere"), .body(Array("[]".utf8)),
                .body(Array("eyJhbGciOiJub25lIn0.e30.".utf8), contentType: "application/jwt"),
                .members(remove: ["email"]), .members(set: ["x": 1]), .body([UInt8](repeating: 0x20, count: 1 << 20)),
            ] as [ProviderFault] {
                scene.tenant.addFault(fault, at: .userinfo)
                #expect(try await scene.signIn().localID == user.localID, "\(fault)")
                #expect(scene.tenant.unusedFaults.isEmpty)
                scene.tenant.removeFaults()
            }
            for fault in [.members(set: ["sub": "eve"]), .members(remove: ["sub"])] as [ProviderFault] {
                // Graph's `/me` has no `sub` anyway.
                if kind == .microsoft, case .members(_, ["sub"]) = fault { continue }
                try await Self.refuses("\(fault)", Messages.invalidAnswer, in: scene) {
                    $0.tenant.addFault(fault, at: .userinfo)
                }
            }
        }
    }

    // MARK: At the same time

    /// The service of a scene and another node of it.
    private static func withTwoNodes(
        _ kind: Kind,
        _ body: @Sendable (ProviderScene, [TestService]) async throws -> Void
    ) async throws {
        try await run(kind) { scene in
            var options = TestService.Options()
            options.project = scene.service.project
            options.clock = scene.service.clock
            try await TestService.run(options) { try await body(scene, [scene.service, $0]) }
        }
    }

    /// Finishes sign-ins at once, on the nodes in turn.
    private static func finish(
        _ arrivals: [Arrival],
        on nodes: [TestService],
        idTokens: [String?] = [],
        in scene: ProviderScene
    ) async throws -> [Reply] {
        let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
            for (index, arrival) in arrivals.enumerated() {
                let (node, idToken) = (nodes[index % nodes.count], idTokens.isEmpty ? nil : idTokens[index])
                group.addTask {
                    try await node.finishFlow(at: arrival.callback, sessionID: arrival.sessionID, idToken: idToken)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for reply in replies { scene.secrets.add(from: reply) }
        return replies
    }

    @Test("4.6: first sign-ins of one person at once make one account with one identity", arguments: Kind.allCases)
    func firstSignIns(_ kind: Kind) async throws {
        try await Self.withTwoNodes(kind) { scene, nodes in
            var arrivals: [Arrival] = []
            for _ in 0..<8 { arrivals.append(try await scene.arrive()) }
            let replies = try await Self.finish(arrivals, on: nodes, in: scene)
            #expect(replies.map(\.status) == replies.map { _ in 200 }, "\(replies)")
            #expect(Set(replies.map(\.localID)).count == 1)
            #expect(replies.count { $0["isNewUser"] == true } == 1)
            #expect(try await scene.service.account(replies.first?.localID)?.providers == [kind.rawValue])
            #expect(try await scene.service.admin("accounts:batchGet")["users"]?.array?.count == 1)
        }
    }

    @Test("4.6: of people who link one identity at once, one gets it and the others are told", arguments: Kind.allCases)
    func links(_ kind: Kind) async throws {
        try await Self.withTwoNodes(kind) { scene, nodes in
            var (arrivals, users): ([Arrival], [Reply]) = ([], [])
            for number in 0..<4 {
                users.append(try await scene.service.signUp("rival-\(number)@example.com"))
                arrivals.append(try await scene.arrive())
            }
            let replies = try await Self.finish(arrivals, on: nodes, idTokens: users.map(\.idToken), in: scene)
            let winners = replies.compactMap { $0.idToken == nil ? nil : $0.localID }
            #expect(winners.count == 1, "\(replies)")
            for reply in replies where reply.idToken == nil {
                #expect(reply["errorMessage"] == "FEDERATED_USER_ID_ALREADY_LINKED", "\(reply)")
            }
            for user in users {
                let providers = try await scene.service.account(user.localID)?.providers.sorted()
                let expected =
                    winners == [user.localID].compactMap(\.self) ? ["password", kind.rawValue].sorted() : ["password"]
                #expect(providers == expected)
            }
        }
    }

    @Test(
        "4.6: an account that is deleted while its code is exchanged gets neither session nor identity",
        arguments: Kind.allCases
    )
    func deletedMeanwhile(_ kind: Kind) async throws {
        try await Self.run(kind) { scene in
            let user = try await scene.signIn()
            let guest = try await scene.service.call("accounts:signUp")
            scene.tenant.everyLogin(scene.addGrace())
            for (arrival, idToken) in [
                (try await scene.arrive(), guest.idToken), (try await scene.arrive(), user.idToken),
            ] {
                let gate = TestGate()
                scene.tenant.addFault(.held(gate), at: .token)
                async let held = scene.finish(arrival, idToken: idToken)
                await gate.reached()
                let localID = idToken == guest.idToken ? guest.localID : user.localID
                let deleted = try await scene.service.admin("accounts:delete", ["localId": JSON(localID)])
                deleted.expectOK()
                gate.open()
                let reply = try await held
                #expect(reply.error == "USER_NOT_FOUND", "\(reply)")
                scene.tenant.removeFaults()
            }
            #expect(try await scene.service.admin("accounts:batchGet")["users"] == nil, "no orphan")
            #expect(try await scene.signIn()["isNewUser"] == true, "the identity is free")
        }
    }

    @Test(
        "4.6: a sign-in whose identity is unlinked meanwhile does not get into that account",
        arguments: Kind.allCases
    )
    func unlinkedMeanwhile(_ kind: Kind) async throws {
        try await Self.run(kind) { scene in
            // Without an address of the provider's, nothing else leads to the account.
            let user = try await scene.service.signUp("owner@example.com")
            var nobody = scene.ada
            nobody.email = nil
            scene.tenant.everyLogin(scene.tenant.addUser(nobody))
            let linked = try await scene.finish(scene.arrive(), idToken: user.idToken)
            #expect(linked.localID == user.localID, "\(linked)")
            let arrival = try await scene.arrive()
            let gate = TestGate()
            scene.tenant.addFault(.held(gate), at: .token)
            async let held = scene.finish(arrival)
            await gate.reached()
            let unlinked = try await scene.service.call(
                "accounts:update",
                ["idToken": JSON(linked.idToken), "deleteProvider": [.string(kind.rawValue)]]
            )
            unlinked.expectOK()
            gate.open()
            let reply = try await held
            #expect(reply["isNewUser"] == true, "\(reply)")
            #expect(reply.localID != user.localID)
            #expect(try await scene.service.account(user.localID)?.providers == ["password"])
        }
    }
}
