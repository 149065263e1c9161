import Crypto
import Development
import Domain
import Foundation
import Postgres
import Projects
import Secrets
import Storage
import StrictJSON
import Testing
import TestKit

/// What Google, GitHub, Discord and Facebook say by themselves; Apple's is in `AppleLifeCycleTests`.
@Suite("Notifications of providers", .database, .testProvider)
struct NotificationTests {
    // MARK: GitHub

    @Test("GitHub: a withdrawn authorization ends the sessions; a bad signature is refused")
    func github() async throws {
        try await ProviderScene.run(.github) { scene in
            let reply = try await scene.signIn()
            scene.service.clock.advance(by: 10)
            let body = #"{"action":"revoked","sender":{"id":\#(scene.ada.subject),"login":"ada"}}"#
            #expect(try await scene.github(body, secret: "s").error == "INVALID_NOTIFICATION")
            #expect(scene.refusals == ["notification.notSupported"])
            let secret = try await scene.setWebhookSecret()

            #expect(try await scene.github(body, secret: "another").status == 400)
            #expect(try await scene.github(body, secret: secret, signed: body + " ").status == 400)
            #expect(try await scene.github(body, secret: secret, algorithm: "sha1").status == 400)
            try await scene.github(body, secret: secret, event: "ping").expectOK()
            try await scene.service.refresh(reply.refreshToken).expectOK()
            try await scene.github(body, secret: secret).expectOK()
            #expect(try await scene.service.refresh(reply.refreshToken).status == 400)
            #expect(try await scene.state(reply.localID) == "revoked")
            // Delivered once more after the person came back.
            let again = try await scene.signIn()
            try await scene.github(body, secret: secret).expectOK()
            try await scene.service.refresh(again.refreshToken).expectOK()
        }
    }

    @Test("T-C13: a webhook of GitHub's from before the person came is not carried out when it is sent again")
    func githubFromBefore() async throws {
        try await ProviderScene.run(.github) { scene in
            let secret = try await scene.setWebhookSecret()
            let body = #"{"action":"revoked","sender":{"id":\#(scene.ada.subject),"login":"ada"}}"#
            try await scene.github(body, secret: secret).expectOK()
            let reply = try await scene.signIn()
            scene.service.clock.advance(by: 10)
            try await scene.github(body, secret: secret).expectOK()
            try await scene.service.refresh(reply.refreshToken).expectOK()
            #expect(try await scene.state(reply.localID) == "authorized")
            try await scene.github(body, secret: secret, delivery: "another").expectOK()
            #expect(try await scene.state(reply.localID) == "revoked")
        }
    }

    // MARK: Discord

    @Test("Discord: 204 for its ping and for a deauthorization, 401 for a bad signature")
    func discord() async throws {
        try await ProviderScene.run(.discord) { scene in
            let key = Curve25519.Signing.PrivateKey()
            let reply = try await scene.signIn()
            scene.service.clock.advance(by: 10)
            try await scene.setPublicKey(key.publicKey)
            let event = scene.deauthorization(at: scene.service.clock.current)
            let stranger = Curve25519.Signing.PrivateKey()
            let now = scene.service.clock.seconds
            #expect(try await scene.discord(#"{"type":0}"#, key, now).status == 204)
            #expect(try await scene.discord(#"{"type":0}"#, stranger, now).status == 401)
            #expect(try await scene.discord(event, stranger, now).status == 401)
            #expect(try await scene.discord(event, key, now - 601).status == 401)
            #expect(try await scene.notify(event).status == 401, "no signature at all")
            try await scene.service.refresh(reply.refreshToken).expectOK()
            #expect(try await scene.discord(event, key, now).status == 204)
            #expect(try await scene.service.refresh(reply.refreshToken).status == 400)
            #expect(try await scene.state(reply.localID) == "revoked")
        }
    }

