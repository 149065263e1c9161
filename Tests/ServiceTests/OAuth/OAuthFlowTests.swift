import Foundation
import Projects
import TestKit
import Testing
import Text

/// A project as an OpenID provider.
@Suite("Applications that sign in with a project's accounts", .database)
struct OAuthFlowTests {
    @Test("sign in, refresh, and read the user's claims")
    func wholeWay() async throws {
        try await OAuthScene.run { scene in
            let answer = try await scene.authorize([("scope", "openid email profile offline_access tea.brew unknown")])
            #expect(answer.isStopped && answer.url.hasPrefix(OAuthScene.callback + "?"), "\(answer.text)")
            #expect(answer.query["state"] == "s-1" && answer.query["iss"] == scene.issuer)
            let reply = try await scene.redeem(answer.query["code"])
            #expect(reply.status == 200 && reply["token_type"]?.string == "Bearer", "\(reply)")
            #expect(reply["scope"]?.string == "openid email profile offline_access tea.brew")
            #expect(reply.response.header("cache-control") == "no-store")

            let idToken = Reply.claims(of: reply["id_token"]?.string ?? "")
            #expect(idToken["iss"]?.string == scene.issuer && idToken["aud"]?.string == scene.clientID)
            #expect(idToken["nonce"]?.string == "n-1" && idToken["email"]?.string == OAuthScene.email)
            #expect(idToken["amr"] == ["pwd"] && idToken["firebase"] == nil)

            let access = Reply.claims(of: reply.accessToken ?? "")
            #expect(access["client_id"]?.string == scene.clientID && access["aud"]?.string == scene.issuer)
            #expect(access["sub"] == idToken["sub"] && access["scope"] == reply["scope"])

            let user = try await scene.userInfo(reply.accessToken)
            #expect(user.status == 200 && user["sub"] == idToken["sub"], "\(user)")
            #expect(user["email"]?.string == OAuthScene.email && user["email_verified"] == false)

            let later = try await scene.refresh(reply.refreshToken)
            #expect(later.status == 200 && later.refreshToken != reply.refreshToken, "\(later)")
            #expect(Reply.claims(of: later["id_token"]?.string ?? "")["nonce"] == nil)
            try await scene.refresh(later.refreshToken).expectOK()
        }
    }

    @Test(
        "a public client may send Basic with an empty secret, no scope is no member, and no token gets a bare challenge"
    )
    func emptyMembers() async throws {
        try await OAuthScene.run { scene in
            let state = String(repeating: "s", count: 4_096)
            let answer = try await scene.authorize([("scope", nil), ("state", state)])
            #expect(answer.query["state"] == state)
            let basic = "Basic " + Data("\(scene.clientID):".utf8).base64EncodedString()
            let reply = try await scene.redeem(answer.query["code"], headers: [("Authorization", basic)])
            #expect(reply.status == 200 && reply.accessToken != nil && reply["scope"] == "", "\(reply)")
            #expect(Reply.claims(of: reply.accessToken ?? "")["scope"] == nil)
            let server = try await OAuthScene.register(OAuthScene.confidentialClient(), at: scene.service)
            let seen = try await server.post("introspect", [("token", reply.accessToken)])
            #expect(seen["active"] == true && seen["scope"] == nil, "\(seen)")
            let refused = try await scene.userInfo(reply.accessToken)
            #expect(refused.status == 403 && refused.oauthError == "insufficient_scope", "\(refused)")
            let none = try await scene.userInfo(nil)
            #expect(none.status == 401 && none.response.header("www-authenticate") == "Bearer", "\(none)")
            let wrong = try await scene.userInfo("x")
            #expect(wrong.response.header("www-authenticate") == #"Bearer error="invalid_token""#)
        }
    }

