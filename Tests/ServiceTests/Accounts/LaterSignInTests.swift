import TestKit
import Testing

/// A session of a later sign-in, whose ID tokens and session cookies only `validSince` ends for who checks them.
@Suite("Ending later sign-ins", .database)
struct LaterSignInTests {
    private struct Scene {
        let service: TestService
        let owner: Reply
        let thief: Reply

        func validSince() async throws -> Double {
            try #require(try await service.account(owner.localID)?["validSince"]?.string.flatMap(Double.init))
        }

        /// Whether who checks the thief's cookie learns that it is revoked.
        func refusesThief() async throws -> Bool {
            try await validSince() > (try #require(thief.claims["auth_time"]?.number))
        }

        func signOut(_ tokens: Reply, _ scope: String) async throws -> Reply {
            try await service.call("accounts:signOut", ["idToken": JSON(tokens.idToken), "scope": .string(scope)])
        }
    }

    private func run(_ test: @Sendable (Scene) async throws -> Void) async throws {
        try await TestService.run { service in
            let owner = try await service.signUp("ada@example.com")
            service.clock.advance(by: 60)
            let thief = try await service.signInWithPassword("ada@example.com")
            service.clock.advance(by: 60)
            try await test(Scene(service: service, owner: owner, thief: thief))
        }
    }

    @Test(
        "T-A2: only the newest sign-in signs out elsewhere, also after a later session ended",
        arguments: [true, false]
    )
    func signsOutElsewhere(hasEnded: Bool) async throws {
        try await run { scene in
            if hasEnded { #expect(try await scene.signOut(scene.thief, "current").status == 200) }
            try await scene.signOut(scene.owner, "others").expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            #expect(try await scene.service.refresh(scene.thief.refreshToken).status == (hasEnded ? 400 : 200))
            let again = try await scene.service.signInWithPassword("ada@example.com")
            try await scene.signOut(again, "others").expectOK()
            #expect(try await scene.refusesThief())
            try await scene.service.refresh(again.refreshToken).expectOK()
            try await scene.service.refresh(scene.thief.refreshToken).expectRefused("TOKEN_EXPIRED")
        }
    }

    @Test("T-A2: an older session ends no later one, and an old one none of the others; the newest may")
    func endsEarlierOnes() async throws {
        try await run { scene in
            let owners: JSON = scene.owner.claims["firebase"]?["sid"] ?? .null
            func end(_ session: JSON, by tokens: Reply) async throws -> Reply {
                try await scene.service.call(
                    "accounts:signOut",
                    ["idToken": JSON(tokens.idToken), "sessionId": session]
                )
            }
            // The thief's is the older one here.
            let owner = try await scene.service.signInWithPassword("ada@example.com")
            let newest: JSON = owner.claims["firebase"]?["sid"] ?? .null
            try await end(newest, by: scene.thief).expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            try await end(owners, by: scene.thief).expectOK()
            scene.service.clock.advance(by: 301)
            try await scene.signOut(owner, "others").expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            try await end(scene.thief.claims["firebase"]?["sid"] ?? .null, by: owner).expectOK()
            try await scene.service.lookUp(owner.idToken).expectOK()
        }
    }

    @Test(
        "T-A2: a new password ends later sign-ins too, and its own session goes on",
        arguments: [true, false]
    )
    func changes(hasEnded: Bool) async throws {
        try await run { scene in
            if hasEnded { #expect(try await scene.signOut(scene.thief, "current").status == 200) }
            let changed = try await scene.service.call(
                "accounts:update",
                ["idToken": JSON(scene.owner.idToken), "returnSecureToken": true, "password": "another horse"]
            )
            changed.expectOK()
            #expect(try await scene.refusesThief())
            let began = try #require(changed.claims["auth_time"]?.number)
            #expect(try await began >= scene.validSince())
            try await scene.service.lookUp(changed.idToken).expectOK()
            let refreshed = try await scene.service.refresh(changed.refreshToken)
            #expect(refreshed.claims["auth_time"]?.number == began)
        }
    }

    @Test(
        "T-A2: no session ends later ones by validSince alone, and becomes recent once more",
        arguments: [true, false]
    )
    func validSince(hasEnded: Bool) async throws {
        try await run { scene in
            func end(_ tokens: Reply) async throws -> Reply {
                try await scene.service.call(
                    "accounts:update",
                    ["idToken": JSON(tokens.idToken), "validSince": "1", "returnSecureToken": true]
                )
            }
            // The thief's is the older one here.
            let owner = try await scene.service.signInWithPassword("ada@example.com")
            if hasEnded { #expect(try await scene.signOut(owner, "current").status == 200) }
            try await end(scene.thief).expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            if !hasEnded { #expect(try await scene.service.refresh(owner.refreshToken).status == 200) }
            scene.service.clock.advance(by: 60)
            let newest = try await scene.service.signInWithPassword("ada@example.com")
            let ended = try await end(newest)
            ended.expectOK()
            try await scene.service.refresh(ended.refreshToken).expectOK()
            try await scene.service.refresh(scene.thief.refreshToken).expectRefused("TOKEN_EXPIRED")
        }
    }

    @Test("T-A2: an import over an account that was deleted does not take its cookies")
    func imports() async throws {
        try await run { scene in
            try await scene.service.admin("accounts:delete", ["localId": JSON(scene.owner.localID)])
            let users: JSON = [["localId": JSON(scene.owner.localID), "email": "ada@example.com"]]
            try await scene.service.admin("accounts:batchCreate", ["users": users]).expectOK()
            #expect(try await scene.refusesThief())
        }
    }
}
