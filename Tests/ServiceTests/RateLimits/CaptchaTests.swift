import Delivery
import Domain
import Foundation
import Postgres
import Projects
import Secrets
import Storage
import Testing
import TestKit
import Text

/// A service whose project asks for a CAPTCHA before everything that it can, and the verifier.
struct CaptchaScene: Sendable {
    let service: TestService
    let verifier: WebReceiver

    static func run(
        _ change: @Sendable (inout ProjectSettings) -> Void = { _ in },
        limitsRates: Bool = false,
        _ body: @Sendable (CaptchaScene) async throws -> Void
    ) async throws {
        try await WebReceiver.run { verifier in
            verifier.answer { request in
                let response = FormFields(request.text)["response"]
                return (
                    200, response == "a person" ? #"{"success":true,"hostname":"localhost"}"# : #"{"success":false}"#
                )
            }
            var options = PhoneScene.options()
            options.settings.allowsEmailLink = true
            options.settings.anonymousSignIn = true
            options.settings.signInPage = true
            options.settings.secondFactors.isEnabled = true
            options.settings.captchaOperations = CaptchaOperation.allCases
            var captcha = CaptchaVerifier(service: .turnstile, siteKey: "site-key", secret: Secret("the secret"))
            captcha.url = verifier.baseURL + "/siteverify"
            options.settings.delivery.captcha = captcha
            change(&options.settings)
            options.limitsRates = limitsRates
            try await TestService.run(options) { service in
                try await body(CaptchaScene(service: service, verifier: verifier))
            }
        }
    }

    /// A client's call that needs a CAPTCHA, with the member that has the response.
    struct Case: Sendable, CustomTestStringConvertible {
        var operation: String
        var body: JSON
        var member: String
        var kind: CaptchaOperation

        var testDescription: String { "\(operation) \(body)" }
    }

    static let cases = [
        Case(
            operation: "signUp",
            body: ["email": "ada@example.com", "password": "correct horse"],
            member: "captchaResponse",
            kind: .signUp
        ),
        Case(operation: "signUp", body: [:], member: "captchaResponse", kind: .signUp),
        Case(
            operation: "sendOobCode",
            body: ["requestType": "PASSWORD_RESET", "email": "known@example.com"],
            member: "captchaResp",
            kind: .email
        ),
        Case(
            operation: "sendOobCode",
            body: ["requestType": "EMAIL_SIGNIN", "email": "ada@example.com"],
            member: "captchaResp",
            kind: .email
        ),
        Case(
            operation: "sendVerificationCode",
            body: ["phoneNumber": "+4915550100"],
            member: "recaptchaToken",
            kind: .sms
        ),
        Case(
            operation: "sendVerificationCode",
            body: ["phoneNumber": "+4915550100"],
            member: "captchaResponse",
            kind: .sms
        ),
    ]

    func call(_ attempt: Case, _ response: String?) async throws -> Reply {
        var body = attempt.body
        if let response { body = body.merging([attempt.member: .string(response)]) }
        return try await service.call("accounts:\(attempt.operation)", body)
    }

    /// Rows of accounts, codes and messages.
    func rows() async throws -> [Int64] {
        let project = service.project.id.rawValue
        return try await service.stores.database.query(
            """
            SELECT (SELECT count(*) FROM accounts WHERE project = \(project)),
                (SELECT count(*) FROM oob_codes WHERE project = \(project)),
                (SELECT count(*) FROM verification_codes WHERE project = \(project)),
                (SELECT count(*) FROM outbox WHERE project = \(project))
            """
        ) { row in
            [try row.next(Int64.self), try row.next(Int64.self), try row.next(Int64.self), try row.next(Int64.self)]
        }
        .first ?? []
    }
}

