import Foundation
import Postgres
import Projects
import Secrets
import Storage
import TestKit
import Testing
import Text

/// What a page does that sends its visitor's browser to the authorization endpoint, and what a thief does with one secret.
@Suite("Visits that nobody meant", .database)
struct OAuthVisitTests {
    private var database: PostgresClient { TestDatabase.current.client }

    /// What a visit might write.
    private func rows(_ project: ProjectID) async throws -> String? {
        try await database.query(
            """
            SELECT concat_ws(' ',
                (SELECT count(*) FROM sessions WHERE project = \(project.rawValue)),
                (SELECT count(*) FROM sessions WHERE project = \(project.rawValue) AND revoked_at IS NOT NULL),
                (SELECT count(*) FROM flows WHERE project = \(project.rawValue)),
                (SELECT count(*) FROM audit_log WHERE project = \(project.rawValue)),
                (SELECT count(*) FROM outbox WHERE project = \(project.rawValue)))
            """
        ) { try $0.next(String.self) }.first
    }

    private func session(_ scene: OAuthScene) -> String { "identity-session-\(scene.service.project.number)" }

    /// A visit without following it.
    private func visit(
        _ scene: OAuthScene,
        _ change: [(String, String?)] = [],
        _ headers: [(String, String)] = []
    ) async throws -> (reply: Reply, query: FormFields) {
        let cookies = scene.browser.cookies(at: scene.service.baseURL).map { [("Cookie", $0)] } ?? []
        let named = headers.contains { $0.0 == "Cookie" }
        let reply = try await scene.service.send("GET", scene.path(change), headers: headers + (named ? [] : cookies))
        let location = reply.response.header("location").flatMap { URLParts($0)?.query }
        return (reply, FormFields(location ?? ""))
    }

    @Test("T-F25: 200 silent visits end nothing, write nothing but the limit, and are answered a hundred times")
    func manyVisits() async throws {
        var options = try LimitScene.options { settings in
            settings.oauth.isEnabled = true
            settings.delivery.webhook = WebhookEndpoint(
                url: "https://hook.example/",
                types: [.grantCreated, .grantEnded],
                secrets: [Secret("whsec_" + Data(repeating: 0x5A, count: 24).base64EncodedString())]
            )
        }
        options.ownPages = true
        try await TestService.run(options) { service in
            let scene = try await OAuthScene.register(OAuthScene.publicClient(["trusted": true]), at: service)
            _ = try await service.signUp(OAuthScene.email)
            let kept = try await scene.redeem(scene.signIn(on: scene.open()).query["code"])
            let before = try await rows(service.project.id)
            var answers: [String: Int] = [:]
            var last: String?
            for _ in 0..<200 {
                let query = try await visit(scene, [("prompt", "none")]).query
                last = query["code"] ?? last
                answers[query["error"] ?? "code", default: 0] += 1
            }
            #expect(answers == ["code": 100, "consent_required": 100])
            #expect(try await rows(service.project.id) == before)
            try await scene.refresh(kept.refreshToken).expectOK()
            // The session begins when its code is redeemed.
            try await scene.redeem(last).expectOK()
            #expect(try await rows(service.project.id) != before)
            // The user is asked, and a click counts as the user's.
            #expect(try await scene.open().heading == "Allow access?")
            let clicked = try await visit(scene, [("prompt", "none")], [("Sec-Fetch-User", "?1")])
            #expect(clicked.query["code"] != nil, "\(clicked.reply)")
            // Anybody can write the header, so it counts too.
            var clicks: [String: Int] = [:]
            for _ in 0..<100 {
                let query = try await visit(scene, [("prompt", "none")], [("Sec-Fetch-User", "?1")]).query
                clicks[query["error"] ?? "code", default: 0] += 1
            }
            #expect(clicks == ["code": 99, "consent_required": 1])
        }
    }

    @Test("T-F25: an image, a script or a request of another page is no visit")
    func noNavigation() async throws {
        try await OAuthScene.run(OAuthScene.publicClient(["trusted": true])) { scene in
            _ = try await scene.service.signUp(OAuthScene.email)
            _ = try await scene.signIn(on: scene.open())
            for mode in ["no-cors", "cors", "same-origin"] {
                let reply = try await visit(
                    scene,
                    [("prompt", "none")],
                    [("Sec-Fetch-Mode", mode), ("Sec-Fetch-Site", "same-site")]
                ).reply
                #expect(reply.status == 400 && reply.response.header("set-cookie") == nil, "\(mode): \(reply)")
            }
            #expect(try await visit(scene, [], [("Sec-Fetch-Mode", "navigate")]).query["code"] != nil)
        }
    }

