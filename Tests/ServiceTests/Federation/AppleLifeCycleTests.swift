import Accounts
import Development
import Domain
import Foundation
import IdentityService
import Projects
import Storage
import StrictJSON
import Testing
import TestKit

@Suite("The life of a grant at Apple", .database, .testProvider)
struct AppleLifeCycleTests {
    private static func run(
        _ options: ProviderScene.Options = .init(),
        _ body: @Sendable (ProviderScene) async throws -> Void
    ) async throws {
        try await ProviderScene.run(.apple, options, body)
    }

    // MARK: What Apple says

    @Test("R-75, R-76: a withdrawn consent ends the sessions, and a new one makes it good again")
    func consentRevoked() async throws {
        try await Self.run { scene in
            let reply = try await scene.signIn()
            #expect(try await scene.state(reply)["credentialState"] == "authorized")
            let other = try await scene.addPassword(to: reply)
            scene.service.clock.advance(by: 10)

            try await scene.notify("consent-revoked", id: "e1").expectOK()
            #expect(try await scene.service.refresh(reply.refreshToken).error == "TOKEN_EXPIRED")
            #expect(try await scene.service.refresh(other.refreshToken).status == 200, "it came in by another way")
            #expect(try await scene.state(other)["credentialState"] == "revoked")
            #expect(try await scene.stateForAdmin(reply.localID)["credentialState"] == "revoked")

            scene.service.clock.advance(by: 10)
            let again = try await scene.signIn()
            #expect(again.localID == reply.localID)
            #expect(try await scene.state(again)["credentialState"] == "authorized")
            // The same event, sent once more.
            try await scene.notify("consent-revoked", id: "e1").expectOK()
            try await scene.service.refresh(again.refreshToken).expectOK()
        }
    }

    @Test("R-75: a native sign-in makes a withdrawn consent good as well")
    func nativeReturn() async throws {
        try await Self.run { scene in
            let reply = try await scene.signIn()
            scene.service.clock.advance(by: 10)
            try await scene.notify("consent-revoked", id: "e1").expectOK()
            scene.service.clock.advance(by: 10)
            let native = try await scene.signIn(idToken: scene.tenant.mintIDToken(for: scene.ada))
            #expect(native.localID == reply.localID)
            #expect(try await scene.state(native)["credentialState"] == "authorized")
        }
    }

    @Test(
        "a deleted Apple account is unlinked, or the account goes where the project wants that",
        arguments: ["account-delete", "account-deleted"],
        [false, true]
    )
    func accountDeleted(type: String, deletes: Bool) async throws {
        var options = ProviderScene.Options()
        options.service.settings.deleteAccountsDeletedAtProvider = deletes
        try await Self.run(options) { scene in
            let reply = try await scene.signIn()
            scene.service.clock.advance(by: 10)
            try await scene.notify(type, id: "e1").expectOK()
            #expect(try await scene.service.refresh(reply.refreshToken).status == 400)
            let account = try await scene.service.account(reply.localID)
            #expect((account == nil) == deletes)
            #expect(account?["providerUserInfo"] == nil)
            // A person with another way in is never deleted by Apple.
            scene.service.clock.advance(by: 10)
            let grace = scene.addGrace()
            scene.tenant.nextLogin(grace)
            let second = try await scene.signIn()
            _ = try await scene.addPassword(to: second)
            scene.service.clock.advance(by: 10)
            try await scene.notify(type, about: grace, id: "e2").expectOK()
            let kept = try await scene.service.account(second.localID)
            #expect(kept?["providerUserInfo"]?.array?.map { $0["providerId"] } == ["password"])
        }
    }

    @Test("R-69: whether the relay passes mail on is known, as is that it is a relay")
    func forwarding() async throws {
        try await Self.run { scene in
            var ada = scene.ada
            ada.email = "q1@privaterelay.appleid.com"
            scene.tenant.everyLogin(scene.tenant.addUser(ada))
            let reply = try await scene.signIn()
            #expect(try await scene.state(reply)["isPrivateEmail"] == true)
            #expect(try await scene.state(reply)["emailForwarding"] == nil)
            try await scene.notify("email-disabled", id: "e1").expectOK()
            #expect(try await scene.state(reply)["emailForwarding"] == false)
            try await scene.notify("email-enabled", id: "e2").expectOK()
            #expect(try await scene.state(reply)["emailForwarding"] == true)
            #expect(try await scene.state(reply)["credentialState"] == "authorized")
        }
    }

    @Test("R-71: Apple's word on whether a person is real is kept and shown")
    func realUserStatus() async throws {
        try await Self.run { scene in
            let token = try scene.tenant.mintIDToken(
                for: scene.ada,
                changes: IDTokenChanges(set: ["real_user_status": 2])
            )
            let reply = try await scene.signIn(idToken: token)
            #expect(reply["rawUserInfo"]?.string?.contains(#""real_user_status":2"#) == true)
            // Later tokens have none.
            let later = try await scene.signIn()
            #expect(later.localID == reply.localID)
            #expect(try await scene.stateForAdmin(reply.localID)["realUserStatus"] == 2)
        }
    }

    @Test("R-75: who has no identity of the provider is told so")
    func notFound() async throws {
        try await Self.run { scene in
            let reply = try await scene.service.signUp("alan@example.com")
            #expect(try await scene.state(reply)["credentialState"] == "notFound")
            let missing = try await scene.service.call("accounts:credentialState", ["idToken": JSON(reply.idToken)])
            #expect(missing.error == "INVALID_PROVIDER_ID")
            let nobody = try await scene.service.call("accounts:credentialState", ["providerId": "apple.com"])
            #expect(nobody.error == "MISSING_ID_TOKEN")
        }
    }

