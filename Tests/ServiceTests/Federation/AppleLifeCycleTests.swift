import Accounts
import Development
import Foundation
import IdentityService
import Linking
import Postgres
import Projects
import Secrets
import Storage
import TestKit
import Testing

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

            #expect(try await scene.notify("consent-revoked", id: "e1").status == 200)
            #expect(try await scene.service.refresh(reply.refreshToken).error == "TOKEN_EXPIRED")
            #expect(try await scene.service.refresh(other.refreshToken).status == 200, "it came in by another way")
            #expect(try await scene.state(other)["credentialState"] == "revoked")
            #expect(try await scene.stateForAdmin(reply.localID)["credentialState"] == "revoked")

            scene.service.clock.advance(by: 10)
            let again = try await scene.signIn()
            #expect(again.localID == reply.localID)
            #expect(try await scene.state(again)["credentialState"] == "authorized")
            // The same event, sent once more.
            #expect(try await scene.notify("consent-revoked", id: "e1").status == 200)
            #expect(try await scene.service.refresh(again.refreshToken).status == 200)
        }
    }

    @Test("R-75: a native sign-in makes a withdrawn consent good as well")
    func nativeReturn() async throws {
        try await Self.run { scene in
            let reply = try await scene.signIn()
            scene.service.clock.advance(by: 10)
            #expect(try await scene.notify("consent-revoked", id: "e1").status == 200)
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
            #expect(try await scene.notify(type, id: "e1").status == 200)
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
            #expect(try await scene.notify(type, about: grace, id: "e2").status == 200)
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
            #expect(try await scene.notify("email-disabled", id: "e1").status == 200)
            #expect(try await scene.state(reply)["emailForwarding"] == false)
            #expect(try await scene.notify("email-enabled", id: "e2").status == 200)
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
            #expect(try await scene.service.refresh(reply.refreshToken).status == 200)

            // What is Apple's own and means nothing here is taken.
            let stranger = TestUser("somebody-else")
            #expect(try await scene.notify("consent-revoked", about: stranger, id: "e10").status == 200)
            #expect(try await scene.notify("new-event-type", id: "e11").status == 200)
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

    @Test("T-C13: an event that comes late is overtaken by the sign-in after it")
    func outOfOrder() async throws {
        try await Self.run { scene in
            let before = scene.service.clock.now()
            scene.service.clock.advance(by: 10)
            let reply = try await scene.signIn()
            scene.service.clock.advance(by: 10)
            #expect(try await scene.notify("consent-revoked", id: "e1", at: before).status == 200)
            #expect(try await scene.state(reply)["credentialState"] == "authorized")
            #expect(try await scene.service.refresh(reply.refreshToken).status == 200)
            // In either shape of `events`.
            #expect(try await scene.notify("consent-revoked", id: "e2", asObject: true).status == 200)
            #expect(try await scene.service.refresh(reply.refreshToken).status == 400)
        }
    }

    // MARK: What Apple is told

    @Test("R-18: of Apple's tokens the refresh token alone is kept, sealed")
    func keepsTheRefreshTokenAlone() async throws {
        try await Self.run { scene in
            _ = try await scene.signIn()
            let rows = try await scene.service.stores.database.query(
                """
                SELECT tokens, refresh_token FROM linked_credentials
                WHERE project = \(scene.service.project.id.rawValue)
                """
            ) { row in (try row.next([UInt8]?.self), try row.next([UInt8]?.self)) }
            #expect(rows.count == 1)
            #expect(rows.first?.0 == nil)
            let sealed = String(decoding: rows.first?.1 ?? [], as: UTF8.self)
            #expect(!sealed.isEmpty)
            #expect(!sealed.contains(try #require(scene.tenant.refreshTokens.first)))
        }
    }

    @Test("revokeToken ends a grant by whatever the app has of it", arguments: ["1", "ACCESS_TOKEN", "3"])
    func revokeToken(type: String) async throws {
        try await Self.run { scene in
            let bundle = "com.example.app"
            scene.tenant.addClient(bundle, redirects: .anyLocal)
            let change = try await scene.service.admin(
                "defaultSupportedIdpConfigs/apple.com?updateMask=appleSignInConfig",
                ["appleSignInConfig": ["bundleIds": [.string(bundle)]]],
                method: "PATCH",
                version: "v2"
            )
            #expect(change.status == 200, "\(change)")
            let reply = try await scene.signIn(idToken: scene.tenant.mintIDToken(for: scene.ada, client: bundle))
            #expect(reply.status == 200, "\(reply)")
            let token =
                switch type {
                case "1": scene.tenant.mintRefreshToken(for: scene.ada, client: bundle)
                case "3": scene.tenant.mintCode(for: scene.ada, client: bundle, redirectURI: nil)
                default: scene.tenant.mintAccessToken(for: scene.ada, client: bundle)
                }
            scene.secrets.add(token)
            func revoke(_ idToken: String?) async throws -> Reply {
                try await scene.service.post(
                    "/v2/accounts:revokeToken?key=\(scene.service.apiKey)",
                    text: JSON.object([
                        "providerId": "apple.com", "tokenType": .string(type), "token": .string(token),
                        "idToken": JSON(idToken),
                    ]).text
                )
            }
            let done = try await revoke(reply.idToken)
            #expect(done.status == 200, "\(done)")
            let request = try #require(scene.tenant.requests(.revocation).first)
            #expect(request.fields["client_id"] == bundle)
            #expect(request.fields["token_type_hint"] == (type == "ACCESS_TOKEN" ? "access_token" : "refresh_token"))
            #expect(try await scene.state(reply)["credentialState"] == "revoked")
            #expect(try await scene.service.refresh(reply.refreshToken).status == 200, "the app goes on to delete")
        }
    }

    @Test("revokeToken refuses what is not there to be revoked, and says when Apple cannot be asked")
    func refusedRevocation() async throws {
        var options = ProviderScene.Options()
        options.expectsViolations = true
        try await Self.run(options) { scene in
            let reply = try await scene.signIn()
            func revoke(_ body: JSON) async throws -> Reply {
                try await scene.service.post(
                    "/v2/accounts:revokeToken?key=\(scene.service.apiKey)",
                    text: body.text
                )
            }
            let stranger = try await scene.service.signUp("alan@example.com")
            let token = JSON(reply.idToken)
            for (body, code) in [
                (["providerId": "apple.com", "tokenType": 3, "token": "x"], "MISSING_ID_TOKEN"),
                (["providerId": "apple.com", "tokenType": 3, "idToken": token], "INVALID_ARGUMENT"),
                (["providerId": "apple.com", "token": "x", "idToken": token], "INVALID_ARGUMENT"),
                (["tokenType": 3, "token": "x", "idToken": token], "INVALID_PROVIDER_ID"),
                (
                    ["providerId": "apple.com", "tokenType": 3, "token": "x", "idToken": JSON(stranger.idToken)],
                    "INVALID_PROVIDER_ID"
                ),
                (["providerId": "apple.com", "tokenType": 3, "token": "x", "idToken": token], "INVALID_IDP_RESPONSE"),
            ] as [(JSON, String)] {
                let refused = try await revoke(body)
                #expect(refused.status == 400)
                #expect(refused.code == code, "\(refused)")
            }
            scene.tenant.addFault(.status(500), at: .revocation)
            let down = try await revoke([
                "providerId": "apple.com", "tokenType": 2, "token": "some-token", "idToken": token,
            ])
            #expect(down.status == 400)
            #expect(down.code == "INVALID_IDP_RESPONSE")
            #expect(try await scene.state(reply)["credentialState"] == "authorized")
        }
    }

    @Test("R-66: after the permission was removed and given again, the name that comes again is taken")
    func nameComesAgain() async throws {
        try await Self.run { scene in
            let first = try await scene.arrive()
            let reply = try await scene.finish(first.with("user", nil))
            #expect(try await scene.service.account(reply.localID)?["displayName"] == nil)
            scene.tenant.revokeGrant(of: scene.ada)
            let second = try await scene.arrive()
            #expect(second.fields["user"] != nil)
            #expect(try await scene.finish(second)["displayName"] == "Ada")
            let account = try await scene.service.account(reply.localID)
            #expect(account?["displayName"] == "Ada")
            #expect(account?["providerUserInfo"]?[0]?["displayName"] == "Ada")
            // A name that the person chose here stays.
            let signedIn = try await scene.signIn()
            let renamed = try await scene.service.call(
                "accounts:update",
                ["idToken": JSON(signedIn.idToken), "displayName": "Countess"]
            )
            #expect(renamed.status == 200)
            scene.tenant.revokeGrant(of: scene.ada)
            #expect(try await scene.signIn().localID == reply.localID)
            #expect(try await scene.service.account(reply.localID)?["displayName"] == "Countess")
        }
    }

    @Test("R-66, R-67: a name that came with a conflict is there when the conflict is resolved")
    func nameThroughConflict() async throws {
        var options = ProviderScene.Options()
        options.definition = ["emailTrust": "never"]
        try await Self.run(options) { scene in
            let holder = try await scene.service.signUp("ada@example.com")
            let conflict = try await scene.signIn()
            #expect(conflict["needConfirmation"] == true, "\(conflict)")
            let linked = try await scene.service.signInWithIdP(
                postBody: "",
                idToken: holder.idToken,
                pendingToken: conflict.pendingToken
            )
            scene.secrets.add(from: linked)
            #expect(linked.status == 200, "\(linked)")
            #expect(try await scene.service.account(holder.localID)?["displayName"] == "Ada")
            #expect(scene.tenant.requests(.token).count == 1, "Apple was not asked again")
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

    fileprivate func state(_ reply: Reply) async throws -> Reply {
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
        #expect(changed.status == 200, "\(changed)")
        let signedIn = try await service.signInWithPassword(email)
        secrets.add(from: signedIn)
        return signedIn
    }
}
