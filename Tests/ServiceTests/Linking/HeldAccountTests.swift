import Development
import Domain
import StrictJSON
import Testing
import TestKit

@Suite("Accounts whose address a provider asserts", .database, .testProvider, .serialized)
struct HeldAccountTests {
    @Test("R-35, T-A6: the address is proven", arguments: HeldAccount.all)
    func proven(held: HeldAccount) async throws {
        try await LinkingWorld.run { world in
            let owner = try await held.make(world)
            let before = try #require(try await world.service.account(owner))
            #expect(before["emailVerified"] == .bool(held.verified))
            var oldSessions: [Reply] = []
            if !held.disabled {
                for way in held.ways {
                    let reply = try await way.tryIt(world)
                    reply.expectSignedIn(as: owner)
                    oldSessions.append(reply)
                }
            }
            world.service.clock.advance(by: 5)
            let reply = try await world.acme(world.person())
            if held.disabled {
                reply.expectRefused("USER_DISABLED")
                #expect(try await world.service.account(owner) == before)
                return
            }
            reply.expectSignedIn(as: owner)
            #expect(reply["emailVerified"] == true)
            #expect(reply["emailRecycled"] == (held.recycled && held.verified ? true : nil))
            let after = try #require(try await world.service.account(owner))
            #expect(after["emailVerified"] == true)
            #expect(after["email"] == "ada@example.com")
            #expect(after["customAttributes"] == before["customAttributes"])
            #expect(reply.claims["role"] == (before["customAttributes"] == nil ? nil : "captain"))
            if held.verified {
                try await expectLinked(held, owner, before, after, oldSessions, world)
            } else {
                try await expectTakenOver(held, owner, before, after, oldSessions, world)
            }
            try await world.acme(world.person()).expectSignedIn(as: owner)
        }
    }

    /// S5 and S6: everything stays, but another subject of the same provider.
    private func expectLinked(
        _ held: HeldAccount,
        _ owner: String?,
        _ before: JSON,
        _ after: JSON,
        _ oldSessions: [Reply],
        _ world: LinkingWorld
    ) async throws {
        let expected = Set(before.providers).union(["oidc.acme"])
        #expect(Set(after.providers) == expected)
        #expect(after.providers.count == expected.count)
        #expect(after["validSince"] == before["validSince"])
        #expect(after["phoneNumber"] == before["phoneNumber"])
        #expect(after["displayName"] == before["displayName"] ?? "Ada of Acme")
        for way in held.ways { try await way.tryIt(world).expectSignedIn(as: owner) }
        for session in oldSessions {
            try await world.service.refresh(session.refreshToken).expectOK()
            try await world.service.lookUp(session.idToken).expectOK()
        }
        if held.recycled {
            // The old subject has no link any more: what it asserts without proof is a conflict.
            let old = try await world.acme(world.person("R′", verified: false))
            old.expectConflict(with: owner, providers: ["oidc.acme"])
        }
    }

    /// S7: nothing of what was there lets anybody in.
    private func expectTakenOver(
        _ held: HeldAccount,
        _ owner: String?,
        _ before: JSON,
        _ after: JSON,
        _ oldSessions: [Reply],
        _ world: LinkingWorld
    ) async throws {
        #expect(after.providers == ["oidc.acme"])
        #expect(after["providerUserInfo"]?[0]?["rawId"] == "R")
        #expect(after["passwordHash"] == nil)
        #expect(after["passwordUpdatedAt"] == before["passwordUpdatedAt"])
        #expect(after["phoneNumber"] == nil)
        #expect(after["displayName"] == "Ada of Acme")
        #expect(after["validSince"]?.string == "\(world.service.clock.seconds)")
        for way in held.ways {
            let reply = try await way.tryIt(world)
            switch way {
            case .password: reply.expectRefused("INVALID_PASSWORD")
            case .github: reply.expectConflict(with: owner, providers: ["oidc.acme"])
            case .google: Issue.record("a trusted provider would have verified the address")
            }
        }
        for session in oldSessions {
            #expect(try await world.service.refresh(session.refreshToken).error == "TOKEN_EXPIRED")
            try await world.service.lookUp(session.idToken).expectRefused("TOKEN_EXPIRED")
        }
        if held.recycled {
            let old = try await world.acme(world.person("R′", verified: false))
            old.expectConflict(with: owner, providers: ["oidc.acme"])
        }
        // The number is free again.
        _ = try await world.account(["phoneNumber": "+491701234567"])
    }

    @Test("R-35: the address is not proven: a conflict, and nothing changes", arguments: HeldAccount.all)
    func notProven(held: HeldAccount) async throws {
        try await LinkingWorld.run { world in
            let owner = try await held.make(world)
            let before = try await world.service.account(owner)
            let reply = try await world.acme(world.person(verified: false))
            reply.expectConflict(with: owner, providers: held.providers)
            #expect(reply["federatedId"] == "oidc.acme/R")
            #expect(reply["providerId"] == "oidc.acme")
            #expect(reply["email"] == "ada@example.com")
            #expect(try await world.service.account(owner) == before)
            guard !held.disabled else { return }
            for way in held.ways { try await way.tryIt(world).expectSignedIn(as: owner) }
        }
    }
}
