import Foundation
import Projects
import Secrets
import Storage
import TestKit
import Testing
import Text

/// The page on which users withdraw what they granted.
@Suite("The page of grants", .database)
struct OAuthGrantsPageTests {
    private func open(_ scene: OAuthScene) async throws -> Visit {
        try await scene.browser.open("\(scene.issuer)/oauth/grants", until: ["https://"])
    }

    @Test("a user sees each application once, with what it may do, and withdraws it")
    func withdraws() async throws {
        try await OAuthScene.run { scene in
            var other = try await OAuthScene.register(
                OAuthScene.confidentialClient(["client_name": "Lamp <b>"]),
                at: scene.service
            )
            other.browser = scene.browser
            let first = try await scene.tokens([
                ("scope", "openid email offline_access"), ("resource", "https://tea.example.com/api"),
            ])
            let code = try await scene.open([("scope", "openid tea.brew"), ("prompt", "consent")])
            let second = try await scene.redeem(scene.press("allow", on: code).query["code"])
            let kept = try await other.redeem(other.press("allow", on: other.open()).query["code"])
            let page = try await open(scene)
            #expect(page.heading == "Applications with access", "\(page.text)")
            #expect(page.forms.count == 2 && page.text.contains("Lamp &lt;b&gt;"), "\(page.text)")
            for text in ["Tea House", "Brew tea", "See your email address", "https://tea.example.com/api"] {
                #expect(page.text.components(separatedBy: text).count >= 2, "\(text): \(page.text)")
            }
            let form = try #require(page.forms.first { $0.buttons.contains { $0.value == scene.clientID } })
            let after = try await scene.browser.submit(form, ["client": scene.clientID], button: "none", on: page)
            #expect(after.forms.count == 1 && !after.text.contains("Tea House"), "\(after.text)")
            for reply in [first, second] {
                #expect(try await scene.userInfo(reply.accessToken).oauthError == "invalid_token")
            }
            #expect(try await scene.refresh(first.refreshToken).oauthError == "invalid_grant")
            #expect(try await other.refresh(kept.refreshToken).status == 200)
            // The user is asked again.
            #expect(try await scene.open([("scope", "openid")]).heading == "Allow access?")
        }
    }

    @Test("T-F16: nobody sees or withdraws another user's grants, and no other page withdraws any")
    func foreign() async throws {
        try await OAuthScene.run { scene in
            let reply = try await scene.tokens()
            let path = "/\(scene.service.project.id)/oauth/grants"
            let body = Array("client=\(scene.clientID)".utf8)
            let form = ("Content-Type", "application/x-www-form-urlencoded")
            let alone = try await scene.service.send(
                "POST",
                path,
                headers: [form, ("Sec-Fetch-Site", "same-origin")],
                body: body
            )
            #expect(
                alone.status == 303 && alone.response.header("location")?.contains("/__/auth/sign-in?") == true,
                "\(alone)"
            )

            let cookies = try #require(scene.browser.cookies(at: scene.service.baseURL))
            let foreign = try await scene.service.send(
                "POST",
                path,
                headers: [form, ("Cookie", cookies), ("Sec-Fetch-Site", "cross-site")],
                body: body
            )
            #expect(foreign.status == 400, "\(foreign)")
            #expect(try await scene.userInfo(reply.accessToken).status == 200)

            _ = try await scene.service.signUp("eve@example.com")
            var eve = scene
            eve.browser = ScriptedBrowser()
            let page = try await eve.signIn(on: open(eve), email: "eve@example.com")
            #expect(page.heading == "Applications with access" && page.forms.isEmpty, "\(page.text)")
            let tried = try await eve.service.send(
                "POST",
                path,
                headers: [
                    form, ("Cookie", eve.browser.cookies(at: eve.service.baseURL) ?? ""),
                    ("Sec-Fetch-Site", "same-origin"),
                ],
                body: body
            )
            #expect(tried.status == 200, "\(tried)")
            #expect(try await scene.userInfo(reply.accessToken).status == 200)
        }
    }

    @Test("who is not signed in signs in first, and comes back to the page")
    func signsIn() async throws {
        try await OAuthScene.run { scene in
            _ = try await scene.service.signUp(OAuthScene.email)
            let page = try await scene.signIn(on: open(scene))
            #expect(
                page.url == "\(scene.issuer)/oauth/grants" && page.heading == "Applications with access",
                "\(page.url)"
            )
        }
    }
}