    @Test("T-F4: a code that nobody has redeemed ends with the browser's session, and with its minute")
    func unredeemed() async throws {
        try await OAuthScene.run(OAuthScene.publicClient(["trusted": true])) { scene in
            let user = try await scene.service.signUp(OAuthScene.email)
            let code = try await scene.signIn(on: scene.open()).query["code"]
            let late = try await scene.open().query["code"]
            scene.service.clock.advance(by: 60)
            #expect(try await scene.redeem(late).oauthError == "invalid_grant")
            let ended = try await scene.open().query["code"]
            let all: JSON = ["idToken": JSON(user.idToken), "scope": "all"]
            try await scene.service.call("accounts:signOut", all).expectOK()
            for code in [code, ended, "x", (ended ?? "") + "A"] {
                #expect(try await scene.redeem(code).oauthError == "invalid_grant")
            }
        }
    }

    // MARK: Cookies

    @Test("T-F26: a refresh token is no browser's cookie, and a cookie is no refresh token")
    func otherKinds() async throws {
        try await OAuthScene.run(OAuthScene.publicClient(["trusted": true])) { scene in
            let user = try await scene.service.signUp(OAuthScene.email)
            let granted = try await scene.redeem(scene.signIn(on: scene.open()).query["code"])
            let cookie = try #require(scene.browser.cookie(session(scene), at: scene.service.baseURL))
            let before = try await rows(scene.service.project.id)
            for token in [user.refreshToken, granted.refreshToken, "x", cookie + "A"] {
                let tried = try await visit(
                    scene,
                    [("prompt", "none")],
                    [("Cookie", "\(session(scene))=\(token ?? "")")]
                )
                #expect(tried.query["error"] == "login_required" && tried.query["code"] == nil, "\(tried.reply)")
            }
            #expect(try await scene.service.refresh(cookie).code == "INVALID_REFRESH_TOKEN")
            #expect(try await scene.refresh(cookie).oauthError == "invalid_grant")
            #expect(try await rows(scene.service.project.id) == before)
            // None of it has used anything up.
            #expect(try await scene.open([("prompt", "none")]).query["code"] != nil)
            try await scene.service.refresh(user.refreshToken).expectOK()
            try await scene.refresh(granted.refreshToken).expectOK()
        }
    }

    @Test("T-F29: a POST of another site comes again by GET, with the cookies that it lacked, and removes none")
    func crossSitePost() async throws {
        try await OAuthScene.run(OAuthScene.publicClient(["trusted": true])) { scene in
            _ = try await scene.service.signUp(OAuthScene.email)
            _ = try await scene.signIn(on: scene.open())
            let reply = try await scene.service.send(
                "POST",
                "/\(scene.service.project.id)/oauth/authorize",
                headers: [
                    ("Content-Type", "application/x-www-form-urlencoded"), ("Sec-Fetch-Site", "cross-site"),
                    ("Origin", "https://tea.example.com"),
                ],
                body: Array(FormFields(pairs: scene.parameters()).text.utf8)
            )
            #expect(reply.status == 303 && reply.response.header("set-cookie") == nil, "\(reply)")
            let url = try #require(reply.response.header("location"))
            #expect(try await scene.browser.open(url, until: ["https://"]).query["code"] != nil, "\(url)")
            // No cookie says nothing of what the browser has.
            let bare = try await visit(scene, [], [("Cookie", "other=1")]).reply
            #expect(!bare.response.headers.contains { $0.value.contains(session(scene)) }, "\(bare)")
            // One that came and is worth nothing is removed.
            let wrong = try await visit(scene, [], [("Cookie", "\(session(scene))=x")]).reply
            #expect(wrong.response.headers.contains { $0.value.hasPrefix("\(session(scene))=; ") }, "\(wrong)")
            let long = scene.parameters([("state", String(repeating: "s", count: 20_000))])
            let refused = try await scene.service.send(
                "POST",
                "/\(scene.service.project.id)/oauth/authorize",
                headers: [("Content-Type", "application/x-www-form-urlencoded")],
                body: Array(FormFields(pairs: long).text.utf8)
            )
            #expect(refused.status == 400 && refused.response.text.contains("invalid_request"), "\(refused)")
        }
    }

