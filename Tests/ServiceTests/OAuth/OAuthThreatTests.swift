import Foundation
import Projects
import Secrets
import Storage
import TestKit
import Testing
import Text

/// What a thief, a malicious application or a malicious page does to the authorization endpoint and the token endpoint.
@Suite("Attacks on applications' sign-in", .database)
struct OAuthThreatTests {
    @Test("T-F1: nothing is redirected to an address that the client did not register")
    func openRedirect() async throws {
        try await OAuthScene.run { scene in
            for uri in [
                "https://evil.example/callback", "https://tea.example.com/callback/",
                "https://tea.example.com/Callback",
                "https://tea.example.com/callback?a=b", "https://tea.example.com.evil.example/callback",
                "https://tea.example.com/callback#x", "https://user@tea.example.com/callback",
                "https://tea.example.com:443/callback", "http://tea.example.com/callback", "javascript:alert(1)",
                "//evil",
            ] {
                for prompt in [nil, "none"] {
                    let reply = try await scene.service.send(
                        "GET",
                        scene.path([("redirect_uri", uri), ("prompt", prompt)])
                    )
                    #expect(reply.status == 400 && reply.response.header("location") == nil, "\(uri): \(reply)")
                    #expect(!reply.response.text.contains("evil"), "\(uri)")
                }
            }
            let twice = scene.path() + "&redirect_uri=https%3A%2F%2Ftea.example.com%2Fcallback"
            #expect(try await scene.service.send("GET", twice).status == 400)
            let stranger = try await scene.service.send("GET", scene.path([("client_id", "nobody")]))
            #expect(stranger.status == 400 && stranger.response.header("location") == nil)
        }
    }

    @Test("T-F2: without PKCE's S256 there is no code")
    func downgrade() async throws {
        try await OAuthScene.run { scene in
            let changes: [(String, String?)] = [
                ("code_challenge", nil), ("code_challenge_method", nil), ("code_challenge_method", "plain"),
                ("code_challenge", "short"),
            ]
            for change in changes {
                let answer = try await scene.open([change])
                #expect(answer.query["error"] == "invalid_request" && answer.query["code"] == nil, "\(answer.url)")
            }
        }
    }

