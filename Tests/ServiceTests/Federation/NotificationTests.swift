import Crypto
import Development
import Foundation
import InMemoryLogging
import Linking
import Postgres
import Projects
import Secrets
import Storage
import TestKit
import Testing

/// What Google, GitHub, Discord and Facebook say by themselves; Apple's is in `AppleLifeCycleTests`.
@Suite("Notifications of providers", .database, .testProvider)
struct NotificationTests {
    // MARK: Google

    private static let risc = "https://schemas.openid.net/secevent/risc/event-type/"
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
            #expect(try await scene.service.refresh(again.refreshToken).status == 200)
            #expect(try await scene.state(reply.localID) == "authorized")
        }
    }

    @Test("Google: nobody signs in with a hijacked account until Google says that it is its owner's again")
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
            #expect(try await scene.signIn().status == 200)
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
            #expect(lifted.status == 200, "\(lifted)")
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
            #expect(try await scene.service.refresh(reply.refreshToken).status == 200)
            #expect(try await scene.google(Self.risc + "account-purged", id: "g9").status == 202)
            #expect(try await scene.service.account(reply.localID)?["providerUserInfo"] == nil)
        }
    }

    @Test("T-C13: what is not Google's is refused with 400; an old `exp` is none of our business")
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

    // MARK: GitHub

    @Test("GitHub: a withdrawn authorization ends the sessions; what is badly signed is refused")
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
            #expect(try await scene.github(body, secret: secret, event: "ping").status == 200)
            #expect(try await scene.service.refresh(reply.refreshToken).status == 200)
            #expect(try await scene.github(body, secret: secret).status == 200)
            #expect(try await scene.service.refresh(reply.refreshToken).status == 400)
            #expect(try await scene.state(reply.localID) == "revoked")
            // Delivered once more after the person came back.
            let again = try await scene.signIn()
            #expect(try await scene.github(body, secret: secret).status == 200)
            #expect(try await scene.service.refresh(again.refreshToken).status == 200)
        }
    }

    @Test("T-C13: a webhook of GitHub's from before the person came is not carried out when it is sent again")
    func githubFromBefore() async throws {
        try await ProviderScene.run(.github) { scene in
            let secret = try await scene.setWebhookSecret()
            let body = #"{"action":"revoked","sender":{"id":\#(scene.ada.subject),"login":"ada"}}"#
            #expect(try await scene.github(body, secret: secret).status == 200)
            let reply = try await scene.signIn()
            scene.service.clock.advance(by: 10)
            #expect(try await scene.github(body, secret: secret).status == 200)
            #expect(try await scene.service.refresh(reply.refreshToken).status == 200)
            #expect(try await scene.state(reply.localID) == "authorized")
            #expect(try await scene.github(body, secret: secret, delivery: "another").status == 200)
            #expect(try await scene.state(reply.localID) == "revoked")
        }
    }

    // MARK: Discord

    @Test("Discord: 204 for its ping and for a deauthorization, 401 for what is badly signed")
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
            #expect(try await scene.service.refresh(reply.refreshToken).status == 200)
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
            #expect(try await scene.service.refresh(second.refreshToken).status == 200)

            let lost = scene.deauthorization(at: scene.service.clock.current.addingTimeInterval(5))
            scene.service.clock.advance(by: 20)
            let third = try await scene.signIn()
            scene.service.clock.advance(by: 3_600)
            #expect(try await scene.discord(lost, key, scene.service.clock.seconds).status == 204)
            #expect(try await scene.service.refresh(third.refreshToken).status == 200)
            #expect(try await scene.state(third.localID) == "authorized")
        }
    }

    // MARK: Facebook

    @Test("Facebook: a deauthorization ends the sessions; a request for deletion unlinks and can be looked up")
    func facebook() async throws {
        try await ProviderScene.run(.facebook) { scene in
            let reply = try await scene.signIn()
            scene.service.clock.advance(by: 10)
            #expect(try await scene.facebook().status == 200)
            #expect(try await scene.service.refresh(reply.refreshToken).status == 400)
            #expect(try await scene.state(reply.localID) == "revoked")

            scene.service.clock.advance(by: 10)
            let again = try await scene.signIn()
            #expect(again.localID == reply.localID)
            scene.service.clock.advance(by: 10)
            let deletion = try await scene.facebook(path: "/deletion")
            #expect(deletion.status == 200, "\(deletion)")
            let code = try #require(deletion["confirmation_code"]?.string)
            #expect(code.count == 32 && code.allSatisfy { $0.isHexDigit })
            let path = "/v1/projects/\(scene.service.project.id)/notifications/facebook.com/deletion/"
            #expect(deletion["url"]?.string == "https://id.example.com" + path + code)
            #expect(try await scene.service.account(reply.localID)?["providerUserInfo"] == nil)
            #expect(try await scene.service.refresh(again.refreshToken).status == 400)
            let page = try await scene.service.send("GET", path + code)
            #expect(page.status == 200)
            #expect(page.response.text.contains("was deleted on <bdi>20"))
            #expect(page.response.header("content-type") == "text/html; charset=utf-8")
            #expect(try await scene.service.send("GET", path + "0000").status == 404)
            // Somebody who was never here gets a code as well.
            let stranger = try await scene.facebook(["user_id": "4711"], path: "/deletion")
            let other = try #require(stranger["confirmation_code"]?.string)
            #expect(try await scene.service.send("GET", path + other).status == 200)
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
            #expect(page.status == 200)
            #expect(page.response.text.contains("was deleted on <bdi>20"))
        }
    }

    @Test("a project that is deleted takes every row of it along")
    func deletedProject() async throws {
        try await ProviderScene.run(.facebook) { scene in
            _ = try await scene.signIn()
            scene.service.clock.advance(by: 10)
            #expect(try await scene.facebook(path: "/deletion").status == 200)
            let (database, project) = (scene.service.stores.database, scene.service.project.id)
            let tables = try await database.query(
                """
                SELECT table_name::text FROM information_schema.columns
                WHERE table_schema = current_schema() AND column_name = 'project'
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
            let future = TestJSON.integer(scene.service.clock.seconds + 120)
            let old = TestJSON.integer(scene.service.clock.seconds - 86_401)
            #expect(try await scene.facebook(secret: "another").status == 400)
            #expect(try await scene.facebook(signsDecoded: true).status == 400)
            for changes in [
                ["algorithm": "none"], ["algorithm": .null], ["user_id": "0"], ["user_id": .null],
                ["issued_at": future], ["issued_at": .null], ["issued_at": old],
                // What the SDK puts into a cookie for a sign-in.
                ["code": "AQB"], ["oauth_token": "EAA"],
            ] as [[String: TestJSON]] {
                #expect(try await scene.facebook(changes).status == 400, "\(changes)")
            }
            for body in ["", "signed_request=", "signed_request=a.b", "signed_request=a.b.c"] {
                let refused = try await scene.notify(body, type: "application/x-www-form-urlencoded")
                #expect(refused.status == 400, "\(body)")
            }
            #expect(try await scene.service.refresh(reply.refreshToken).status == 200)
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
            let reply = try await scene.google(Self.risc + "sessions-revoked", id: "g1")
            #expect(reply.status == 503, "\(reply)")
        }
    }
}

extension ProviderScene {
    fileprivate func notify(
        _ body: String,
        path: String = "",
        type: String = "application/json",
        headers: [(String, String)] = []
    ) async throws -> Reply {
        try await service.send(
            "POST",
            "/v1/projects/\(service.project.id)/notifications/\(provider)\(path)",
            headers: [("Content-Type", type)] + headers,
            body: Array(body.utf8)
        )
    }

    fileprivate func google(
        _ event: String,
        id: String,
        _ members: [String: TestJSON] = [:],
        changes: IDTokenChanges = .none
    ) async throws -> Reply {
        var details: TestJSON = [
            "subject": [
                "subject_type": "iss-sub", "iss": .string(tenant.issuer), "sub": .string(ada.subject),
            ]
        ]
        for (name, value) in members { details.set(name, value) }
        var changes = changes
        var claims: [String: TestJSON] = [
            "jti": .string(id), "aud": "client", "iat": .integer(service.clock.seconds),
            "events": .object([.init(event, details)]),
        ]
        claims.merge(changes.set) { $1 }
        for name in changes.remove { claims[name] = nil }
        changes.set = claims
        changes.remove.formUnion(["sub", "azp"])
        changes.header["typ"] = "secevent+jwt"
        let jwt = try tenant.mintIDToken(for: TestUser("x"), scopes: [], changes: changes)
        return try await notify(jwt, type: "application/secevent+jwt")
    }

    fileprivate func facebook(
        _ changes: [String: TestJSON] = [:],
        secret: String = ProviderScene.clientSecret,
        signsDecoded: Bool = false,
        path: String = ""
    ) async throws -> Reply {
        var payload: TestJSON = [
            "algorithm": "HMAC-SHA256", "issued_at": .integer(service.clock.seconds), "user_id": .string(ada.subject),
        ]
        for (name, value) in changes { payload.set(name, value) }
        let encoded = Base64URL.encode(payload.text.utf8)
        let code = HMAC<SHA256>.authenticationCode(
            for: Array((signsDecoded ? payload.text : encoded).utf8),
            using: SymmetricKey(data: Array(secret.utf8))
        )
        return try await notify(
            "signed_request=\(Base64URL.encode(Array(code))).\(encoded)",
            path: path,
            type: "application/x-www-form-urlencoded"
        )
    }

    fileprivate func github(
        _ body: String,
        secret: String,
        signed: String? = nil,
        algorithm: String = "sha256",
        event: String = "github_app_authorization",
        delivery: String = "72d3162e-cc78-11e3-81ab-4c9367dc0958"
    ) async throws -> Reply {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array((signed ?? body).utf8),
            using: SymmetricKey(data: Array(secret.utf8))
        )
        return try await notify(
            body,
            headers: [
                ("X-GitHub-Event", event), ("X-GitHub-Delivery", delivery),
                ("X-Hub-Signature-256", "\(algorithm)=\(Array(code).lowercaseHex)"),
            ]
        )
    }

    fileprivate func setWebhookSecret() async throws -> String {
        let secret = "webhook-s3cret"
        secrets.add(secret)
        let change = try await service.admin(
            "defaultSupportedIdpConfigs/github.com?updateMask=webhookSecret",
            ["webhookSecret": .string(secret)],
            method: "PATCH",
            version: "v2"
        )
        #expect(change.status == 200, "\(change)")
        #expect(!change.description.contains(secret))
        return secret
    }

    fileprivate func setPublicKey(_ key: Curve25519.Signing.PublicKey) async throws {
        try await setVariable("publicKey", Array(key.rawRepresentation).lowercaseHex)
    }

    fileprivate func setVariable(_ name: String, _ value: String) async throws {
        _ = try await service.stores.configuration.updateProvider(provider, in: Scope(project: service.project.id)) {
            $0.overrides = $0.overrides?.replacing(
                #""variables":{"#,
                with: #""variables":{"\#(name)":"\#(value)","#
            )
        }
    }

    /// Discord's times have microseconds and no zone.
    fileprivate func deauthorization(at date: Date) -> String {
        let time = date.formatted(.iso8601.year().month().day().time(includingFractionalSeconds: false)) + ".064834"
        return #"{"version":1,"application_id":"1","type":1,"event":{"type":"APPLICATION_DEAUTHORIZED","#
            + #""timestamp":"\#(time)","data":{"user":{"id":"\#(ada.subject)"}}}}"#
    }

    /// Why notifications were refused, by the log.
    fileprivate var refusals: [String] {
        service.logs.entries.compactMap { entry in
            guard entry.metadata["http.path"].map({ "\($0)".hasSuffix("/notifications/{provider}") }) == true else {
                return nil
            }
            return entry.metadata["error.code"] == nil
                ? nil : entry.metadata["error.cause"].map { "\($0)" } ?? "unknown"
        }
    }

    fileprivate func discord(_ body: String, _ key: Curve25519.Signing.PrivateKey, _ time: Int64) async throws -> Reply
    {
        let signature = try key.signature(for: Array("\(time)\(body)".utf8))
        return try await notify(
            body,
            headers: [
                ("X-Signature-Timestamp", "\(time)"), ("X-Signature-Ed25519", Array(signature).lowercaseHex),
            ]
        )
    }

    fileprivate func state(_ localID: String?) async throws -> String? {
        try await service.admin(
            "accounts:credentialState",
            ["localId": JSON(localID), "providerId": .string(provider.rawValue)]
        )["credentialState"]?.string
    }
}
