import Accounts
import Delivery
import Development
import Foundation
import IdentityService
import Logging
import Postgres
import Projects
import Secrets
import ServiceLifecycle
import Storage
import StrictJSON
import TestKit
import Testing
import Text

/// What applications learn when a user's session with them ends (OpenID Connect Back-Channel Logout 1.0).
@Suite("Applications are told of the end", .database, .serialized)
struct OAuthLogoutTests {
    private static func run(
        _ more: [String: JSON] = [:],
        _ body: @Sendable (OAuthScene, WebReceiver) async throws -> Void
    ) async throws {
        try await WebReceiver.run { receiver in
            let members: [String: JSON] = ["backchannel_logout_uri": .string(receiver.baseURL + "/logout")]
            let client = OAuthScene.confidentialClient(members.merging(more) { $1 })
            try await OAuthScene.run(client, sendsMessages: true) { scene in try await body(scene, receiver) }
        }
    }

    /// The claims of the only message that the application got.
    private func told(_ receiver: WebReceiver) throws -> (header: JSON, claims: JSON) {
        let request = try #require(receiver.received.first)
        #expect(receiver.received.count == 1)
        #expect(request.method == "POST" && request.path == "/logout")
        #expect(request.header("content-type") == "application/x-www-form-urlencoded")
        let token = try #require(FormFields(strict: request.body)?["logout_token"])
        let parts = token.split(separator: ".").map { Base64URL.decode(String($0)) ?? [] }
        return (try JSON(parsing: parts[0]), try JSON(parsing: parts[1]))
    }

    @Test(
        "the project's webhook is told of grants and their ends",
        arguments: ["revoked by the application", "withdrawn"]
    )
    func webhooks(_ end: String) async throws {
        try await WebReceiver.run { receiver in
            receiver.answer { _ in (204, "") }
            try await OAuthScene.run(sendsMessages: true) {
                $0.delivery.webhook = WebhookEndpoint(
                    url: receiver.baseURL + "/hook",
                    types: [.grantCreated, .grantEnded],
                    secrets: [Secret("whsec_" + Data(repeating: 0x5A, count: 24).base64EncodedString())]
                )
            } _: { scene in
                let reply = try await scene.tokens()
                let sid = Reply.claims(of: reply.accessToken ?? "")["sid"]
                let user = try await scene.service.signInWithPassword(OAuthScene.email)
                let deliveries = scene.service.assembly.deliveries
                try await deliveries.deliverDue()
                if end == "withdrawn" {
                    let body: JSON = try ["idToken": JSON(user.idToken), "sessionId": #require(sid)]
                    try await scene.service.call("accounts:signOut", body).expectOK()
                } else {
                    try await scene.post("revoke", [("token", reply.refreshToken)]).expectOK()
                }
                try await deliveries.deliverDue()
                try await deliveries.deliverDue()
                let told = try receiver.received.map { try JSON(parsing: $0.body) }
                #expect(told.map { $0["type"]?.string } == ["grant.created", "grant.ended"], "\(told)")
                let ids: JSON = try [
                    "projectId": .string("\(scene.service.project.id)"), "localId": JSON(user.localID),
                    "clientId": .string(scene.clientID), "sessionId": #require(sid),
                ]
                #expect(told.last?["data"] == ids)
                let granted: JSON = ["scopes": ["openid", "email", "offline_access"], "resources": []]
                #expect(told.first?["data"] == ids.merging(granted))
            }
        }
    }

    @Test(
        "whatever ends the session sends one logout token",
        arguments: ["user", "password", "admin", "disabled and revoked", "deleted", "code used twice"]
    )
    func causes(_ cause: String) async throws {
        try await Self.run { scene, receiver in
            let answer = try await scene.authorize()
            let reply = try await scene.redeem(answer.query["code"])
            let user = try await scene.service.signInWithPassword(OAuthScene.email)
            let deliveries = scene.service.assembly.deliveries
            #expect(try await deliveries.deliverDue() == 0)
            let session = try #require(
                try await scene.service.call("accounts:listSessions", ["idToken": JSON(user.idToken)])["sessions"]?
                    .array?.first { $0["clientId"]?.string == scene.clientID }?["sessionId"]
            )
            switch cause {
            case "user":
                let fields: JSON = ["idToken": JSON(user.idToken), "scope": "session", "sessionId": session]
                try await scene.service.call("accounts:signOut", fields).expectOK()
            case "password":
                let fields: JSON = ["idToken": JSON(user.idToken), "password": "another horse"]
                try await scene.service.call("accounts:update", fields).expectOK()
            case "admin":
                let fields: JSON = [
                    "localId": JSON(user.localID), "validSince": .string("\(scene.service.clock.seconds + 1)"),
                ]
                try await scene.service.admin("accounts:update", fields).expectOK()
            case "disabled and revoked":
                let fields: JSON = [
                    "localId": JSON(user.localID), "disableUser": true,
                    "validSince": .string("\(scene.service.clock.seconds + 1)"),
                ]
                try await scene.service.admin("accounts:update", fields).expectOK()
            case "deleted":
                try await scene.service.call("accounts:delete", ["idToken": JSON(user.idToken)]).expectOK()
            default:
                #expect(try await scene.redeem(answer.query["code"]).oauthError == "invalid_grant")
            }
            #expect(try await deliveries.deliverDue() == 1)
            let (header, claims) = try told(receiver)
            #expect(header["typ"] == "logout+jwt" && header["alg"] == "RS256")
            #expect(claims["iss"]?.string == scene.issuer && claims["aud"]?.string == scene.clientID)
            #expect(claims["sub"]?.string == user.localID && claims["sid"] == session)
            #expect(claims["events"] == ["http://schemas.openid.net/event/backchannel-logout": [:]])
            #expect(claims["nonce"] == nil && claims["jti"]?.string?.isEmpty == false)
            #expect(try await deliveries.deliverDue() == 0, "once")
            reply.expectOK()
        }
    }