    /// The browsers' sessions that have not ended.
    private func browsers(_ project: ProjectID) async throws -> Int64? {
        try await database.query(
            """
            SELECT count(*) FROM sessions
            WHERE project = \(project.rawValue) AND browser_session = session AND revoked_at IS NULL
            """
        ) { try $0.next(Int64.self) }.first
    }

    /// What the authorization endpoint says to a cookie.
    private func answer(to cookie: String, _ scene: OAuthScene) async throws -> String {
        let change = [("prompt", Optional("none")), ("scope", "openid email")]
        let query = try await visit(scene, change, [("Cookie", "\(session(scene))=\(cookie)")]).query
        return query["error"] ?? "code"
    }

    @Test("T-F33: a browser's session ends when another takes its place, and what it led to goes on with that one")
    func replaced() async throws {
        try await OAuthScene.run(OAuthScene.publicClient(["trusted": true])) { scene in
            let project = scene.service.project.id
            for email in [OAuthScene.email, "grace@example.com"] { _ = try await scene.service.signUp(email) }
            func cookie() throws -> String {
                try #require(scene.browser.cookie(session(scene), at: scene.service.baseURL))
            }
            let scope = ("scope", Optional("openid email"))
            let grant = try await scene.redeem(scene.signIn(on: scene.open([scope])).query["code"])
            let first = try cookie()
            #expect(try await answer(to: first, scene) == "code")
            _ = try await scene.signIn(on: scene.open([scope, ("prompt", "login")]))
            let second = try cookie()
            #expect(try await answer(to: first, scene) == "login_required")
            #expect(try await answer(to: second, scene) == "code")
            #expect(try await browsers(project) == 1)
            try await scene.userInfo(grant.accessToken).expectOK()
            // Signing out at the browser ends what both led to.
            let page = try await scene.browser.open("\(scene.issuer)/oauth/logout")
            _ = try await scene.press("signOut", on: page)
            #expect(try await scene.userInfo(grant.accessToken).oauthError == "invalid_token")
            #expect(try await browsers(project) == 0)

            // Another user's session takes the place too, but what was granted stays its owner's.
            let later = try await scene.redeem(scene.signIn(on: scene.open([scope])).query["code"])
            let third = try cookie()
            let consent = try await scene.open([scope, ("prompt", "consent")])
            let other = try await scene.press("changeAccount", on: consent)
            _ = try await scene.signIn(on: other, email: "grace@example.com")
            #expect(try await answer(to: third, scene) == "login_required")
            #expect(try await browsers(project) == 1)
            try await scene.userInfo(later.accessToken).expectOK()
        }
    }

    @Test("T-F33: a browser's session ends thirty days after its sign-in, however often it is used", .database)
    func old() async throws {
        try await OAuthScene.run(OAuthScene.publicClient(["trusted": true])) { scene in
            _ = try await scene.service.signUp(OAuthScene.email)
            _ = try await scene.signIn(on: scene.open())
            let cookie = try #require(scene.browser.cookie(session(scene), at: scene.service.baseURL))
            scene.service.clock.advance(by: 20 * 86_400)
            #expect(try await answer(to: cookie, scene) == "code")
            scene.service.clock.advance(by: 10 * 86_400 - 1)
            let code = try await scene.open([("scope", "openid email")]).query["code"]
            #expect(code != nil)
            try await scene.service.sweep()
            #expect(try await browsers(scene.service.project.id) == 1)
            scene.service.clock.advance(by: 1)
            #expect(try await answer(to: cookie, scene) == "login_required")
            #expect(try await scene.redeem(code).oauthError == "invalid_grant")
            // Lists show it until then.
            try await scene.service.sweep()
            #expect(try await browsers(scene.service.project.id) == 0)
        }
    }

    // MARK: Clients that an admin deletes

    /// The grants that have not ended.
    private func grants(_ project: ProjectID) async throws -> Int64? {
        try await database.query(
            "SELECT count(*) FROM sessions WHERE project = \(project.rawValue) AND client IS NOT NULL AND revoked_at IS NULL"
        ) { try $0.next(Int64.self) }.first
    }

