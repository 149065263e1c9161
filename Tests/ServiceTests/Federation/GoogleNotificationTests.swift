import Development
import Domain
import Foundation
import Projects
import Storage
import StrictJSON
import Testing
import TestKit

@Suite("Notifications of Google", .database, .testProvider)
struct GoogleNotificationTests {
    static let risc = "https://schemas.openid.net/secevent/risc/event-type/"
    private static let oauth = "https://schemas.openid.net/secevent/oauth/event-type/"

    @Test(
        "Google: sessions and tokens that were revoked there end here, with 202",
        arguments: [(risc + "sessions-revoked", "authorized"), (oauth + "tokens-revoked", "revoked")]
    )
    func googleRevocations(event: String, state: String) async throws {
        try await ProviderScene.run(.google) { scene in
            let reply = try await scene.signIn()
            scene.service.clock.advance(by: 10)
            #expect(try await scene.google(event, id: "g1").status == 202)
            #expect(try await scene.service.refresh(reply.refreshToken).status == 400)
            #expect(try await scene.state(reply.localID) == state)
            scene.service.clock.advance(by: 10)
            let again = try await scene.signIn(idToken: scene.tenant.mintIDToken(for: scene.ada))
            #expect(again.localID == reply.localID)
            #expect(try await scene.google(event, id: "g1").status == 202, "the same event again")
            try await scene.service.refresh(again.refreshToken).expectOK()
            #expect(try await scene.state(reply.localID) == "authorized")
        }
    }

    @Test("Google: a hijacked account cannot sign in until Google reports it secured")
    func googleHijacking() async throws {
        try await ProviderScene.run(.google) { scene in
            let reply = try await scene.signIn()
            scene.service.clock.advance(by: 10)
            let hijacked = try await scene.google(Self.risc + "account-disabled", id: "g1", ["reason": "hijacking"])
            #expect(hijacked.status == 202)
            #expect(try await scene.service.refresh(reply.refreshToken).status == 400)
            #expect(try await scene.signIn().error == "USER_DISABLED")
            let native = try await scene.signIn(idToken: scene.tenant.mintIDToken(for: scene.ada))
            #expect(native.error == "USER_DISABLED")
            #expect(try await scene.google(Self.risc + "account-enabled", id: "g2").status == 202)
            #expect(try await scene.signIn().localID == reply.localID)
            // Disabled for another reason: Google lets nobody in by itself.
            let bulk = try await scene.google(Self.risc + "account-disabled", id: "g3", ["reason": "bulk-account"])
            #expect(bulk.status == 202)
            try await scene.signIn().expectOK()
        }
    }

    @Test(
        "T-C13: revoked sessions are those that Google opened, also if they went on with another method; a hijacking ends all"
    )
    func endsContinuedSessions() async throws {
        let options = ProviderScene.Options(service: PhoneScene.options())
        try await ProviderScene.run(.google, options) { scene in
            let reply = try await scene.signIn()
            let number = try await scene.service.code(to: "+16505550113")
            let linked = try await scene.service.signInByPhone(number.body(["idToken": JSON(reply.idToken)]))
            #expect(linked.claims["firebase"]?["sign_in_provider"] == "phone", "\(linked)")
            let other = try await scene.service.signInByPhone("+16505550113")
            scene.service.clock.advance(by: 10)
            #expect(try await scene.google(Self.risc + "sessions-revoked", id: "c1").status == 202)
            #expect(try await scene.service.refresh(linked.refreshToken).error == "TOKEN_EXPIRED")
            try await scene.service.refresh(other.refreshToken).expectOK()
            let hijacked = try await scene.google(Self.risc + "account-disabled", id: "c2", ["reason": "hijacking"])
            #expect(hijacked.status == 202)
            #expect(try await scene.service.refresh(other.refreshToken).error == "TOKEN_EXPIRED")
            let validSince = try await scene.service.account(reply.localID)?["validSince"]?.string.flatMap(Double.init)
            #expect(try #require(validSince) > (other.claims["auth_time"]?.number ?? .infinity))
        }
    }