    @Test("T-F3: a stolen code is worth nothing without its verifier, and stays good for its client")
    func stolenCode() async throws {
        try await OAuthScene.run { scene in
            let code = try await scene.authorize().query["code"]
            let thief = try await OAuthScene.register(OAuthScene.publicClient(), at: scene.service)
            #expect(try await scene.redeem(code, verifier: thief.verifier).oauthError == "invalid_grant")
            #expect(try await thief.redeem(code, verifier: scene.verifier).oauthError == "invalid_grant")
            #expect(
                try await scene.redeem(code, [("redirect_uri", "https://evil.example/")]).oauthError
                    == "invalid_request"
            )
            // It is no refresh token either.
            #expect(try await scene.refresh(code).oauthError == "invalid_grant")
            #expect(try await scene.service.refresh(code).status == 400)
            try await scene.redeem(code).expectOK()
        }
    }

    @Test("T-F4: a code pays once, over two nodes; its second use ends what the first one got")
    func replayedCode() async throws {
        var options = TestService.Options()
        options.ownPages = true
        options.settings.oauth.isEnabled = true
        try await TestService.runPair(options) { first, second in
            let scene = try await OAuthScene.register(OAuthScene.publicClient(), at: first)
            try await second.stores.configuration.refresh()
            _ = try await first.signUp(OAuthScene.email)
            let consent = try await scene.signIn(on: scene.open())
            var code = try await scene.press("allow", on: consent).query["code"]
            let other = OAuthScene(service: second, clientID: scene.clientID)
            for _ in 0..<RaceRounds.count {
                let (mine, theirs) = (code, code)
                async let a = scene.redeem(mine)
                async let b = other.redeem(theirs, verifier: scene.verifier)
                let replies = try await [a, b]
                #expect(replies.map(\.status).sorted() == [200, 400], "\(replies)")
                code = try await scene.press("allow", on: consent).query["code"]
            }
            let reply = try await scene.redeem(code)
            #expect(try await scene.redeem(code).oauthError == "invalid_grant")
            #expect(try await scene.refresh(reply.refreshToken).oauthError == "invalid_grant")
            #expect(try await scene.userInfo(reply.accessToken).oauthError == "invalid_token")
        }
    }

    @Test("T-F5: an application's tokens open nothing of the project's own API, and the other way round")
    func confusedTokens() async throws {
        try await OAuthScene.run { scene in
            let reply = try await scene.tokens()
            let user = try await scene.service.signInWithPassword(OAuthScene.email)
            for token in [reply["id_token"]?.string, reply.accessToken] {
                let answer = try await scene.service.call("accounts:lookup", ["idToken": JSON(token)])
                #expect(answer.code == "INVALID_ID_TOKEN", "\(answer)")
                #expect(try await scene.userInfo(token).status == (token == reply.accessToken ? 200 : 401))
            }
            #expect(try await scene.service.refresh(reply.refreshToken).code == "INVALID_REFRESH_TOKEN")
            #expect(try await scene.refresh(user.refreshToken).oauthError == "invalid_grant")
            #expect(try await scene.userInfo(user.idToken).oauthError == "invalid_token")
            // Nor has another application anything of it.
            let other = try await OAuthScene.register(OAuthScene.publicClient(), at: scene.service)
            #expect(try await other.refresh(reply.refreshToken).oauthError == "invalid_grant")
            #expect(try await scene.refresh(reply.refreshToken).status == 200, "neither has used it up")
        }
    }

    @Test("T-F6: no other page, browser or account decides for the user")
    func forgedConsent() async throws {
        try await OAuthScene.run { scene in
            _ = try await scene.service.signUp(OAuthScene.email)
            _ = try await scene.service.signUp("mallory@example.com")
            let consent = try await scene.signIn(on: scene.open())
            let form = try #require(consent.forms.first { $0.value("visit") != nil })
            let visit = form.value("visit") ?? ""
            let path = "/\(scene.service.project.id)/oauth/continue"
            let body = Array(FormFields(pairs: [("visit", visit), ("do", "allow")]).text.utf8)
            let type = ("Content-Type", "application/x-www-form-urlencoded")
            let cookies = try #require(scene.browser.cookies(at: scene.service.baseURL))
            for headers in [
                [("Cookie", cookies), ("Sec-Fetch-Site", "cross-site")], [("Cookie", cookies)],
                [("Cookie", cookies), ("Origin", "https://evil.example")], [("Sec-Fetch-Site", "same-origin")],
            ] {
                let reply = try await scene.service.send("POST", path, headers: headers + [type], body: body)
                #expect(reply.status == 400 && !reply.response.text.contains("code="), "\(headers): \(reply)")
            }
            // A page that another account's owner has in another browser.
            let mallory = OAuthScene(service: scene.service, clientID: scene.clientID)
            let theirs = try await mallory.signIn(on: mallory.open(), email: "mallory@example.com")
            let stolen = try #require(theirs.forms.first?.value("visit"))
            let foreign = Array(FormFields(pairs: [("visit", stolen), ("do", "allow")]).text.utf8)
            let reply = try await scene.service.send(
                "POST",
                path,
                headers: [("Cookie", cookies), ("Sec-Fetch-Site", "same-origin"), type],
                body: foreign
            )
            #expect(reply.status == 400, "\(reply)")
            // The page may be in no frame.
            #expect(consent.header("content-security-policy")?.contains("frame-ancestors 'none'") == true)
        }
    }

    @Test("T-F7: a replayed refresh token ends the grant")
    func replayedRefreshToken() async throws {
        try await OAuthScene.run { scene in
            let reply = try await scene.tokens()
            let second = try await scene.refresh(reply.refreshToken)
            #expect(try await scene.refresh(reply.refreshToken).refreshToken == second.refreshToken, "a lost answer")
            let third = try await scene.refresh(second.refreshToken)
            scene.service.clock.advance(by: 61)
            #expect(try await scene.refresh(reply.refreshToken).oauthError == "invalid_grant")
            #expect(try await scene.refresh(third.refreshToken).oauthError == "invalid_grant")
        }
    }

    @Test("T-F7: revoking a token that a thief has replaced ends the thief's", arguments: [1, 2, 3])
    func revokesAfterTheft(rotations: Int) async throws {
        try await OAuthScene.run { scene in
            let mine = try #require(try await scene.tokens().refreshToken)
            var stolen: String? = mine
            for _ in 0..<rotations { stolen = try await scene.refresh(stolen).refreshToken }
            let other = try await OAuthScene.register(OAuthScene.publicClient(), at: scene.service)
            try await other.post("revoke", [("token", mine)]).expectOK()
            let invented = "\(mine.dropLast(9))AAAAAAAAA"
            try await scene.post("revoke", [("token", invented)]).expectOK()
            stolen = try await scene.refresh(stolen).refreshToken
            #expect(stolen != nil, "neither another client nor an invented token ends it")
            try await scene.post("revoke", [("token", mine)]).expectOK()
            #expect(try await scene.refresh(stolen).oauthError == "invalid_grant")
        }
    }

    @Test("T-F28: a client that may refresh only since its user agreed gets no refresh token by that")
    func refreshesLater() async throws {
        try await OAuthScene.run(OAuthScene.publicClient(["grant_types": ["authorization_code"]])) { scene in
            let code = try await scene.authorize([("scope", "email")]).query["code"]
            let types: JSON = ["grant_types": ["authorization_code", "refresh_token"]]
            let id = scene.clientID
            let changed = try await scene.service.admin("oauthClients/\(id)", types, method: "PATCH", version: "v2")
            changed.expectOK()
            let reply = try await scene.redeem(code)
            #expect(reply.status == 200 && reply.refreshToken == nil, "\(reply)")
            let next = try await scene.redeem(scene.open([("scope", "email")]).query["code"])
            #expect(next.refreshToken != nil, "with a recent sign-in: \(next)")
        }
    }

    @Test("T-F8: what signs the user out or ends the account ends applications, in any order")
    func endedAccount() async throws {
        try await OAuthScene.run { scene in
            let reply = try await scene.tokens()
            let user = try await scene.service.signInWithPassword(OAuthScene.email)
            let all: JSON = ["idToken": JSON(user.idToken), "scope": "all"]
            try await scene.service.call("accounts:signOut", all).expectOK()
            #expect(try await scene.refresh(reply.refreshToken).oauthError == "invalid_grant")
            // The browser's session has ended too.
            #expect(try await scene.open().heading == "Sign in")
        }
    }

    @Test("T-F11: what one project allowed is not finished in another")
    func otherProject() async throws {
        try await OAuthScene.run { scene in
            _ = try await scene.service.signUp(OAuthScene.email)
            var options = TestService.Options()
            options.ownPages = true
            options.settings.oauth.isEnabled = true
            options.settings.oauth.resources = ["https://tea.example.com"]
            options.clock = scene.service.clock
            try await TestService.run(options) { other in
                let begun = try await scene.open([("resource", "https://forbidden.example")])
                let start = try #require(URLComponents(string: begun.url)?.queryItems)
                let back = try #require(start.first { $0.name == "continueUrl" }?.value)
                let visit = try #require(URLComponents(string: back)?.queryItems?.first { $0.name == "visit" }?.value)
                let cookies = try #require(scene.browser.cookies(at: scene.service.baseURL))
                func continued(_ service: TestService) async throws -> Reply {
                    let path = "/\(service.project.id)/oauth/continue?visit=\(visit)"
                    return try await service.send("GET", path, headers: [("Cookie", cookies)])
                }
                #expect(try await continued(scene.service).status == 303)
                #expect(try await continued(other).status == 400)
            }
        }
    }

    @Test(
        "T-F12: requests that anybody may push are limited in number and size, those of the project's own servers in size"
    )
    func pushedFlood() async throws {
        var options = try LimitScene.options { $0.oauth.isEnabled = true }
        options.ownPages = true
        try await TestService.run(options) { service in
            let scene = try await OAuthScene.register(OAuthScene.publicClient(), at: service)
            try await service.limit(["flowsPerAddress": ["count": 3, "seconds": 3_600]])
            func push(_ scene: OAuthScene, _ more: [(String, String?)] = []) async throws -> Reply {
                let fields = scene.parameters(more).filter { $0.0 != "client_id" }.map { ($0, Optional($1)) }
                return try await scene.post("par", fields, headers: [("X-Forwarded-For", "198.18.27.1")])
            }
            for _ in 0..<3 { #expect(try await push(scene).status == 201) }
            #expect(try await push(scene).status == 429)
            let server = try await OAuthScene.register(OAuthScene.confidentialClient(), at: service)
            for _ in 0..<5 { #expect(try await push(server).status == 201) }
            let hint = String(repeating: "a", count: 321)
            #expect(try await push(server, [("login_hint", hint)]).oauthError == "invalid_request")
            let large = String(repeating: "a", count: 131_072)
            #expect(try await push(server, [("x", large)]).status == 413)
        }
    }
}