    @Test("T-C13: Discord's event happened when it says, however late it arrives, and once, however often it is signed")
    func discordRedelivery() async throws {
        try await ProviderScene.run(.discord) { scene in
            let key = Curve25519.Signing.PrivateKey()
            try await scene.setPublicKey(key.publicKey)
            let first = try await scene.signIn()
            scene.service.clock.advance(by: 10)
            let event = scene.deauthorization(at: scene.service.clock.current)
            #expect(try await scene.discord(event, key, scene.service.clock.seconds).status == 204)
            #expect(try await scene.service.refresh(first.refreshToken).status == 400)
            // Within the same second, so that times do not tell.
            let second = try await scene.signIn()
            #expect(try await scene.discord(event, key, scene.service.clock.seconds + 1).status == 204)
            try await scene.service.refresh(second.refreshToken).expectOK()

            let lost = scene.deauthorization(at: scene.service.clock.current.addingTimeInterval(5))
            scene.service.clock.advance(by: 20)
            let third = try await scene.signIn()
            scene.service.clock.advance(by: 3_600)
            #expect(try await scene.discord(lost, key, scene.service.clock.seconds).status == 204)
            try await scene.service.refresh(third.refreshToken).expectOK()
            #expect(try await scene.state(third.localID) == "authorized")
        }
    }

    // MARK: Facebook

    @Test("Facebook: a deauthorization ends the sessions; a request for deletion unlinks and can be looked up")
    func facebook() async throws {
        try await ProviderScene.run(.facebook) { scene in
            let reply = try await scene.signIn()
            scene.service.clock.advance(by: 10)
            try await scene.facebook().expectOK()
            #expect(try await scene.service.refresh(reply.refreshToken).status == 400)
            #expect(try await scene.state(reply.localID) == "revoked")

            scene.service.clock.advance(by: 10)
            let again = try await scene.signIn()
            #expect(again.localID == reply.localID)
            scene.service.clock.advance(by: 10)
            let deletion = try await scene.facebook(path: "/deletion")
            deletion.expectOK()
            let code = try #require(deletion["confirmation_code"]?.string)
            #expect(code.count == 32 && code.allSatisfy { $0.isHexDigit })
            let path = "/v1/projects/\(scene.service.project.id)/notifications/facebook.com/deletion/"
            #expect(deletion["url"]?.string == "https://id.example.com" + path + code)
            #expect(try await scene.service.account(reply.localID)?["providerUserInfo"] == nil)
            #expect(try await scene.service.refresh(again.refreshToken).status == 400)
            let page = try await scene.service.send("GET", path + code)
            page.expectOK()
            #expect(page.response.text.contains("was deleted on <bdi>20"))
            #expect(page.response.header("content-type") == "text/html; charset=utf-8")
            #expect(try await scene.service.send("GET", path + "0000").status == 404)
            // Somebody who was never here gets a code as well.
            let stranger = try await scene.facebook(["user_id": "4711"], path: "/deletion")
            let other = try #require(stranger["confirmation_code"]?.string)
            try await scene.service.send("GET", path + other).expectOK()
        }
    }

    @Test("Facebook: a request for deletion has its page also when the account goes at the same moment")
    func vanishedAccount() async throws {
        try await ProviderScene.run(.facebook) { scene in
            _ = try await scene.signIn()
            // As its deletion looks to whoever found the owner of the identity before.
            try await scene.service.stores.database.execute(
                "DELETE FROM accounts WHERE project = \(scene.service.project.id.rawValue)"
            )
            let deletion = try await scene.facebook(path: "/deletion")
            let code = try #require(deletion["confirmation_code"]?.string, "\(deletion)")
            let path = "/v1/projects/\(scene.service.project.id)/notifications/facebook.com/deletion/"
            let page = try await scene.service.send("GET", path + code)
            page.expectOK()
            #expect(page.response.text.contains("was deleted on <bdi>20"))
        }
    }