    @Test("T-C13: Google's later word on a hijacked account counts, whichever arrives first, and an admin's as well")
    func googleOrder() async throws {
        try await ProviderScene.run(.google) { scene in
            let reply = try await scene.signIn()
            scene.service.clock.advance(by: 100)
            let now = scene.service.clock.seconds
            func hijacked(_ id: String, at time: Int64) async throws {
                let changes = IDTokenChanges(set: ["iat": .integer(time)])
                let event = Self.risc + "account-disabled"
                let taken = try await scene.google(event, id: id, ["reason": "hijacking"], changes: changes)
                #expect(taken.status == 202, "\(taken)")
            }
            func restored(_ id: String, at time: Int64) async throws {
                let changes = IDTokenChanges(set: ["iat": .integer(time)])
                #expect(try await scene.google(Self.risc + "account-enabled", id: id, changes: changes).status == 202)
            }
            try await restored("g1", at: now - 20)
            try await hijacked("g2", at: now - 30)
            #expect(try await scene.signIn().localID == reply.localID, "it is its owner's again")
            try await hijacked("g3", at: now - 10)
            try await restored("g4", at: now - 15)
            #expect(try await scene.signIn().error == "USER_DISABLED", "it was taken again")

            let lifted = try await scene.service.admin(
                "accounts:update",
                ["localId": JSON(reply.localID), "unblockProvider": ["google.com"]]
            )
            lifted.expectOK()
            #expect(try await scene.signIn().localID == reply.localID)
            try await hijacked("g5", at: now - 5)
            #expect(try await scene.signIn().status == 200, "the admin spoke last")
            try await hijacked("g6", at: now + 1)
            #expect(try await scene.signIn().error == "USER_DISABLED")
        }
    }

    @Test("Google: an account that is gone there is unlinked; a test event and unknown ones are taken")
    func googleOthers() async throws {
        try await ProviderScene.run(.google) { scene in
            let reply = try await scene.signIn()
            scene.service.clock.advance(by: 10)
            for event in ["verification", "account-credential-change-required", "something-new"] {
                #expect(try await scene.google(Self.risc + event, id: event, ["state": "test"]).status == 202)
            }
            try await scene.service.refresh(reply.refreshToken).expectOK()
            #expect(try await scene.google(Self.risc + "account-purged", id: "g9").status == 202)
            #expect(try await scene.service.account(reply.localID)?["providerUserInfo"] == nil)
        }
    }

    @Test("T-C13: tokens not from Google are refused with 400; an old `exp` is ignored")
    func googleForgeries() async throws {
        try await ProviderScene.run(.google) { scene in
            let reply = try await scene.signIn()
            scene.service.clock.advance(by: 10)
            let forger = try TestSigningKey(kid: try scene.tenant.signingKey().kid, kind: .rs256, number: 7)
            let now = scene.service.clock.seconds
            for (name, changes) in [
                ("another key", IDTokenChanges(key: forger)), ("no signature", .unsigned()),
                ("another issuer", IDTokenChanges(set: ["iss": "https://evil.example"])),
                ("another app", IDTokenChanges(set: ["aud": "another"])),
                ("from the future", IDTokenChanges(set: ["iat": .integer(now + 120)])),
                ("no id", IDTokenChanges(remove: ["jti"])), ("no events", IDTokenChanges(remove: ["events"])),
            ] as [(String, IDTokenChanges)] {
                let refused = try await scene.google(Self.oauth + "tokens-revoked", id: "f-\(name)", changes: changes)
                #expect(refused.status == 400, "\(name): \(refused)")
            }
            let idToken = try scene.tenant.mintIDToken(for: scene.ada)
            #expect(try await scene.notify(idToken, type: "application/secevent+jwt").status == 400)
            #expect(try await scene.state(reply.localID) == "authorized")
            let old = IDTokenChanges(set: ["exp": .integer(now - 86_400)])
            #expect(try await scene.google(Self.oauth + "tokens-revoked", id: "g1", changes: old).status == 202)
            #expect(try await scene.state(reply.localID) == "revoked")
        }
    }

}