    @Test("T-F24: one application's ended sessions, told or not, delay no other's", arguments: [true, false])
    func fair(_ hasURI: Bool) async throws {
        try await Self.run { scene, receiver in
            let reply = try await scene.tokens()
            let others = OAuthScene.confidentialClient(
                hasURI ? ["backchannel_logout_uri": .string(receiver.baseURL + "/other")] : [:]
            )
            let other = try await OAuthScene.register(others, at: scene.service)
            try await TestDatabase.current.client.execute(
                """
                INSERT INTO sessions (project, account, session, tenant, secret_hash, auth_time, sign_in_provider,
                    created_at, last_used_at, client, application_grant, tells_client, revoked_at)
                SELECT project, account, 'old' || lpad(n::text, 19, '0'), tenant, secret_hash, auth_time,
                    sign_in_provider, created_at, last_used_at, \(other.clientID), application_grant, true,
                    created_at - make_interval(secs => n)
                FROM sessions, generate_series(1, 1200) n
                WHERE project = \(scene.service.project.id.rawValue) AND client IS NOT NULL
                """
            )
            let user = try await scene.service.signInWithPassword(OAuthScene.email)
            let all: JSON = ["idToken": JSON(user.idToken), "scope": "all"]
            try await scene.service.call("accounts:signOut", all).expectOK()
            let now = scene.service.clock.now()
            try await scene.service.stores.outbox.queueLogouts(telling: { _ in false }, now: now)
            let queued = try await TestDatabase.current.client.query(
                "SELECT count(*) FROM outbox WHERE project = \(scene.service.project.id.rawValue)"
            ) { try $0.next(Int64.self) }
            #expect(queued == [hasURI ? 501 : 1] && reply.status == 200)
            try await TestDatabase.current.client.execute(
                "DELETE FROM outbox WHERE project = \(scene.service.project.id.rawValue)"
            )
            try await TestDatabase.current.client.execute(
                "UPDATE sessions SET tells_client = false WHERE project = \(scene.service.project.id.rawValue)"
            )
        }
    }

    private struct Waiting: Equatable {
        var kind: String
        var receiver: String
    }

    /// Ended sessions of a client, as many as given.
    private static func end(_ count: Int, of client: String, like scene: OAuthScene) async throws {
        try await TestDatabase.current.client.execute(
            """
            INSERT INTO sessions (project, account, session, tenant, secret_hash, auth_time, sign_in_provider,
                created_at, last_used_at, client, application_grant, tells_client, revoked_at)
            SELECT s.project, s.account, substr(md5(\(client) || n), 1, 22), s.tenant, s.secret_hash, s.auth_time,
                s.sign_in_provider, s.created_at, s.last_used_at, \(client), s.application_grant, true, s.created_at
            FROM sessions s, generate_series(1, \(count)) n
            WHERE s.project = \(scene.service.project.id.rawValue) AND s.client IS NOT NULL AND s.revoked_at IS NULL
            """
        )
    }