@Suite("CAPTCHAs", .database, .serialized)
struct CaptchaTests {
    @Test(
        "T-D28: without a response that the verifier vouches for, nothing is written or sent",
        arguments: CaptchaScene.cases
    )
    fileprivate func required(_ attempt: CaptchaScene.Case) async throws {
        try await CaptchaScene.run { scene in
            _ = try await scene.service.admin("accounts", ["email": "known@example.com"])
            let before = try await scene.rows()
            for response in [nil, "", "NO_RECAPTCHA", String(repeating: "x", count: 8_193)] {
                let reply = try await scene.call(attempt, response)
                #expect(reply.status == 400 && reply.code == "CAPTCHA_CHECK_FAILED", "\(reply)")
            }
            #expect(scene.verifier.received.isEmpty)
            try await scene.call(attempt, "a program").expectRefused("INVALID_RECAPTCHA_TOKEN")
            #expect(try await scene.rows() == before)

            try await scene.call(attempt, "a person").expectOK()
            #expect(try await scene.rows() != before)
            let form = FormFields(try #require(scene.verifier.received.last).text)
            #expect(form["secret"] == "the secret" && form["response"] == "a person")
            #expect(form["remoteip"] == nil || form["remoteip"] == "127.0.0.1")
        }
    }

    @Test("T-E11: responses that the verifier refuses are limited before it is asked, and good ones take nothing")
    func limit() async throws {
        try await CaptchaScene.run(
            { $0.rateLimits[.accessTokensPerAddress] = RateLimitBudget(count: 2, seconds: 3_600) },
            limitsRates: true,
            { scene in
                let attempt = CaptchaScene.cases[1]
                for _ in 0..<3 { #expect(try await scene.call(attempt, "a person").status == 200) }
                for _ in 0..<2 {
                    try await scene.call(attempt, "a program").expectRefused("INVALID_RECAPTCHA_TOKEN")
                }
                try await scene.call(attempt, "a program").expectRefused(LimitScene.blocked)
                #expect(scene.verifier.received.count == 5)
            }
        )
    }

    @Test("an operation that the project does not list needs none", arguments: CaptchaScene.cases)
    fileprivate func unlisted(_ attempt: CaptchaScene.Case) async throws {
        try await CaptchaScene.run(
            { $0.captchaOperations.removeAll { $0 == attempt.kind } },
            { scene in
                _ = try await scene.service.admin("accounts", ["email": "known@example.com"])
                try await scene.call(attempt, nil).expectOK()
                #expect(scene.verifier.received.isEmpty)
            }
        )
    }

    @Test("admins, signed-in users and test numbers need none")
    func exempt() async throws {
        try await CaptchaScene.run(
            { $0.phone.testNumbers = ["+4915550199": "123456"] },
            { scene in
                let service = scene.service
                let made = try await service.admin(
                    "accounts",
                    ["email": "ada@example.com", "password": "correct horse"]
                )
                made.expectOK()
                let mail: JSON = ["requestType": "PASSWORD_RESET", "email": "ada@example.com"]
                try await service.admin("accounts:sendOobCode", mail).expectOK()
                let user = try await service.signInWithPassword("ada@example.com")
                try await service.sendCode(.verifyEmail, ["idToken": JSON(user.idToken)]).expectOK()
                try await service.sendSMS(to: "+4915550199").expectOK()
                #expect(scene.verifier.received.isEmpty)
            }
        )
    }

    @Test("T-D28: an SMS for a second factor needs one too")
    func secondFactor() async throws {
        try await CaptchaScene.run { scene in
            let service = scene.service
            _ = try await service.admin(
                "accounts",
                ["email": "ada@example.com", "emailVerified": true, "password": "correct horse"]
            )
            let user = try await service.signInWithPassword("ada@example.com")
            func start(_ response: String) async throws -> Reply {
                try await service.callV2(
                    "accounts/mfaEnrollment:start",
                    [
                        "idToken": JSON(user.idToken),
                        "phoneEnrollmentInfo": ["phoneNumber": "+4915550100", "recaptchaToken": .string(response)],
                    ]
                )
            }
            #expect(try await start("a program").code == "INVALID_RECAPTCHA_TOKEN")
            try await start("a person").expectOK()
        }
    }

    @Test(
        "T-D28: the response must be from a page of the project, and its score high enough",
        arguments: [
            (#"{"success":true}"#, true), (#"{"success":true,"hostname":"LOCALHOST"}"#, true),
            (#"{"success":true,"hostname":"evil.example"}"#, false), (#"{"success":true,"hostname":""}"#, true),
            (#"{"success":true,"hostname":"localhost.evil.example"}"#, false),
            (#"{"success":true,"hostname":"b1.Preview.example.com"}"#, true),
            (#"{"success":true,"hostname":"notpreview.example.com"}"#, false),
        ]
    )
    func hostnames(_ verdict: String, _ passes: Bool) async throws {
        try await CaptchaScene.run({ $0.authorizedDomains.append("preview.example.com") }) { scene in
            scene.verifier.answer { _ in (200, verdict) }
            let reply = try await scene.call(CaptchaScene.cases[1], "x")
            #expect(reply.status == (passes ? 200 : 400), "\(reply)")
        }
    }

    @Test(
        "T-D28: a minimum score refuses lower ones, and responses without one; hCaptcha's score is the risk",
        arguments: [
            (.reCAPTCHA, "0.7", true), (.reCAPTCHA, "0.3", false), (.reCAPTCHA, nil, false),
            (.hCaptcha, "0.7", false), (.hCaptcha, "0.3", true),
        ] as [(CaptchaVerifier.Service, String?, Bool)]
    )
    func scores(_ kind: CaptchaVerifier.Service, _ score: String?, _ passes: Bool) async throws {
        try await CaptchaScene.run(
            {
                $0.delivery.captcha?.service = kind
                $0.delivery.captcha?.minimumScore = 0.5
            },
            { scene in
                scene.verifier.answer { _ in (200, #"{"success":true\#(score.map { ",\"score\":\($0)" } ?? "")}"#) }
                let reply = try await scene.call(CaptchaScene.cases[1], "x")
                #expect(reply.status == (passes ? 200 : 400), "\(reply)")
            }
        )
    }

    @Test(
        "T-D28: while the verifier is down, requests are refused, or pass if the project says so; any other failure refuses",
        arguments: [(503, "", true), (429, "{}", false), (200, "{}", false), (200, "<html>", false), (403, "", false)]
    )
    func down(_ status: Int, _ text: String, _ isDown: Bool) async throws {
        for allows in [false, true] {
            try await CaptchaScene.run(
                { $0.delivery.captcha?.allowsWhenUnreachable = allows },
                { scene in
                    scene.verifier.answer { _ in (status, text) }
                    let reply = try await scene.call(CaptchaScene.cases[1], "x")
                    #expect(reply.status == (isDown && allows ? 200 : 400), "\(reply)")
                    if !(isDown && allows) { #expect(reply.code == "CAPTCHA_CHECK_FAILED", "\(reply)") }
                    // No response at all is no reason to let anyone pass.
                    #expect(try await scene.call(CaptchaScene.cases[1], nil).status == 400)
                }
            )
        }
    }

    @Test("T-D28: operations that need one are refused while no verifier is configured")
    func unconfigured() async throws {
        try await CaptchaScene.run(
            { $0.delivery.captcha = nil },
            { scene in
                let reply = try await scene.call(CaptchaScene.cases[1], "a person")
                #expect(reply.code == "CAPTCHA_CHECK_FAILED", "\(reply)")
            }
        )
    }

    @Test("the verifier is a setting whose secret is never shown; a tenant chooses its operations")
    func settings() async throws {
        try await CaptchaScene.run(
            { $0.allowsTenants = true },
            { scene in
                let service = scene.service
                func patch(_ captcha: JSON) async throws -> Reply {
                    try await service.admin(
                        "config?updateMask=identity.captcha",
                        ["identity": ["captcha": captcha]],
                        method: "PATCH",
                        version: "v2"
                    )
                }
                let url = scene.verifier.baseURL + "/siteverify"
                let kept = try await patch(
                    ["service": "RECAPTCHA", "siteKey": "other", "url": .string(url), "minimumScore": .number(0.5)]
                )
                #expect(kept["identity"]?["captcha"]?["siteKey"] == "other", "\(kept)")
                #expect(!kept.response.text.contains("the secret"))
                let stored = service.stores.configuration.snapshot.project(service.project.id)?.settings.delivery
                    .captcha
                #expect(stored?.secret == Secret("the secret") && stored?.minimumScore == 0.5)
                // The secret is for its URL alone.
                let moved = try await patch([
                    "service": "RECAPTCHA", "siteKey": "other", "url": "https://evil.example/",
                ])
                #expect(moved.status == 400, "\(moved)")
                for bad: JSON in [
                    ["service": "RECAPTCHA", "secret": "x"], ["siteKey": "x", "secret": "x"],
                    ["service": "TURNSTILE", "siteKey": "x", "secret": "x", "minimumScore": .number(1.5)],
                    ["service": "TURNSTILE", "siteKey": "x", "secret": "x", "url": "http://example.com"],
                ] { #expect(try await patch(bad).status == 400) }
                let params = try await service.send("GET", "/v1/recaptchaParams?key=\(service.apiKey)")
                #expect(params["recaptchaSiteKey"] == "other", "\(params)")

                let made = try await service.admin("tenants", ["displayName": "north"], version: "v2")
                let id = try #require(made["name"]?.string?.split(separator: "/").last)
                #expect(made["identity"]?["captchaOperations"] == ["signUp", "email", "sms"], "\(made)")
                let mine = try await service.admin(
                    "tenants/\(id)?updateMask=identity.captchaOperations,enableAnonymousUser",
                    ["identity": ["captchaOperations": []], "enableAnonymousUser": true],
                    method: "PATCH",
                    version: "v2"
                )
                #expect(mine["identity"]?["captchaOperations"] == nil, "\(mine)")
                try await service.call("accounts:signUp", ["tenantId": .string(String(id))]).expectOK()
            }
        )
    }

    @Test(
        "the verifier of `identity dev` accepts one response",
        arguments: [("XXXX.DUMMY.TOKEN.XXXX", true), ("x", false)]
    )
    func fake(_ response: String, _ passes: Bool) async throws {
        var options = TestService.Options()
        options.development = true
        options.settings = .development
        try await TestService.run(options) { service in
            let reply = try await service.send(
                "POST",
                "/dev/siteverify",
                headers: [("Content-Type", "application/x-www-form-urlencoded")],
                body: Array(FormFields(pairs: [("secret", "any"), ("response", response)]).text.utf8)
            )
            #expect(reply.status == 200 && reply["success"] == JSON(booleanLiteral: passes), "\(reply)")
        }
    }

    @Test("T-D28: the sign-in page shows the widget where it is needed, and allows its service there alone")
    func page() async throws {
        try await CaptchaScene.run { scene in
            let person = SignInPagePerson(service: scene.service)
            let opened = try await OpenedSignInPage(person)
            func policy(_ reply: Reply) -> String { reply.response.header("content-security-policy") ?? "" }
            let widget = #"<div class="cf-turnstile" data-sitekey="site-key"></div>"#
            let service = "https://challenges.cloudflare.com"
            let start = try await opened.post([("do", "showSignIn")])
            #expect(!start.response.text.contains(service) && !policy(start).contains("challenges"), "\(policy(start))")
            for step in ["showSignUp", "forgotPassword"] {
                let page = try await opened.post([("do", step)])
                #expect(page.response.text.contains(widget), "\(page.response.text)")
                #expect(policy(page).contains("frame-src \(service)") && policy(page).contains(service + ";"))
            }
            let fields = [("do", "signUp"), ("email", "ada@example.com"), ("password", "correct horse")]
            for response in [nil, "a program"] {
                let more = response.map { [("cf-turnstile-response", $0)] } ?? []
                let refused = try await opened.post(fields + more)
                #expect(
                    refused.status == 400 && refused.response.text.contains("We could not confirm that you are human")
                )
                #expect(refused.response.text.contains(widget))
            }
            let done = try await opened.post(fields + [("cf-turnstile-response", "a person")])
            #expect(done.status == 200 && done.response.text.contains("signInCode=page_"), "\(done.response.text)")
        }
    }
}