    @Test("T-F35: a client's deletion ends its users' grants, and no code is redeemed meanwhile")
    func deleted() async throws {
        try await OAuthScene.run { scene in
            let project = scene.service.project.id
            let other = try await OAuthScene.register(OAuthScene.publicClient(), at: scene.service)
            try await scene.tokens().expectOK()
            let kept = try await other.redeem(other.press("allow", on: other.signIn(on: other.open())).query["code"])
            #expect(try await grants(project) == 2)
            let path = "oauthClients/\(scene.clientID)"
            try await scene.service.admin(path, method: "DELETE", version: "v2").expectOK()
            #expect(try await grants(project) == 1)
            try await other.refresh(kept.refreshToken).expectOK()

            // This node does not know yet that it is gone.
            let code = try await other.open([("scope", "openid email")]).query["code"]
            let client = other.clientID
            let reply = try await Race.run(scene.service) { transaction in
                try await transaction.execute(
                    "DELETE FROM oauth_clients WHERE project = \(project.rawValue) AND client = \(client)"
                )
            } _: {
                try await other.redeem(code)
            }
            #expect(reply.oauthError == "invalid_grant", "\(reply)")
            #expect(try await grants(project) == 1, "the kept one, whose client no admin deleted here")
        }
    }

    @Test("T-E11: a client with many grants is deleted at once, and its grants end in portions", .database)
    func deletedInPortions() async throws {
        try await OAuthScene.run { scene in
            let project = scene.service.project.id
            let tokens = try await scene.tokens()
            try await database.execute(
                """
                INSERT INTO sessions (project, account, session, tenant, secret_hash, auth_time, sign_in_provider,
                    created_at, last_used_at, client, application_grant)
                SELECT s.project, s.account, 'old' || lpad(n::text, 19, '0'), s.tenant, s.secret_hash, s.auth_time,
                    s.sign_in_provider, s.created_at, s.last_used_at, s.client, s.application_grant
                FROM sessions s, generate_series(1, 10500) n
                WHERE s.project = \(project.rawValue) AND s.client IS NOT NULL
                """
            )
            let path = "oauthClients/\(scene.clientID)"
            try await scene.service.admin(path, method: "DELETE", version: "v2").expectOK()
            // The rest is of no use any more, and ends with the next sweep.
            #expect(try await grants(project) == 501)
            #expect(try await scene.refresh(tokens.refreshToken).oauthError == "invalid_client")
            try await scene.service.sweep()
            #expect(try await grants(project) == 0)
            #expect(try await database.query("SELECT FROM ended_clients") { _ in true }.isEmpty)
        }
    }

    // MARK: Strangers' clients

    @Test("T-F27: no error leads to the address of a client that a stranger registered")
    func openRedirector() async throws {
        try await OAuthScene.run {
            $0.oauth.allowsRegistration = true
        } _: { admins in
            _ = try await admins.service.signUp(OAuthScene.email)
            let path = "/\(admins.service.project.id)/oauth/register"
            let made = try await admins.service.post(path, text: OAuthScene.publicClient().text)
            var scene = admins
            scene.clientID = try #require(made["client_id"]?.string)
            let errors: [[(String, String?)]] = [
                [("prompt", "none")], [("response_type", "token")], [("code_challenge", nil)], [("resource", "/x")],
                [("prompt", "x")],
            ]
            for change in errors {
                let tried = try await visit(scene, change).reply
                #expect(tried.status == 400 && tried.response.header("location") == nil, "\(change): \(tried)")
                #expect(!tried.response.text.contains("tea.example.com"), "\(change)")
                // The user of one that asked for no page learns what to do.
                let advises = tried.response.text.contains("start the sign-in there")
                #expect(advises == (change.first?.1 == "none"), "\(change): \(tried)")
                #expect(try await visit(admins, change).query["error"] != nil, "an admin vouches for its own")
            }
            let consent = try await scene.signIn(on: scene.open())
            let denied = try await scene.press("deny", on: consent)
            #expect(denied.heading == "Access refused" && denied.leadsTo == nil, "\(denied.url)")
            #expect(denied.text.contains("error=access_denied"), "the user may still go there")
            // Who has agreed leads there.
            #expect(try await scene.press("allow", on: consent).query["code"] != nil)
        }
    }

    // MARK: Sensitive