    @Test(
        "T-F32: a client whose logout URI hangs holds up its own client alone, and a stranger's no admin's",
        .database,
        .timeLimit(.minutes(5)),
        arguments: [true, false]
    )
    func hanging(isVouchedFor: Bool) async throws {
        try await WebReceiver.run { receiver in
            let gate = TestGate()
            receiver.answer { request in
                if request.path == "/stalled" { await gate.pass() }
                return (204, "")
            }
            defer { gate.open() }
            @Sendable func members(_ path: String) -> [String: JSON] {
                ["backchannel_logout_uri": .string(receiver.baseURL + path)]
            }
            try await OAuthScene.run(OAuthScene.publicClient(members("/good")), sendsMessages: true) {
                $0.oauth.allowsRegistration = true
            } _: { scene in
                try await scene.tokens().expectOK()
                var hanging = scene
                let client = OAuthScene.publicClient(members("/stalled"))
                if isVouchedFor {
                    hanging = try await OAuthScene.register(client, at: scene.service)
                } else {
                    let made = try await scene.service.post(
                        "/\(scene.service.project.id)/oauth/register",
                        text: client.text
                    )
                    hanging.clientID = try #require(made["client_id"]?.string, "\(made)")
                }
                try await Self.end(100, of: hanging.clientID, like: scene)
                let group = ServiceGroup(services: [scene.service.assembly.deliveries], logger: Logger(label: "test"))
                async let running: Void = group.run()
                try await waitUntil { receiver.received.contains { $0.path == "/stalled" } }
                try await Self.end(20, of: scene.clientID, like: scene)
                // The other is not answered yet, and nothing ends it.
                try await waitUntil { receiver.received.count { $0.path == "/good" } == 20 }
                #expect(receiver.received.count { $0.path == "/stalled" } == (isVouchedFor ? 4 : 1))
                let kinds = try await TestDatabase.current.client.query(
                    """
                    SELECT DISTINCT kind, receiver FROM outbox
                    WHERE project = \(scene.service.project.id.rawValue) AND delivered_at IS NULL
                    """
                ) { Waiting(kind: try $0.next(), receiver: try $0.next()) }
                let kind = isVouchedFor ? ApplicationLogout.kind : ApplicationLogout.kindOfStrangers
                #expect(kinds.contains(Waiting(kind: kind, receiver: hanging.clientID)))
                await group.triggerGracefulShutdown()
                gate.open()
                try await running
            }
        }
    }

    @Test("a token that the application could not take is sent again, freshly signed")
    func retried() async throws {
        try await Self.run { scene, receiver in
            let reply = try await scene.tokens()
            receiver.answer(503)
            let user = try await scene.service.signInWithPassword(OAuthScene.email)
            let all: JSON = ["idToken": JSON(user.idToken), "scope": "all"]
            try await scene.service.call("accounts:signOut", all).expectOK()
            let deliveries = scene.service.assembly.deliveries
            #expect(try await deliveries.deliverDue() == 1)
            scene.service.clock.advance(by: 60)
            #expect(try await deliveries.deliverDue() == 1)
            let claims = try receiver.received.map { request in
                let token = try #require(FormFields(strict: request.body)?["logout_token"])
                return try JSON(parsing: Base64URL.decode(String(token.split(separator: ".")[1])) ?? [])
            }
            #expect(claims.count == 2 && claims[0]["jti"] == claims[1]["jti"] && claims[0]["iat"] != claims[1]["iat"])
            #expect(try await scene.refresh(reply.refreshToken).oauthError == "invalid_grant")
        }
    }

    @Test("signing out at the browser ends what it led to, except access while the user is away")
    func browser() async throws {
        try await Self.run(["post_logout_redirect_uris": ["https://tea.example.com/bye"]]) { scene, receiver in
            var other = try await OAuthScene.register(OAuthScene.confidentialClient(), at: scene.service)
            other.browser = scene.browser
            let reply = try await scene.tokens([("scope", "openid email")])
            let kept = try await other.redeem(try await other.press("allow", on: other.open()).query["code"])
            let hint = try #require(reply["id_token"]?.string)
            let query = FormFields(pairs: [
                ("id_token_hint", hint), ("post_logout_redirect_uri", "https://tea.example.com/bye"), ("state", "s-2"),
            ])
            let page = try await scene.browser.open("\(scene.issuer)/oauth/logout?" + query.text)
            let left = try await scene.press("signOut", on: page)
            #expect(left.url == "https://tea.example.com/bye?state=s-2", "\(left.url)")
            #expect(try await scene.userInfo(reply.accessToken).oauthError == "invalid_token")
            try await scene.userInfo(kept.accessToken).expectOK()
            try await other.refresh(kept.refreshToken).expectOK()
            #expect(try await scene.service.assembly.deliveries.deliverDue() == 1)
            #expect(try told(receiver).claims["aud"]?.string == scene.clientID)
        }
    }

    @Test("an application that ends its own session is not told")
    func own() async throws {
        try await Self.run { scene, receiver in
            let reply = try await scene.tokens()
            try await scene.post("revoke", [("token", reply.refreshToken)]).expectOK()
            #expect(try await scene.service.assembly.deliveries.deliverDue() == 0)
            #expect(receiver.received.isEmpty)
        }
    }
}