    @Test("a project that is deleted takes every row of it along, but for the audit log")
    func deletedProject() async throws {
        try await ProviderScene.run(.facebook) { scene in
            _ = try await scene.signIn()
            scene.service.clock.advance(by: 10)
            try await scene.facebook(path: "/deletion").expectOK()
            let (database, project) = (scene.service.stores.database, scene.service.project.id)
            let tables = try await database.query(
                """
                SELECT table_name::text FROM information_schema.columns
                WHERE table_schema = current_schema() AND column_name = 'project'
                    AND table_name NOT LIKE 'audit%'
                """
            ) { row in try row.next(String.self) }
            #expect(tables.contains("provider_events"))
            func count(_ table: String) async throws -> Int64? {
                try await database.query(
                    "SELECT count(*) FROM \(identifier: table) WHERE project = \(project.rawValue)"
                ) { row in try row.next(Int64.self) }.first
            }
            #expect(try await count("provider_events") == 1)
            try await scene.service.stores.configuration.deleteProject(project)
            for table in tables { #expect(try await count(table) == 0, "\(table)") }
        }
    }

    @Test("T-C13: a badly signed request of Facebook is refused")
    func facebookForgeries() async throws {
        try await ProviderScene.run(.facebook) { scene in
            let reply = try await scene.signIn()
            scene.service.clock.advance(by: 10)
            let future = JSONValue.integer(scene.service.clock.seconds + 120)
            let old = JSONValue.integer(scene.service.clock.seconds - 86_401)
            #expect(try await scene.facebook(secret: "another").status == 400)
            #expect(try await scene.facebook(signsDecoded: true).status == 400)
            for changes in [
                ["algorithm": "none"], ["algorithm": .null], ["user_id": "0"], ["user_id": .null],
                ["issued_at": future], ["issued_at": .null], ["issued_at": old],
                // What the SDK puts into a cookie for a sign-in.
                ["code": "AQB"], ["oauth_token": "EAA"],
            ] as [JSONObject] {
                #expect(try await scene.facebook(changes).status == 400, "\(changes)")
            }
            for body in ["", "signed_request=", "signed_request=a.b", "signed_request=a.b.c"] {
                let refused = try await scene.notify(body, type: "application/x-www-form-urlencoded")
                #expect(refused.status == 400, "\(body)")
            }
            try await scene.service.refresh(reply.refreshToken).expectOK()
            #expect(try await scene.state(reply.localID) == "authorized")
        }
    }

    // MARK: Refusals

    @Test(
        "T-C13: whatever is wrong with a notification, everybody hears the same, and the log alone the reason",
        arguments: ProviderScene.Kind.allCases
    )
    func refusals(_ kind: ProviderScene.Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            let path = "/v1/projects/\(scene.service.project.id)/notifications/\(kind.rawValue)"
            let foreign = "/v1/projects/no-such-project/notifications/\(kind.rawValue)"
            var answers: Set<String> = []
            func refuse(_ body: String, at path: String) async throws {
                let refused = try await scene.service.post(path, text: body)
                #expect(refused.status == (kind == .discord ? 401 : 400))
                #expect(refused.error == "INVALID_NOTIFICATION")
                answers.insert(refused.response.text)
            }
            for body in ["", "{}", #"{"payload":"a.b.c"}"#, "signed_request=a.b"] {
                try await refuse(body, at: path)
            }
            try await refuse("{}", at: foreign)
            if kind == .discord {
                try await scene.setVariable("publicKey", "no key")
                try await refuse("{}", at: path)
                let reason = try #require(scene.refusals.last)
                #expect(reason.hasPrefix("provider.misconfigured: definition.variables.publicKey "))
            }
            try await scene.service.stores.configuration.deleteProvider(
                kind.provider,
                in: Scope(project: scene.service.project.id)
            )
            try await refuse("{}", at: path)
            #expect(answers.count == 1)
            #expect(scene.refusals.last == "provider.notFound")
            #expect(!scene.refusals.contains("unknown"))
        }
    }

    @Test("a notification that cannot be checked for the moment is asked for again")
    func unreachableKeys() async throws {
        try await ProviderScene.run(.google) { scene in
            scene.tenant.addFault(.status(503), at: .keys)
            let reply = try await scene.google(GoogleNotificationTests.risc + "sessions-revoked", id: "g1")
            #expect(reply.status == 503, "\(reply)")
        }
    }
}