    @Test("T-F28: an old session lets no new application in, and none while the user is away")
    func oldSession() async throws {
        try await OAuthScene.run { scene in
            _ = try await scene.service.signUp(OAuthScene.email)
            let consent = try await scene.signIn(on: scene.open([("scope", "openid email")]))
            try await scene.redeem(scene.press("allow", on: consent).query["code"]).expectOK()
            var other = try await OAuthScene.register(OAuthScene.publicClient(), at: scene.service)
            var own = try await OAuthScene.register(OAuthScene.publicClient(["trusted": true]), at: scene.service)
            (other.browser, own.browser) = (scene.browser, scene.browser)
            #expect(try await other.open([("scope", "openid")]).heading == "Allow access?")
            #expect(try await own.open().query["code"] != nil)
            scene.service.clock.advance(by: 301)
            for (scene, scope, isSensitive) in [
                (scene, "openid email", false), (scene, "openid email offline_access", true),
                (scene, "tea.brew", true), (own, "openid", false), (own, "openid offline_access", true),
                (own, "tea.brew", true), (other, "openid", true),
            ] {
                let silent = try await scene.open([("scope", scope), ("prompt", "none")])
                #expect(silent.query["error"] == (isSensitive ? "login_required" : nil), "\(scope): \(silent.url)")
                let page = try await scene.open([("scope", scope)])
                #expect((page.heading == "Sign in") == isSensitive, "\(scope): \(page.url)")
            }
            // A sign-in for the request is recent until its end.
            let page = try await other.signIn(on: other.open())
            scene.service.clock.advance(by: 301)
            #expect(try await other.press("allow", on: page).query["code"] != nil)
        }
    }

    @Test("T-F28: an account with a second factor lets no application in without it")
    func secondFactor() async throws {
        try await OAuthScene.run {
            $0.secondFactors.isEnabled = true
        } _: { scene in
            let user = try await scene.service.signUp(OAuthScene.email)
            let consent = try await scene.signIn(on: scene.open())
            let factor: JSON = ["enrollments": [["phoneInfo": "+15555550100"]]]
            let changed = try await scene.service.admin(
                "accounts:update",
                ["localId": JSON(user.localID), "emailVerified": true, "mfa": factor]
            )
            changed.expectOK()
            #expect(try await scene.press("allow", on: consent).heading == "Sign in")
            #expect(try await scene.open([("prompt", "none")]).query["error"] == "login_required")
        }
    }

