import Foundation
import Postgres
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
            try await other.refresh(kept.refreshToken).expectOK()
            // The user is asked again.
            #expect(try await scene.open([("scope", "openid")]).heading == "Allow access?")
        }
    }

    /// Withdraws what the browser's user granted a client.
    private func withdraw(_ scene: OAuthScene) async throws {
        let reply = try await scene.service.send(
            "POST",
            "/\(scene.service.project.id)/oauth/grants",
            headers: [
                ("Content-Type", "application/x-www-form-urlencoded"), ("Sec-Fetch-Site", "same-origin"),
                ("Cookie", try #require(scene.browser.cookies(at: scene.service.baseURL))),
            ],
            body: Array("client=\(scene.clientID)".utf8)
        )
        reply.expectOK()
    }

    private func grants(_ scene: OAuthScene) async throws -> Int64? {
        try await TestDatabase.current.client.query(
            """
            SELECT count(*) FROM sessions
            WHERE project = \(scene.service.project.id.rawValue) AND client IS NOT NULL AND revoked_at IS NULL
            """
        ) { try $0.next(Int64.self) }.first
    }

    @Test("T-F34: a code of before the withdrawal gives nothing, redeemed later or at the same time")
    func codesOfBefore() async throws {
        try await OAuthScene.run { scene in
            try await scene.tokens().expectOK()
            let (code, racing) = (try await scene.open().query["code"], try await scene.open().query["code"])
            #expect(code != nil && racing != nil)
            let project = scene.service.project.id.rawValue
            let raced = try await Race.run(scene.service) { transaction in
                // As the withdrawal does.
                try await transaction.execute(
                    "UPDATE accounts SET version = version + 1, revoked_version = version + 1 WHERE project = \(project)"
                )
            } _: {
                try await scene.redeem(racing)
            }
            #expect(raced.oauthError == "invalid_grant", "\(raced)")
            let after = try await scene.open().query["code"]
            try await withdraw(scene)
            for old in [code, after] { #expect(try await scene.redeem(old).oauthError == "invalid_grant") }
            #expect(try await grants(scene) == 0)
            // The user may agree again.
            let again = try await scene.press("allow", on: scene.open())
            try await scene.redeem(again.query["code"]).expectOK()
        }
    }

    @Test("T-F34: a device that was approved before the withdrawal, or a deletion of its client, gets nothing")
    func devicesOfBefore() async throws {
        let device = "urn:ietf:params:oauth:grant-type:device_code"
        let television: JSON = [
            "client_name": "Television", "token_endpoint_auth_method": "none", "grant_types": [.string(device)],
        ]
        try await OAuthScene.run(television) { scene in
            _ = try await scene.service.signUp(OAuthScene.email)
            func approve() async throws -> Reply {
                let asked = try await scene.post("device_authorization", [("scope", "openid")])
                let page = try await scene.browser.open("\(scene.issuer)/oauth/device")
                let code = asked["user_code"]?.string ?? ""
                let form = try #require(page.forms.first)
                let next = try await scene.browser.submit(form, ["user_code": code], on: page)
                let consent = next.heading == "Sign in" ? try await scene.signIn(on: next) : next
                #expect(try await scene.press("allow", on: consent).heading == "Device connected")
                return asked
            }
            func poll(_ asked: Reply) async throws -> Reply {
                try await scene.post("token", [("grant_type", device), ("device_code", asked["device_code"]?.string)])
            }
            // Also before the first has begun a session.
            let first = try await approve()
            try await withdraw(scene)
            #expect(try await poll(first).oauthError == "invalid_grant")
            try await poll(approve()).expectOK()
            let before = try await approve()
            try await withdraw(scene)
            #expect(try await poll(before).oauthError == "invalid_grant")
            #expect(try await grants(scene) == 0)
            try await poll(approve()).expectOK()
            _ = try await approve()
            let path = "oauthClients/\(scene.clientID)"
            try await scene.service.admin(path, method: "DELETE", version: "v2").expectOK()
            let left = try await TestDatabase.current.client.query(
                "SELECT count(*) FROM device_codes WHERE project = \(scene.service.project.id.rawValue)"
            ) { try $0.next(Int64.self) }
            #expect(try await grants(scene) == 0 && left == [0])
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
            try await scene.userInfo(reply.accessToken).expectOK()

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
            tried.expectOK()
            try await scene.userInfo(reply.accessToken).expectOK()
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
