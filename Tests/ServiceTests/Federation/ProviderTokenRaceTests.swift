import Accounts
import Development
import Domain
import Federation
import Foundation
import IdentityService
import Outbound
import Postgres
import Projects
import Storage
import StrictJSON
import Testing
import TestKit

/// Many callers, nodes and sign-ins, one token of a provider.
@Suite("Providers' tokens: many at once", .database, .testProvider)
struct ProviderTokenRaceTests {

    @Test("R-51: 100 callers on two nodes, a refresh token that is good once: one renewal, 100 good answers")
    func together() async throws {
        var options = TestService.Options()
        options.callsOverHTTP = true
        try await TestService.runPair(options) { first, second in
            var personality = ProviderPersonality.genericOIDC
            personality.rotatesRefreshTokens = true
            let tenant = try await TestProvider.tenant(personality)
            tenant.addClient(redirects: .anyLocal)
            tenant.everyLogin(tenant.addUser(TestUser("ada", email: "ada@example.com", name: "Ada")))
            try await first.configure(tenant.configuration(as: "oidc.acme", overrides: ["keepTokens": true]))
            try await second.stores.configuration.refresh()
            let user = try await first.signIn(through: "oidc.acme")
            for round in 1...2 {
                // The second time with the token that the first renewal brought.
                first.clock.advance(by: 3_590)
                let session = try await first.refresh(user.refreshToken).idToken
                let gate = TestGate()
                tenant.addFault(.held(gate), at: .token)
                let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
                    for number in 0..<100 {
                        let node = number.isMultiple(of: 2) ? first : second
                        group.addTask { try await node.providerToken("oidc.acme", session) }
                    }
                    await gate.reached()
                    try await waitUntil {
                        [first, second].map(\.assembly.responder.requestsInFlight).reduce(0, +) == 100
                    }
                    // Nobody who waits holds a connection to the database.
                    for node in [first, second] { #expect(try await node.lookUp(session).status == 200) }
                    gate.open()
                    return try await group.reduce(into: [Reply]()) { $0.append($1) }
                }
                #expect(replies.count == 100)
                #expect(
                    replies.allSatisfy { $0.status == 200 },
                    "\(replies.first { $0.status != 200 }?.description ?? "")"
                )
                let tokens = Set(replies.map { $0["oauthAccessToken"]?.string })
                #expect(tokens.count == 1)
                #expect(tenant.requests(.token).count == 1 + round)
                let profile = try await PlainHTTP.send(
                    "GET",
                    tenant.url(.userinfo) ?? "",
                    headers: [("Authorization", "Bearer \(tokens.first.flatMap(\.self) ?? "")")]
                )
                profile.expectOK()
            }
            #expect(tenant.violations.isEmpty, "\(tenant.violations)")
        }
    }

    /// Options with which everybody who waits is counted, and waits until `goOn` is.
    private func options(counting waiting: Counter, until goOn: Counter) -> ProviderScene.Options {
        var options = ProviderScene.Options.keepingTokens()
        options.service.pause = { _ in
            waiting.increment()
            try await waitUntil { goOn.value > 0 }
        }
        return options
    }

    @Test("a request that waited for a provider that is down does not ask it again", .twoNodes)
    func sharesAFailure() async throws {
        let waiting = Counter()
        let goOn = Counter()
        try await ProviderScene.run(.oidc, options(counting: waiting, until: goOn)) { scene in
            let user = try await scene.signIn()
            scene.service.clock.advance(by: 3_590)
            let gate = TestGate()
            scene.tenant.addFault(.held(gate), at: .token)
            scene.tenant.addFault(.status(503), at: .token)
            let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
                for _ in 0..<10 { group.addTask { try await scene.providerToken(user.idToken) } }
                try await waitUntil { waiting.value == 9 }
                gate.open()
                var replies = [try #require(try await group.next())]
                goOn.increment()
                for try await reply in group { replies.append(reply) }
                return replies
            }
            for reply in replies { reply.expectRefused(Messages.providerDown) }
            #expect(scene.tenant.requests(.token).count == 2)
            try await scene.providerToken(user.idToken).expectOK()
        }
    }

    @Test("a node that died while it renewed is waited for until its lease ends")
    func deadNode() async throws {
        let waiting = Counter()
        let goOn = Counter()
        try await ProviderScene.run(.oidc, options(counting: waiting, until: goOn)) { scene in
            let user = try await scene.signIn()
            scene.service.clock.advance(by: 3_500)
            let leased = try await scene.service.stores.database.execute(
                """
                UPDATE linked_credentials SET refresh_generation = refresh_generation + 1,
                    refresh_leased_until = \(scene.service.clock.current.addingTimeInterval(60))
                WHERE project = \(scene.service.project.id.rawValue)
                """
            )
            #expect(leased == 1)
            // A token that is good needs nobody to renew it.
            try await scene.providerToken(user.idToken).expectOK()
            scene.service.clock.advance(by: 59)
            async let late = scene.providerToken(user.idToken)
            try await waitUntil { waiting.value == 1 }
            #expect(scene.tenant.requests(.token).count == 1)
            scene.service.clock.advance(by: 1)
            goOn.increment()
            let reply = try await late
            reply.expectOK()
            #expect(reply["oauthAccessToken"] != user["oauthAccessToken"])
            #expect(scene.tenant.requests(.token).count == 2)
        }
    }

    @Test("a caller that goes away does not take the provider's answer with it")
    func cancelled() async throws {
        try await ProviderScene.run(.oidc, .keepingTokens { $0.rotatesRefreshTokens = true }) { scene in
            let user = try await scene.signIn()
            scene.service.clock.advance(by: 3_590)
            let gate = TestGate()
            scene.tenant.addFault(.held(gate), at: .token)
            let operation = scene.service.assembly.accounts.providerToken
            let caller = Caller(project: scene.service.project)
            let call = Task { try await operation(idToken: user.idToken, provider: "oidc.acme", caller) }
            await gate.reached()
            call.cancel()
            gate.open()
            _ = await call.result
            let reply = try await scene.providerToken(user.idToken)
            #expect(try await scene.profileStatus(with: reply["oauthAccessToken"]?.string) == 200, "\(reply)")
            #expect(scene.tenant.requests(.token).count == 2)
        }
    }
    @Test("a sign-in while a token is renewed wins over the answer that comes late")
    func signInWins() async throws {
        try await ProviderScene.run(.oidc, .keepingTokens()) { scene in
            let user = try await scene.signIn()
            scene.service.clock.advance(by: 3_590)
            let gate = TestGate()
            scene.tenant.addFault(.held(gate), at: .token)
            async let late = scene.providerToken(user.idToken)
            await gate.reached()
            let again = try await scene.signIn()
            gate.open()
            #expect(try await late["oauthAccessToken"] == again["oauthAccessToken"])
            let token = try await scene.providerToken(again.idToken)
            #expect(token["oauthAccessToken"] == again["oauthAccessToken"])
        }
    }

}