    @Test("T-F28: what was granted through a session ends with it", arguments: ["owner", "admin"])
    func endsWithItsSession(_ who: String) async throws {
        try await OAuthScene.run { scene in
            let user = try await scene.service.signUp(OAuthScene.email)
            let elsewhere = OAuthScene(service: scene.service, clientID: scene.clientID)
            let gone = try await scene.redeem(scene.press("allow", on: scene.signIn(on: scene.open())).query["code"])
            let kept = try await elsewhere.redeem(elsewhere.signIn(on: elsewhere.open()).query["code"])
            let cookie = try #require(scene.browser.cookie(session(scene), at: scene.service.baseURL))
            let text = String(decoding: try #require(Base64URL.decode(cookie)), as: UTF8.self)
            let id = JSON(text.split(separator: ".").dropLast().last.map { String($0) })
            let signOut: JSON = ["sessionId": id, "scope": "session"]
            let reply =
                who == "owner"
                ? try await scene.service.call("accounts:signOut", signOut.merging(["idToken": JSON(user.idToken)]))
                : try await scene.service.admin("accounts:signOut", ["sessionId": id, "localId": JSON(user.localID)])
            reply.expectOK()
            #expect(try await scene.refresh(gone.refreshToken).oauthError == "invalid_grant")
            try await elsewhere.refresh(kept.refreshToken).expectOK()
        }
    }

    // MARK: Taken away meanwhile

    @Test("T-F30: a redirect URI that was taken away gets no code, no error and no tokens")
    func redirectURITaken() async throws {
        try await OAuthScene.run { scene in
            _ = try await scene.service.signUp(OAuthScene.email)
            let consent = try await scene.signIn(on: scene.open())
            let code = try await scene.press("allow", on: consent).query["code"]
            let pushed = try await scene.post("par", scene.parameters().filter { $0.0 != "client_id" }.map { ($0, $1) })
            let path = "oauthClients/\(scene.clientID)"
            let change: JSON = ["redirect_uris": ["https://new.example.com/"]]
            try await scene.service.admin(path, change, method: "PATCH", version: "v2").expectOK()
            for answer in ["allow", "deny"] {
                let page = try await scene.press(answer, on: consent)
                #expect(page.status == 400 && !page.isStopped, "\(page.url)")
            }
            let uri = FormFields(pairs: [
                ("client_id", scene.clientID), ("request_uri", pushed["request_uri"]?.string ?? ""),
            ])
            let reply = try await scene.service.send("GET", "/\(scene.service.project.id)/oauth/authorize?\(uri.text)")
            #expect(reply.status == 400, "\(reply)")
            #expect(try await scene.redeem(code).oauthError == "invalid_grant")
        }
    }

    @Test("T-F30: a scope or resource that was taken away is in no token from then on")
    func scopeTaken() async throws {
        let tea = "https://mcp.example.com/tea"
        try await OAuthScene.run {
            $0.oauth.resources = [tea, "https://mcp.example.com/milk"]
        } _: { scene in
            func settings(_ oauth: JSON) async throws {
                let reply = try await scene.service.admin(
                    "config?updateMask=identity.oauth.scopes,identity.oauth.resources",
                    ["identity": ["oauth": oauth]],
                    method: "PATCH",
                    version: "v2"
                )
                reply.expectOK()
            }
            _ = try await scene.service.signUp(OAuthScene.email)
            let asked: [(String, String?)] = [("scope", "openid tea.brew offline_access"), ("resource", tea)]
            let consent = try await scene.signIn(on: scene.open(asked))
            let code = try await scene.press("allow", on: consent).query["code"]
            let later = try await scene.press("allow", on: consent).query["code"]
            let unused = try await scene.press("allow", on: consent).query["code"]
            let reply = try await scene.redeem(code, [("resource", tea)])
            #expect(reply["scope"]?.string == "openid tea.brew offline_access", "\(reply)")
            try await settings(["scopes": [:], "resources": [.string(tea)]])
            let narrowed = try await scene.redeem(later)
            #expect(narrowed["scope"]?.string == "openid offline_access", "\(narrowed)")
            try await settings(["scopes": [:], "resources": ["https://mcp.example.com/milk"]])
            for (reply, name) in [(reply, "refresh"), (try await scene.redeem(unused), "code")] {
                let refused =
                    name == "code" ? reply : try await scene.refresh(reply.refreshToken, [("resource", tea)])
                #expect(refused.oauthError == "invalid_target", "\(name): \(refused)")
            }
            let left = try await scene.press("allow", on: consent)
            #expect(left.query["error"] == "invalid_target", "\(left.url)")
            let plain = try await scene.refresh(narrowed.refreshToken)
            #expect(Reply.claims(of: plain.accessToken ?? "")["scope"]?.string == "openid offline_access", "\(plain)")
        }
    }

    // MARK: Tokens

    @Test("an access token is for one resource or for userinfo, never for both")
    func oneAudience() async throws {
        let (tea, milk) = ("https://mcp.example.com/tea", "https://mcp.example.com/milk")
        try await OAuthScene.run { scene in
            let code = try await scene.authorize([("resource", tea)]).query["code"]
            let first = try await scene.redeem(code)
            #expect(Reply.claims(of: first.accessToken ?? "")["aud"]?.string == tea, "\(first)")
            #expect(try await scene.userInfo(first.accessToken).oauthError == "invalid_token")
            let second = try await scene.refresh(first.refreshToken)
            #expect(Reply.claims(of: second.accessToken ?? "")["aud"]?.string == scene.issuer, "\(second)")
            try await scene.userInfo(second.accessToken).expectOK()
            let path = scene.path([("scope", "tea.brew"), ("resource", tea)]) + "&resource=" + milk
            let page = try await scene.browser.open(scene.service.baseURL + path)
            let both = try await scene.press("allow", on: page).query["code"]
            for wrong in [[], [("resource", Optional(tea)), ("resource", Optional(milk))]] {
                #expect(try await scene.redeem(both, wrong).oauthError == "invalid_target", "\(wrong)")
            }
            let one = try await scene.redeem(both, [("resource", milk)])
            #expect(Reply.claims(of: one.accessToken ?? "")["aud"]?.string == milk, "\(one)")
        }
    }

    @Test("T-F31: a client that registered itself learns nothing of other clients' tokens")
    func introspection() async throws {
        try await OAuthScene.run {
            $0.oauth.allowsRegistration = true
        } _: { scene in
            let reply = try await scene.tokens()
            let path = "/\(scene.service.project.id)/oauth/register"
            let made = try await scene.service.post(path, text: OAuthScene.confidentialClient().text)
            var stranger = scene
            stranger.clientID = try #require(made["client_id"]?.string)
            stranger.secret = made["client_secret"]?.string
            let seen = try await stranger.post("introspect", [("token", reply.accessToken)])
            #expect(seen.status == 200 && seen.json == ["active": false], "\(seen)")
            let own = try await stranger.redeem(stranger.press("allow", on: stranger.open()).query["code"])
            #expect(try await stranger.post("introspect", [("token", own.accessToken)])["active"] == true, "\(own)")
            let server = try await OAuthScene.register(OAuthScene.confidentialClient(), at: scene.service)
            #expect(try await server.post("introspect", [("token", reply.accessToken)])["active"] == true)
        }
    }
}