    @Test("a confidential client authenticates by header or form, and by nothing else")
    func confidential() async throws {
        try await OAuthScene.run(OAuthScene.confidentialClient()) { scene in
            let answer = try await scene.authorize()
            var stranger = scene
            stranger.secret = nil
            let code = answer.query["code"]
            #expect(try await stranger.redeem(code).oauthError == "invalid_client")
            stranger.secret = "wrong"
            let refused = try await stranger.redeem(code)
            #expect(refused.status == 401 && refused.response.header("www-authenticate")?.hasPrefix("Basic") == true)
            let reply = try await scene.post(
                "token",
                [("grant_type", "authorization_code"), ("code", code), ("code_verifier", scene.verifier)],
                basic: true
            )
            reply.expectOK()
            try await scene.refresh(reply.refreshToken).expectOK()
        }
    }

    @Test("a user who is signed in and has agreed comes back without a page, as do the project's own applications")
    func singleSignOn() async throws {
        try await OAuthScene.run { scene in
            _ = try await scene.authorize()
            // An earlier grant counts once its code was exchanged.
            let second = try await scene.open()
            #expect(second.heading == "Allow access?")
            let third = try await scene.press("allow", on: second)
            try await scene.redeem(third.query["code"]).expectOK()
            #expect(try await scene.open().query["code"] != nil)
            #expect(try await scene.open([("prompt", "none")]).query["code"] != nil)
            #expect(try await scene.open([("scope", "openid phone")]).heading == "Allow access?")
            #expect(
                try await scene.open([("scope", "openid phone"), ("prompt", "none")]).query["error"]
                    == "consent_required"
            )
            #expect(try await scene.open([("prompt", "login")]).heading == "Sign in")
            #expect(try await scene.open([("prompt", "consent")]).heading == "Allow access?")

            let own = try await OAuthScene.register(OAuthScene.publicClient(["trusted": true]), at: scene.service)
            #expect(
                try await scene.open([("client_id", own.clientID), ("scope", "openid phone")]).query["code"] != nil
            )
        }
    }

    @Test("T-F38: what a user granted at one address gives no code to another of the client's")
    func otherAddress() async throws {
        let other = "https://tea.example.com/other"
        let client = OAuthScene.publicClient(["redirect_uris": [.string(OAuthScene.callback), .string(other)]])
        try await OAuthScene.run(client) { scene in
            try await scene.tokens().expectOK()
            #expect(try await scene.open().query["code"] != nil)
            #expect(try await scene.open([("redirect_uri", other)]).heading == "Allow access?")
            let silent = try await scene.open([("redirect_uri", other), ("prompt", "none")])
            #expect(silent.query["error"] == "consent_required", "\(silent.url)")
        }
    }

    @Test("without a session, prompt=none says so; max_age asks for a newer sign-in, once")
    func freshness() async throws {
        try await OAuthScene.run { scene in
            #expect(try await scene.open([("prompt", "none")]).query["error"] == "login_required")
            _ = try await scene.tokens()
            scene.service.clock.advance(by: 600)
            #expect(try await scene.open([("max_age", "900"), ("scope", "openid email")]).query["code"] != nil)
            let page = try await scene.open([("max_age", "60")])
            #expect(page.heading == "Sign in")
            #expect(try await scene.signIn(on: page).query["code"] != nil)
        }
    }

    @Test("the user may refuse, or take another account")
    func decisions() async throws {
        try await OAuthScene.run { scene in
            _ = try await scene.service.signUp(OAuthScene.email)
            _ = try await scene.service.signUp("grace@example.com")
            let consent = try await scene.signIn(on: scene.open())
            #expect(consent.text.contains("ada@example.com") && consent.text.contains("https://tea.example.com"))
            let refused = try await scene.press("deny", on: consent)
            #expect(refused.query["error"] == "access_denied" && refused.query["state"] == "s-1")
            let other = try await scene.press("changeAccount", on: consent)
            #expect(other.heading == "Sign in")
            let again = try await scene.signIn(on: other, email: "grace@example.com")
            #expect(again.text.contains("grace@example.com"))
            let reply = try await scene.redeem(scene.press("allow", on: again).query["code"])
            #expect(Reply.claims(of: reply["id_token"]?.string ?? "")["email"]?.string == "grace@example.com")
        }
    }

    @Test("resource decides the audience of access tokens, also after a refresh")
    func resources() async throws {
        let (tea, milk) = ("https://mcp.example.com/tea", "https://mcp.example.com/milk")
        try await OAuthScene.run { scene in
            let reply = try await scene.tokens([("resource", tea), ("scope", "tea.brew")])
            #expect(Reply.claims(of: reply.accessToken ?? "")["aud"]?.string == tea, "\(reply)")
            #expect(reply["id_token"] == nil && reply.refreshToken != nil)
            let later = try await scene.refresh(reply.refreshToken)
            #expect(Reply.claims(of: later.accessToken ?? "")["aud"]?.string == tea)
            let other = try await scene.refresh(later.refreshToken, [("resource", milk)])
            #expect(other.oauthError == "invalid_target", "\(other)")
            // For somebody else.
            #expect(try await scene.userInfo(reply.accessToken).oauthError == "invalid_token")
        }
        try await OAuthScene.run(OAuthScene.publicClient(["scope": "openid"])) {
            $0.oauth.resources = [tea]
        } _: { scene in
            let refused = try await scene.open([("resource", milk)])
            #expect(refused.query["error"] == "invalid_target", "\(refused.url)")
            #expect(
                try await scene.tokens([("resource", tea), ("scope", "openid email")])["scope"]?.string == "openid"
            )
        }
    }

    @Test("the user sees an application's session and ends it, or a change of the password does")
    func sessions() async throws {
        try await OAuthScene.run { scene in
            let reply = try await scene.tokens()
            let user = try await scene.service.signInWithPassword(OAuthScene.email)
            let listed = try await scene.service.call("accounts:listSessions", ["idToken": JSON(user.idToken)])
            let session = try #require(listed["sessions"]?.array?.first { $0["clientId"]?.string == scene.clientID })
            let signOut: JSON = [
                "idToken": JSON(user.idToken), "scope": "session", "sessionId": session["sessionId"] ?? .null,
            ]
            try await scene.service.call("accounts:signOut", signOut).expectOK()
            #expect(try await scene.refresh(reply.refreshToken).oauthError == "invalid_grant")
            #expect(try await scene.userInfo(reply.accessToken).oauthError == "invalid_token")
        }
    }

    @Test("introspection tells resource servers what a token is good for, and revocation ends it")
    func introspection() async throws {
        try await OAuthScene.run(OAuthScene.confidentialClient()) { scene in
            let reply = try await scene.tokens()
            let server = try await OAuthScene.register(OAuthScene.confidentialClient(), at: scene.service)
            for token in [reply.accessToken, reply.refreshToken] {
                let seen = try await scene.post("introspect", [("token", token)])
                #expect(seen["active"] == true && seen["client_id"]?.string == scene.clientID, "\(seen)")
            }
            #expect(try await server.post("introspect", [("token", reply.accessToken)])["active"] == true)
            #expect(try await server.post("introspect", [("token", reply.refreshToken)])["active"] == false)
            #expect(try await server.post("introspect", [("token", "none")])["active"] == false)
            // Another client's token stays.
            try await server.post("revoke", [("token", reply.refreshToken)]).expectOK()
            try await server.post("revoke", [("token", reply.accessToken)]).expectOK()
            #expect(try await scene.post("introspect", [("token", reply.accessToken)])["active"] == true)
            try await scene.post("revoke", [("token", reply.refreshToken)]).expectOK()
            #expect(try await server.post("introspect", [("token", reply.accessToken)])["active"] == false)
            #expect(try await scene.refresh(reply.refreshToken).oauthError == "invalid_grant")
        }
    }

    @Test("a native app's loopback redirect has any port, its own scheme is exact, and consent is asked each time")
    func nativeApps() async throws {
        let client: JSON = [
            "redirect_uris": ["http://127.0.0.1/cb", "com.example.tea:/cb"], "token_endpoint_auth_method": "none",
        ]
        try await OAuthScene.run(client) { scene in
            _ = try await scene.service.signUp(OAuthScene.email)
            let change = [("redirect_uri", Optional("http://127.0.0.1:4711/cb"))]
            let answer = try await scene.press("allow", on: scene.signIn(on: scene.open(change)))
            #expect(answer.url.hasPrefix("http://127.0.0.1:4711/cb?code="), "\(answer.url)")
            let reply = try await scene.post(
                "token",
                [
                    ("grant_type", "authorization_code"), ("code", answer.query["code"]),
                    ("code_verifier", scene.verifier),
                ]
            )
            #expect(reply.status == 200 && reply.refreshToken == nil, "not registered for it: \(reply)")
            #expect(try await scene.open(change).heading == "Allow access?")
            #expect(try await scene.open([("redirect_uri", "com.example.tea:/cb")]).heading == "Allow access?")
            for other in ["http://127.0.0.1:4711/other", "com.example.tea:/other", "http://127.0.0.1.evil.example/cb"] {
                #expect(try await scene.open([("redirect_uri", other)]).status == 400, "\(other)")
            }
        }
    }

    @Test(
        "signing out ends the browser's session after the user confirmed it, and leads only where the client registered"
    )
    func signOut() async throws {
        let goodbye = "https://tea.example.com/goodbye"
        let client = OAuthScene.publicClient(["post_logout_redirect_uris": [.string(goodbye)]])
        try await OAuthScene.run(client) { scene in
            let reply = try await scene.tokens()
            #expect(try await scene.open().query["code"] != nil)
            func page(_ uri: String) async throws -> Visit {
                let fields = [("client_id", scene.clientID), ("post_logout_redirect_uri", uri), ("state", "s-2")]
                return try await scene.browser.open("\(scene.issuer)/oauth/logout?" + FormFields(pairs: fields).text)
            }
            let path = "/\(scene.service.project.id)/oauth/logout"
            let forged = try await scene.service.send(
                "POST",
                path,
                headers: [
                    ("Cookie", scene.browser.cookies(at: scene.service.baseURL) ?? ""),
                    ("Sec-Fetch-Site", "cross-site"),
                    ("Content-Type", "application/x-www-form-urlencoded"),
                ],
                body: Array("do=signOut".utf8)
            )
            #expect(forged.response.text.contains("Sign out?"), "\(forged)")
            #expect(try await scene.open().query["code"] != nil, "nobody was signed out")
            let elsewhere = try await scene.press("signOut", on: page("https://evil.example/"))
            #expect(elsewhere.heading == "Signed out" && !elsewhere.text.contains("evil"))
            #expect(try await scene.open().heading == "Sign in")
            let left = try await scene.press("signOut", on: page(goodbye))
            #expect(left.url == goodbye + "?state=s-2", "\(left.url)")
            #expect(try await scene.refresh(reply.refreshToken).status == 200, "the application's own session stays")
        }
    }

    @Test("a trusted client on the user's device is asked for all the same")
    func trustedNativeApp() async throws {
        let client: JSON = [
            "redirect_uris": ["http://127.0.0.1/cb"], "token_endpoint_auth_method": "none", "trusted": true,
        ]
        try await OAuthScene.run(client) { scene in
            _ = try await scene.service.signUp(OAuthScene.email)
            let change = [("redirect_uri", Optional("http://127.0.0.1:4711/cb"))]
            #expect(try await scene.signIn(on: scene.open(change)).heading == "Allow access?")
        }
    }

    @Test("both discovery documents, in both places, name the same endpoints")
    func discovery() async throws {
        try await OAuthScene.run { scene in
            let project = scene.service.project.id
            let paths = [
                "/\(project)/.well-known/openid-configuration", "/\(project)/.well-known/oauth-authorization-server",
                "/.well-known/openid-configuration/\(project)", "/.well-known/oauth-authorization-server/\(project)",
            ]
            var documents: Set<String> = []
            for path in paths {
                let reply = try await scene.service.send("GET", path)
                #expect(reply["issuer"]?.string == scene.issuer && reply["token_endpoint"] != nil, "\(reply)")
                documents.insert(reply.response.text)
            }
            #expect(documents.count == 1)
        }
        try await TestService.run { service in
            for endpoint in ["authorize", "userinfo"] {
                let reply = try await service.send("GET", "/\(service.project.id)/oauth/\(endpoint)")
                #expect(reply.status == 404, "off by default: \(reply)")
            }
        }
    }
}
