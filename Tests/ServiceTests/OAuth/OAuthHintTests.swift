import TestKit
import Testing
import Text

/// `id_token_hint` (OpenID Connect Core 1.0 §3.1.2.1, §3.1.2.2): nobody else gets an answer.
@Suite("The user whom an application expects", .database)
struct OAuthHintTests {
    private static let other = "grace@example.com"

    /// Ada and Grace, each signed in at a browser of their own, and their ID tokens.
    private struct Two {
        var ada: OAuthScene
        var grace: OAuthScene
        var hints: (ada: String, grace: String)
    }

    private func run(_ body: @Sendable (Two) async throws -> Void) async throws {
        try await OAuthScene.run(OAuthScene.publicClient(["trusted": true])) { ada in
            var grace = ada
            grace.browser = ScriptedBrowser()
            _ = try await ada.service.signUp(OAuthScene.email)
            _ = try await ada.service.signUp(Self.other)
            func hint(_ scene: OAuthScene, _ email: String) async throws -> String {
                let answer = try await scene.signIn(on: scene.open(), email: email)
                return try #require(try await scene.redeem(answer.query["code"])["id_token"]?.string)
            }
            let hints = (ada: try await hint(ada, OAuthScene.email), grace: try await hint(grace, Self.other))
            try await body(Two(ada: ada, grace: grace, hints: hints))
        }
    }

    private func email(_ scene: OAuthScene, _ answer: Visit) async throws -> String? {
        let reply = try await scene.redeem(answer.query["code"])
        return Reply.claims(of: reply["id_token"]?.string ?? "")["email"]?.string
    }

    @Test("prompt=none answers for no other user, expired or not, pushed or not")
    func silent() async throws {
        try await run { two in
            let silent = [("prompt", Optional("none")), ("scope", "openid email")]
            let hinted = { (hint: String) in silent + [("id_token_hint", hint)] }
            for _ in 0..<2 {
                let refused = try await two.grace.open(hinted(two.hints.ada))
                #expect(refused.query["error"] == "login_required" && refused.query["code"] == nil, "\(refused.url)")
                let own = try await two.grace.open(hinted(two.hints.grace))
                #expect(try await email(two.grace, own) == Self.other)
                two.ada.service.clock.advance(by: 7_200)
            }
            let pushed = try await two.grace.post(
                "par",
                two.grace.parameters(hinted(two.hints.ada)).filter { $0.0 != "client_id" }.map { ($0, $1) }
            )
            let query = [
                ("client_id", two.grace.clientID), ("request_uri", try #require(pushed["request_uri"]?.string)),
            ]
            let url = "\(two.grace.issuer)/oauth/authorize?" + FormFields(pairs: query).text
            let refused = try await two.grace.browser.open(url, until: ["https://"])
            #expect(refused.query["error"] == "login_required", "\(refused.url)")
            var nobody = two.grace
            nobody.browser = ScriptedBrowser()
            #expect(try await nobody.open(hinted(two.hints.ada)).query["error"] == "login_required")
        }
    }

    @Test("with a prompt, the page asks that user to sign in, and somebody else's sign-in is refused")
    func asked() async throws {
        try await run { two in
            let hinted = [("id_token_hint", Optional(two.hints.ada))]
            let page = try await two.grace.open(hinted)
            #expect(page.heading == "Sign in" && page.text.contains(OAuthScene.email), "\(page.text)")
            let refused = try await two.grace.signIn(on: page, email: Self.other)
            #expect(refused.query["error"] == "login_required" && refused.query["code"] == nil, "\(refused.url)")
            let answer = try await two.grace.signIn(on: two.grace.open(hinted))
            #expect(try await email(two.grace, answer) == OAuthScene.email)
            #expect(try await two.grace.open(hinted).query["code"] != nil, "signed in as the right user now")
        }
    }

    @Test("a user who takes another account at the consent page is not the one either")
    func consent() async throws {
        try await run { two in
            var untrusted = try await OAuthScene.register(OAuthScene.publicClient(), at: two.ada.service)
            untrusted.browser = two.ada.browser
            let answer = try await untrusted.press("allow", on: untrusted.open())
            let hint = try #require(try await untrusted.redeem(answer.query["code"])["id_token"]?.string)
            let page = try await untrusted.open([("id_token_hint", hint), ("prompt", "consent")])
            let other = try await untrusted.press("changeAccount", on: page)
            let refused = try await untrusted.signIn(on: other, email: Self.other)
            #expect(refused.query["error"] == "login_required", "\(refused.url)")
        }
    }

    @Test("only an ID token that the project issued to the client is a hint")
    func foreign() async throws {
        try await run { two in
            var other = try await OAuthScene.register(OAuthScene.publicClient(["trusted": true]), at: two.ada.service)
            other.browser = two.ada.browser
            let reply = try await other.redeem(try await other.open().query["code"])
            let user = try await two.ada.service.signInWithPassword(OAuthScene.email)
            let forged = String(two.hints.ada.dropLast(8)) + "AAAAAAAA"
            let wrong = [
                reply["id_token"]?.string, reply.accessToken, reply.refreshToken, user.idToken, forged, "x", "e30.e30.",
            ]
            for hint in wrong {
                for prompt in ["none", nil] as [String?] {
                    let refused = try await two.ada.open([("id_token_hint", hint), ("prompt", prompt)])
                    #expect(refused.query["error"] == "invalid_request", "\(hint ?? "") \(refused.url)")
                }
                let fields = two.ada.parameters([("id_token_hint", hint)]).filter { $0.0 != "client_id" }
                #expect(try await two.ada.post("par", fields.map { ($0, $1) }).oauthError == "invalid_request")
            }
        }
    }

    @Test("at the sign-out, a hint of another client or of nobody leads nowhere")
    func signOut() async throws {
        let bye = "https://tea.example.com/bye"
        let client = OAuthScene.publicClient(["trusted": true, "post_logout_redirect_uris": [.string(bye)]])
        try await OAuthScene.run(client) { scene in
            _ = try await scene.service.signUp(OAuthScene.email)
            let answer = try await scene.signIn(on: scene.open())
            let hint = try #require(try await scene.redeem(answer.query["code"])["id_token"]?.string)
            let other = try await OAuthScene.register(client, at: scene.service)
            func leadsBack(_ id: String?, _ hint: String?) async throws -> Bool {
                let fields = [("client_id", id), ("id_token_hint", hint), ("post_logout_redirect_uri", bye)]
                let query = FormFields(pairs: fields.compactMap { field in field.1.map { (field.0, $0) } })
                let page = try await scene.browser.open("\(scene.issuer)/oauth/logout?" + query.text)
                return try await scene.press("signOut", on: page).url == bye
            }
            #expect(try await leadsBack(scene.clientID, nil))
            #expect(try await leadsBack(nil, hint))
            #expect(try await leadsBack(scene.clientID, hint))
            #expect(try await !leadsBack(other.clientID, hint))
            #expect(try await !leadsBack(scene.clientID, "x"))
            #expect(try await !leadsBack(scene.clientID, String(hint.dropLast(8)) + "AAAAAAAA"))
        }
    }
}
