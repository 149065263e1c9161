import Accounts
import Development
import Domain
import Foundation
import IdentityService
import Postgres
import Projects
import Storage
import Testing
import TestKit

@Suite("accounts:undoMerge", .database, .testProvider, .serialized, .timeLimit(.minutes(10)))
struct MergeUndoTests {
    /// Two accounts that one account can be: an address with GitHub, and Google, a phone and a password.
    private func merged(_ service: TestService) async throws -> Reply {
        try await service.upload(
            [
                "localId": "ada", "providerUserInfo": [["providerId": "github.com", "rawId": "g1"]],
                "photoUrl": "https://example.com/ada.png",
            ],
            [
                "localId": "eda", "email": "eda@example.com", "emailVerified": true, "rawPassword": "correct horse",
                "displayName": "Eda", "phoneNumber": .string(PhoneScene.number),
                "providerUserInfo": [["providerId": "google.com", "rawId": "o1"]],
            ]
        )
        let reply = try await service.merge("eda", into: "ada")
        reply.expectOK()
        return reply
    }

    @Test("puts everything back, once; sessions that were opened meanwhile end", .twoNodes)
    func putsBack() async throws {
        try await MergeScene.run { service in
            let merge = try await merged(service)
            let own = try await service.identity("github.com", "g1")
            let moved = try await [
                service.identity("google.com", "o1"), service.signInByPhone(PhoneScene.number),
                service.signInWithPassword("eda@example.com"),
            ]
            for reply in moved { #expect(reply.localID == "ada", "\(reply)") }
            let replies = try await inParallel(10) { _ in try await service.undo(merge) }
            let undone = try #require(replies.first { $0.status == 200 })
            for other in replies where other.status != 200 { other.expectRefused("MERGE_NOT_FOUND") }
            #expect(replies.count { $0.status == 200 } == 1)
            #expect(undone["leftProviders"] == nil, "\(undone)")
            #expect(undone["user"]?["localId"] == "ada" && undone["user"]?.providers == ["github.com"])
            #expect(undone["user"]?["email"] == nil && undone["user"]?["displayName"] == nil)
            let restored = try #require(undone["restoredUser"])
            #expect(restored["localId"] == "eda" && restored["email"] == "eda@example.com")
            #expect(restored.providers == ["google.com", "phone", "password"] && restored["disabled"] != true)
            for reply in moved {
                try await service.lookUp(reply.idToken).expectRefused("TOKEN_EXPIRED")
                #expect(try await service.refresh(reply.refreshToken).error == "TOKEN_EXPIRED")
            }
            // They may be the other user's, by what was linked since.
            try await service.lookUp(own.idToken).expectRefused("TOKEN_EXPIRED")
            #expect(try await service.identity("google.com", "o1").localID == "eda")
            #expect(try await service.signInByPhone(PhoneScene.number).localID == "eda")
            #expect(try await service.signInWithPassword("eda@example.com").localID == "eda")
            try await service.expectConsistentClaims()
        }
    }

    @Test("values changed since stay, and are named")
    func leavesChanges() async throws {
        try await MergeScene.run { service in
            let merge = try await merged(service)
            service.clock.advance(by: 60)
            func change(_ members: JSON) async throws {
                let reply = try await service.admin("accounts:update", members.merging(["localId": "ada"]))
                reply.expectOK()
            }
            // Another identity of the same provider, another number, another password, another name.
            try await change(["deleteProvider": ["google.com"]])
            try await change(["linkProviderUserInfo": ["providerId": "google.com", "rawId": "o2"]])
            try await change(["phoneNumber": .string(PhoneScene.other), "displayName": "Ada"])
            try await change(["password": "another horse"])
            let stranger = try await service.identity("google.com", "o1")
            #expect(stranger["isNewUser"] == true)
            let undone = try await service.undo(merge)
            #expect(undone["leftProviders"] == ["google.com", "password", "phone"], "\(undone)")
            let user = try #require(undone["user"])
            #expect(user.providers == ["github.com", "google.com", "phone"] && user["displayName"] == "Ada")
            #expect(user["phoneNumber"]?.string == PhoneScene.other && user["email"] == nil)
            #expect(undone["restoredUser"]?["email"] == "eda@example.com")
            #expect(undone["restoredUser"]?["providerUserInfo"] == nil)
            #expect(try await service.identity("google.com", "o1").localID == stranger.localID)
            #expect(try await service.identity("google.com", "o2").localID == "ada")
            try await service.expectConsistentClaims()
        }
    }

    @Test("T-A1: an address that its owner verified since the merge is not moved back, nor is its password")
    func provedSince() async throws {
        try await MergeScene.run { service in
            try await service.upload(
                ["localId": "ada"],
                ["localId": "eda", "email": "eda@gmail.com", "rawPassword": "correct horse"]
            )
            let merge = try await service.merge("eda", into: "ada")
            let owner = MergeScene.identity("google.com", "o1", email: "eda@gmail.com")
            let taken = try await service.signInWithIdP(postBody: owner)
            #expect(taken.localID == "ada" && taken["emailVerified"] == true, "\(taken)")
            let undone = try await service.undo(merge)
            #expect(undone["leftProviders"] == ["email", "password"], "\(undone)")
            #expect(undone["user"]?["email"] == "eda@gmail.com" && undone["user"]?.providers == ["google.com"])
            #expect(undone["restoredUser"]?["email"] == nil)
            try await service.lookUp(taken.idToken).expectRefused("TOKEN_EXPIRED")
            try await service.signInWithPassword("eda@gmail.com").expectRefused("INVALID_PASSWORD")
            try await service.expectConsistentClaims()
        }
    }

    @Test("when an admin disabled the merged account, an undo leaves both accounts disabled")
    func disabledSince() async throws {
        try await MergeScene.run { service in
            let merge = try await merged(service)
            _ = try await service.admin("accounts:update", ["localId": "eda", "disableUser": true])
            let undone = try await service.undo(merge)
            #expect(undone["user"]?["disabled"] == true && undone["restoredUser"]?["disabled"] == true)
            try await service.identity("google.com", "o1").expectRefused("USER_DISABLED")
        }
    }

    @Test("a provider's tokens go with their identity, there and back")
    func providerTokens() async throws {
        try await LinkingWorld.run { world in
            let service = world.service
            let user = try await world.keepingTokens()
            func token(_ localID: String?) async throws -> String? {
                let body: JSON = ["localId": JSON(localID), "providerId": "oidc.acme"]
                let reply = try await service.admin("accounts:providerToken", body)
                reply.expectOK()
                return reply["oauthAccessToken"]?.string
            }
            let first = try #require(try await token(user.localID))
            let other = try await world.account(["email": "other@example.com", "emailVerified": true])
            let merge = try await service.merge(user.localID, into: other)
            #expect(merge["movedProviders"] == ["oidc.acme"], "\(merge)")
            #expect(try await token(other) == first)
            #expect(try await token(user.localID) == first)
            // Renewed, the token is the account's that has it.
            service.clock.advance(by: 7_200)
            let second = try #require(try await token(other))
            #expect(second != first)
            try await service.undo(merge).expectOK()
            #expect(try await token(user.localID) == second)
            try await service.expectConsistentClaims()
        }
    }

    @Test(
        "the grant of an identity that was given up ends with the window, unless the merge was undone",
        .database,
        arguments: [false, true]
    )
    func grants(isUndone: Bool) async throws {
        // What another test left behind.
        try await TestDatabase.current.client.execute("DELETE FROM outbox")
        try await ProviderScene.run(.apple, .init()) { scene in
            let service = scene.service
            let user = try await scene.signIn()
            let other = try await service.admin("accounts", ["email": "other@example.com", "emailVerified": true])
            let merge = try await service.merge(user.localID, into: other.localID, dropping: ["apple.com"])
            #expect(merge["droppedProviders"] == ["apple.com"], "\(merge)")
            let deliveries = service.assembly.deliveries
            #expect(try await deliveries.deliverDue() == 0)
            if isUndone { #expect(try await service.undo(merge).status == 200) }
            service.clock.advance(by: 7 * 86_400 + 3_601)
            try await service.sweep()
            #expect(try await deliveries.deliverDue() == 1)
            #expect(scene.tenant.requests(.revocation).count == (isUndone ? 0 : 1))
        }
    }
}