    @Test("T-C10, T-C13: a forged, foreign, stale or wrong notification does nothing")
    func forged() async throws {
        try await Self.run { scene in
            let reply = try await scene.signIn()
            scene.service.clock.advance(by: 10)
            let forger = try TestSigningKey(kid: try scene.tenant.signingKey().kid, kind: .rs256, number: 7)
            let now = Int64(scene.service.clock.now().timeIntervalSince1970)
            let cases: [(String, IDTokenChanges)] = [
                ("another key", IDTokenChanges(key: forger)),
                ("no signature", .unsigned()),
                ("another issuer", IDTokenChanges(set: ["iss": "https://accounts.google.com"])),
                ("another app", IDTokenChanges(set: ["aud": "com.example.other"])),
                ("no audience", IDTokenChanges(remove: ["aud"])),
                ("expired", IDTokenChanges(set: ["exp": .integer(now - 61)])),
                ("from the future", IDTokenChanges(set: ["iat": .integer(now + 120)])),
                ("no id", IDTokenChanges(remove: ["jti"])),
                ("no events", IDTokenChanges(remove: ["events"])),
                ("events that are no object", IDTokenChanges(set: ["events": "x"])),
            ]
            for (name, changes) in cases {
                let refused = try await scene.notify("consent-revoked", id: "e-\(name)", changes: changes)
                #expect(refused.status == 400, "\(name): \(refused)")
            }
            for body in ["", "{}", "[]", #"{"payload":7}"#, #"{"payload":"a.b.c"}"#] {
                #expect(try await scene.notify(body).status == 400, "\(body)")
            }
            // T-C10: neither is the other.
            let idToken = try scene.tenant.mintIDToken(for: scene.ada)
            #expect(try await scene.notify(#"{"payload":"\#(idToken)"}"#).status == 400)
            let body = try scene.tenant.appleNotification("consent-revoked", about: scene.ada, id: "e9")
            let jwt = try #require(try JSON(parsing: Array(body.utf8))["payload"]?.string)
            #expect(try await scene.signIn(idToken: jwt).status == 400)
            // Nor is one that lacks nothing of the other.
            let nonce = IDTokenChanges(set: ["nonce": "n"])
            #expect(try await scene.notify("consent-revoked", id: "e8", changes: nonce).status == 400)
            let event = IDTokenChanges(set: ["events": #"{"type":"consent-revoked"}"#])
            let both = try scene.tenant.mintIDToken(for: scene.ada, changes: event)
            #expect(try await scene.signIn(idToken: both).status == 400)
            #expect(try await scene.state(reply)["credentialState"] == "authorized")
            try await scene.service.refresh(reply.refreshToken).expectOK()

            // What is Apple's own and means nothing here is taken.
            let stranger = TestUser("somebody-else")
            try await scene.notify("consent-revoked", about: stranger, id: "e10").expectOK()
            try await scene.notify("new-event-type", id: "e11").expectOK()
            let project = try await scene.service.post(
                "/v1/projects/no-such-project/notifications/apple.com",
                text: body
            )
            #expect(project.status == 400)
            let provider = try await scene.service.post(
                "/v1/projects/\(scene.service.project.id)/notifications/google.com",
                text: body
            )
            #expect(provider.status == 400)
        }
    }

    @Test("T-C13: an event that arrives late does not end a later sign-in")
    func outOfOrder() async throws {
        try await Self.run { scene in
            let before = scene.service.clock.now()
            scene.service.clock.advance(by: 10)
            let reply = try await scene.signIn()
            scene.service.clock.advance(by: 10)
            try await scene.notify("consent-revoked", id: "e1", at: before).expectOK()
            #expect(try await scene.state(reply)["credentialState"] == "authorized")
            try await scene.service.refresh(reply.refreshToken).expectOK()
            // In either shape of `events`.
            try await scene.notify("consent-revoked", id: "e2", asObject: true).expectOK()
            #expect(try await scene.service.refresh(reply.refreshToken).status == 400)
        }
    }

}

extension ProviderScene {
    /// Sends a notification as Apple would.
    fileprivate func notify(
        _ type: String,
        about user: TestUser? = nil,
        id: String,
        at date: Date? = nil,
        asObject: Bool = false,
        changes: IDTokenChanges = .none
    ) async throws -> Reply {
        try await notify(
            tenant.appleNotification(
                type,
                about: user ?? ada,
                id: id,
                at: date ?? service.clock.now(),
                asObject: asObject,
                changes: changes
            )
        )
    }

    fileprivate func notify(_ body: String) async throws -> Reply {
        try await service.post("/v1/projects/\(service.project.id)/notifications/apple.com", text: body)
    }

    func state(_ reply: Reply) async throws -> Reply {
        try await service.call(
            "accounts:credentialState",
            ["idToken": JSON(reply.idToken), "providerId": "apple.com"]
        )
    }

    fileprivate func stateForAdmin(_ localID: String?) async throws -> Reply {
        try await service.admin("accounts:credentialState", ["localId": JSON(localID), "providerId": "apple.com"])
    }

    /// Gives the account a password, and signs in with it.
    func addPassword(to reply: Reply) async throws -> Reply {
        let email = try #require(reply["email"]?.string)
        let changed = try await service.call(
            "accounts:update",
            ["idToken": JSON(reply.idToken), "password": "correct horse"]
        )
        changed.expectOK()
        let signedIn = try await service.signInWithPassword(email)
        secrets.add(from: signedIn)
        return signedIn
    }
}
