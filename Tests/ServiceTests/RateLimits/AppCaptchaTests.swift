import Projects
import Secrets
import TestKit
import Testing
import Text

@Suite("CAPTCHAs of apps that got no push notification", .database)
struct AppCaptchaTests {
    private static func run(_ body: @Sendable (CaptchaScene) async throws -> Void) async throws {
        try await CaptchaScene.run {
            $0.apps = [
                AppRegistration(id: "1", platform: .ios, identifier: "com.example.app", scheme: "app-1-123-ios-abc"),
                AppRegistration(id: "2", platform: .android, identifier: "com.example.app", scheme: nil),
            ].compactMap(\.self)
        } _: {
            try await body($0)
        }
    }

    private static func parameters(_ scene: CaptchaScene, _ app: [(String, String)]) -> [(String, String)] {
        app + [("apiKey", scene.service.apiKey), ("authType", "verifyApp"), ("eventId", "E&1")]
    }

    private static let ios = [("ibi", "com.example.app"), ("appId", "1:123:ios:abc")]
    private static let android = [("apn", "com.example.app")]

    private static func open(_ fields: [(String, String)], _ scene: CaptchaScene) async throws -> OpenedPage {
        try OpenedPage(try await scene.service.send("GET", "/__/auth/handler?" + FormFields(pairs: fields).text))
    }

