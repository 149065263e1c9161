import Projects
import Storage
import TestKit
import Testing

/// What one user may write with one proof, used again and again.
@Suite("Limits of an account's own requests", .database, .testProvider)
struct AccountPaceTests {
    private func run(_ limit: RateLimitKind, _ test: @Sendable (LinkingWorld) async throws -> Void) async throws {
        var options = LinkingWorld.options { $0.rateLimits[limit] = RateLimitBudget(count: 4, seconds: 3_600) }
        options.limitsRates = true
        try await TestService.run(options) { try await test(LinkingWorld($0)) }
    }

    enum Proof: CaseIterable {
        case password, provider, providerAgain, customToken
    }

    @Test(
        "T-E40: an account can be signed in to so often, whatever proves it, and then again",
        arguments: Proof.allCases
    )
    func signIns(_ proof: Proof) async throws {
        try await run(.signInsPerAccount) { world in
            let service = world.service
            let (person, other) = (world.person(), world.person("other", email: "other@example.com"))
            let account = try await TestServiceAccount.register(in: service.project.id, service.stores.configuration)
            let first = try await world.acme(person)
            @Sendable func signIn() async throws -> Reply {
                switch proof {
                case .password: try await service.signInWithPassword("ada@example.com")
                case .provider: try await world.acme(person)
                case .providerAgain: try await world.acme(person, idToken: first.idToken)
                case .customToken:
                    try await service.call(
                        "accounts:signInWithCustomToken",
                        ["token": .string(account.sign(account.payload(uid: "person-1", at: service.clock.seconds)))]
                    )
                }
            }
            if proof == .password {
                let linked: JSON = ["idToken": JSON(first.idToken), "password": "correct horse"]
                try await service.call("accounts:update", linked).expectOK()
            }
            var replies: [Reply] = []
            while replies.last?.status ?? 200 == 200, replies.count < 10 { replies.append(try await signIn()) }
            #expect((4...6).contains(replies.count), "\(replies)")
            replies.last?.expectRefused("TOO_MANY_ATTEMPTS_TRY_LATER")
            // Others are not concerned.
            try await world.acme(other).expectOK()
            service.clock.advance(by: 900)
            try await signIn().expectOK()
            try await signIn().expectRefused("TOO_MANY_ATTEMPTS_TRY_LATER")
        }
    }

    @Test("T-E40: a user changes the account so often; an ended session, or another one, takes nothing from that")
    func changes() async throws {
        try await run(.changesPerAccount) { world in
            let service = world.service
            let ended = try await service.signUp("ada@example.com")
            let user = try await service.signInWithPassword("ada@example.com")
            func rename(_ tokens: Reply, _ name: String) async throws -> Reply {
                try await service.call(
                    "accounts:update",
                    ["idToken": JSON(tokens.idToken), "displayName": .string(name)]
                )
            }
            let out: JSON = ["idToken": JSON(user.idToken), "sessionId": ended.claims["firebase"]?["sid"] ?? .null]
            try await service.call("accounts:signOut", out).expectOK()
            for _ in 0..<4 { try await rename(ended, "Eve").expectRefused("TOKEN_EXPIRED") }
            try await rename(ended, "Eve").expectRefused("TOO_MANY_ATTEMPTS_TRY_LATER")
            service.clock.advance(by: 301)
            for number in 0..<3 { #expect(try await rename(user, "Ada \(number)").status == 200) }
            try await rename(user, "Ada").expectRefused("TOO_MANY_ATTEMPTS_TRY_LATER")
            #expect(try await service.account(user.localID)?["displayName"] == "Ada 2")
            // Whoever has signed in again has changes of their own.
            let again = try await service.signInWithPassword("ada@example.com")
            try await rename(again, "Ada").expectOK()
            // Sign-outs count too, before they wait for the account.
            let none = out.merging(["idToken": JSON(again.idToken)])
            for _ in 0..<3 { #expect(try await service.call("accounts:signOut", none).status == 400) }
            try await service.call("accounts:signOut", none).expectRefused("TOO_MANY_ATTEMPTS_TRY_LATER")
        }
    }
}