    /// Posts the form of the page, as the browser does.
    private static func answer(
        _ response: String?,
        _ scene: CaptchaScene,
        app: [(String, String)] = ios
    ) async throws -> OpenedPage {
        let page = try await open(parameters(scene, app), scene)
        let fields = page.text.matches(of: #/<input type="hidden" name="([^"]*)" value="([^"]*)">/#)
            .map { (String($0.1), String($0.2).replacing("&amp;", with: "&")) }
        #expect(fields.count == app.count + 3, "\(page.text)")
        return try await post(fields + (response.map { [("cf-turnstile-response", $0)] } ?? []), scene)
    }

    private static func post(_ fields: [(String, String)], _ scene: CaptchaScene) async throws -> OpenedPage {
        try OpenedPage(
            try await scene.service.send(
                "POST",
                "/__/auth/handler",
                headers: [("Content-Type", "application/x-www-form-urlencoded")],
                body: Array(FormFields(pairs: fields).text.utf8)
            )
        )
    }

    /// What the app finds in the link that opens it.
    private static func result(_ page: OpenedPage) throws -> FormFields {
        let link = try #require(page.data["link"]?.string, "\(page.reply)")
        #expect(link.hasPrefix("app-1-123-ios-abc://firebaseauth/link?deep_link_id="))
        let inner = FormFields(URLParts(link)?.query ?? "")["deep_link_id"] ?? ""
        let fields = FormFields(URLParts(inner)?.query ?? "")
        #expect(fields["authType"] == "verifyApp" && fields["eventId"] == "E&1")
        return fields
    }

    private static func token(_ scene: CaptchaScene) async throws -> String {
        try #require(try result(try await answer("a person", scene))["recaptchaToken"])
    }

    private static func send(_ token: String, _ service: TestService) async throws -> Reply {
        try await service.call(
            "accounts:sendVerificationCode",
            ["phoneNumber": "+4915550100", "recaptchaToken": .string(token)]
        )
    }

    @Test("the page shows the widget, and the app gets a token with which it asks for one SMS")
    func token() async throws {
        try await Self.run { scene in
            for app in [Self.ios, Self.android] {
                let page = try await Self.open(Self.parameters(scene, app), scene)
                #expect(page.reply.status == 200 && page.data == .null && page.cookies.isEmpty, "\(page.reply)")
                #expect(page.text.contains(#"<div class="cf-turnstile" data-sitekey="site-key"></div>"#))
                let policy = page.reply.response.header("content-security-policy") ?? ""
                #expect(policy.contains("frame-src https://challenges.cloudflare.com"), "\(policy)")
            }
            #expect(scene.verifier.received.isEmpty)
            let token = try await Self.token(scene)
            #expect(scene.verifier.received.count == 1)
            let sent = try await Self.send(token, scene.service)
            #expect(sent.status == 200 && sent["sessionInfo"]?.string?.isEmpty == false, "\(sent)")
            #expect(scene.verifier.received.count == 1, "nobody is asked about the token")
            let android = try await Self.answer("a person", scene, app: Self.android)
            #expect(android.data["link"]?.string?.contains(";S.recaptchaToken=identity-captcha.") == true)
        }
    }

    @Test(
        "T-D28: a token is good for one SMS of one project, for ten minutes",
        arguments: ["used", "other", "old", "sign-up", "forged"]
    )
    func tokenOnce(_ attempt: String) async throws {
        try await Self.run { scene in
            let token = try await Self.token(scene)
            let before = try await scene.rows()
            var expected = before
            let refused: Reply
            switch attempt {
            case "used":
                async let first = Self.send(token, scene.service)
                async let second = Self.send(token, scene.service)
                let replies = try await [first, second]
                #expect(replies.map(\.status).sorted() == [200, 400], "\(replies)")
                expected = try await scene.rows()
                refused = try await Self.send(token, scene.service)
            case "other":
                return try await CaptchaScene.run { other in
                    try await Self.send(token, other.service).expectRefused("INVALID_RECAPTCHA_TOKEN")
                    #expect(other.verifier.received.isEmpty)
                }
            case "old":
                scene.service.clock.advance(by: 601)
                refused = try await Self.send(token, scene.service)
            case "sign-up":
                refused = try await scene.service.call("accounts:signUp", ["captchaResponse": .string(token)])
            default: refused = try await Self.send(token + "x", scene.service)
            }
            refused.expectRefused("INVALID_RECAPTCHA_TOKEN")
            #expect(try await scene.rows() == expected)
            #expect(scene.verifier.received.count == 1)
        }
    }

    @Test("T-D28: without a person's response, the app gets an error and no token", arguments: [nil, "", "a program"])
    func refused(_ response: String?) async throws {
        try await Self.run { scene in
            let page = try await Self.answer(response, scene)
            let fields = try Self.result(page)
            #expect(fields["recaptchaToken"] == nil)
            #expect(
                fields["firebaseError"]?.contains(#""code":"auth/captcha-check-failed""#) == true,
                "\(fields.pairs)"
            )
            #expect(page.text.contains("app-1-123-ios-abc://"), "a way back without a script")
            #expect(scene.verifier.received.count == (response == "a program" ? 1 : 0))
        }
    }

    @Test("a form for another app, or without one, is refused before the verifier is asked")
    func otherApps() async throws {
        try await Self.run { scene in
            for (app, code) in [
                ([("ibi", "com.example.other"), ("appId", "1:123:ios:abc")], "auth/app-not-authorized"),
                ([("apn", "com.example.other")], "auth/app-not-authorized"), ([], "auth/argument-error"),
                ([("ibi", "com.example.app"), ("clientId", "javascript:x")], "auth/argument-error"),
            ] as [([(String, String)], String)] {
                let page = try await Self.post(
                    Self.parameters(scene, app) + [("cf-turnstile-response", "a person")],
                    scene
                )
                #expect(page.code == code && page.data == .null, "\(app) \(page.reply)")
            }
            #expect(scene.verifier.received.isEmpty)
        }
    }

    @Test("without a verifier, the app gets an error")
    func noVerifier() async throws {
        try await CaptchaScene.run {
            $0.delivery.captcha = nil
            $0.apps = [
                AppRegistration(id: "1", platform: .ios, identifier: "com.example.app", scheme: "app-1-123-ios-abc")
            ].compactMap(\.self)
        } _: { scene in
            let page = try await Self.open(Self.parameters(scene, Self.ios), scene)
            #expect(try Self.result(page)["firebaseError"]?.contains("auth/captcha-check-failed") == true)
        }
    }
}
