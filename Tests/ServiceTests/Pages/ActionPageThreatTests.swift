import Accounts
import Delivery
import Foundation
import InMemoryLogging
import Projects
import Storage
import TestKit
import Testing

@Suite("Faults in email links", .database, .serialized)
struct ActionPageThreatTests {
    private static let types: [OOBCodeType] = [
        .verifyEmail, .verifyAndChangeEmail, .recoverEmail, .revertSecondFactor, .passwordReset, .emailSignIn,
    ]

    private func run(
        _ change: @Sendable (inout ProjectSettings) -> Void = { _ in },
        _ body: @Sendable (TestService) async throws -> Void
    ) async throws {
        try await MailScene.run(
            {
                $0.authorizedDomains = ["app.example.com"]
                $0.offerApps()
                change(&$0)
            },
            body
        )
    }

    /// The same refusal of the page and of its form.
    private func expect(
        _ code: String,
        status: Int = 400,
        _ link: ActionLinkItems,
        _ service: TestService,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await service.open(link).expectProblem(code, status: status, sourceLocation: sourceLocation)
        try await service.post(link, [("newPassword", "another one")])
            .expectProblem(code, status: status, sourceLocation: sourceLocation)
    }

    @Test("each is a page with a code, a next step and the status of the API's error", arguments: types)
    func everyProblem(_ type: OOBCodeType) async throws {
        try await run { service in
            let continueURL = type == .emailSignIn ? "https://app.example.com/" : nil
            let (link, _) = try await service.actionMail(type, continueURL: continueURL)
            let hostile = #""><script>alert(1)</script>"#
            for bad in ["x", "AAAA", hostile, String(repeating: "A", count: 43), String(repeating: "a", count: 5_000)] {
                try await expect("INVALID_OOB_CODE", link.with("oobCode", bad), service)
            }
            try await expect("MISSING_OOB_CODE", link.with("oobCode", nil), service)
            try await expect("MISSING_OOB_CODE", link.with("oobCode", ""), service)
            for bad in [nil, "", "VERIFY_EMAIL", "action", hostile] {
                try await expect("INVALID_ARGUMENT", link.with("mode", bad), service)
            }
            try await expect("PERMISSION_DENIED", status: 403, link.with("apiKey", nil), service)
            try await expect("INVALID_ARGUMENT", link.with("apiKey", hostile), service)
            try await expect("INVALID_TENANT_ID", link.with("tenantId", "tenant-1"), service)
            for name in ["mode", "oobCode", "apiKey", "continueUrl", "lang", "tenantId"] {
                try await expect("INVALID_ARGUMENT", link.with(name, link[name] ?? "x").doubling(name), service)
            }
            if type == .passwordReset {
                try await service.post(link.with("newPassword", "another one"), [("newPassword", "a third one")])
                    .expectProblem("INVALID_ARGUMENT")
            }
            // Another mode than the code's.
            for other in Self.types where other != type && other != .emailSignIn {
                try await expect("INVALID_OOB_CODE", link.with("mode", other.mode), service)
            }
            service.clock.advance(by: 3 * 86_400)
            try await expect("EXPIRED_OOB_CODE", link, service)
        }
    }

    @Test("a code of another project is none", arguments: types)
    func foreignProject(_ type: OOBCodeType) async throws {
        try await run { service in
            let (link, _) = try await service.actionMail(type, continueURL: nil)
            try await run { other in
                let foreign = link.with("apiKey", other.apiKey).with("continueUrl", "https://app.example.com/")
                try await expect("INVALID_OOB_CODE", foreign, other)
            }
        }
    }

    @Test("accounts that are disabled, gone or different now", arguments: types)
    func accountChanged(_ type: OOBCodeType) async throws {
        guard type != .emailSignIn else { return }
        try await run { service in
            let (link, user) = try await service.actionMail(type)
            func disable(_ flag: Bool) async throws {
                let body: JSON = ["localId": JSON(user.localID), "disableUser": .bool(flag)]
                try await service.admin("accounts:update", body).expectOK()
            }
            try await disable(true)
            try await service.open(link).expectProblem("USER_DISABLED")
            try await disable(false)
            try await service.open(link).expectOK()
            _ = try await service.admin("accounts:delete", ["localId": JSON(user.localID)])
            try await expect("INVALID_OOB_CODE", link, service)
        }
    }

    @Test("an address that another account has by now")
    func addressTaken() async throws {
        try await run { service in
            let (link, _) = try await service.actionMail(.verifyAndChangeEmail)
            _ = try await service.signUp("ada@example.net")
            try await service.post(link).expectProblem("EMAIL_EXISTS")
        }
    }

    @Test(
        "T-E6: an address that another account has verified by now: the page says what was done",
        arguments: ["en", "de", "ja"]
    )
    func addressLost(_ language: String) async throws {
        try await run { service in
            let (link, user) = try await service.actionMail(.recoverEmail)
            let address = try await service.open(link.with("lang", language)).text
            _ = try await service.verifiedUser("ada@example.com")
            let page = try await service.post(link.with("lang", language))
            page.expectProblem("EMAIL_EXISTS")
            #expect(page.text != address && page.text.contains(Self.lost[language] ?? "?"), "\(page)")
            #expect(try await service.account(user.localID)?["email"] == nil)
        }
    }

    private static let lost = ["en": "secure again", "de": "wieder sicher", "ja": "保護されました"]

    @Test("a project that has no passwords any more")
    func notOffered() async throws {
        try await run { service in
            let (link, _) = try await service.actionMail(.passwordReset)
            let config: JSON = ["signIn": ["email": ["enabled": false]]]
            _ = try await service.admin(
                "config?updateMask=signIn.email.enabled",
                config,
                method: "PATCH",
                version: "v2"
            )
            try await expect("PASSWORD_LOGIN_DISABLED", link, service)
        }
    }

    @Test("guesses from one place come to an end, on a page")
    func limited() async throws {
        try await LimitScene.run({ $0.rateLimits[.codeTriesPerAddress].count = 2 }) { service in
            let user = try await service.signUp("ada@example.com")
            _ = try await service.sendCode(.verifyEmail, ["idToken": JSON(user.idToken)])
            let link = ActionLinkItems(try await service.mail(.verifyEmail, to: "ada@example.com"))
            let guess = link.with("oobCode", String(repeating: "A", count: 43))
            for _ in 0..<2 { try await service.open(guess).expectProblem("INVALID_OOB_CODE") }
            try await service.open(guess).expectProblem("TOO_MANY_ATTEMPTS_TRY_LATER")
        }
    }

    @Test("queries and forms that cannot be read, or are too long")
    func unreadable() async throws {
        try await run { service in
            try await service.send("GET", "/__/auth/action?mode=%ff&lang=de").expectProblem("INVALID_ARGUMENT")
            try await service.send("GET", "/__/auth/action").expectProblem("INVALID_ARGUMENT")
            let german = try await service.send("GET", "/__/auth/action?%", headers: [("Accept-Language", "de")])
            german.expectProblem("INVALID_ARGUMENT")
            #expect(german.text.contains(#"<html lang="de" dir="ltr">"#))
            for (type, body) in [
                ("application/x-www-form-urlencoded", "mode=%"), ("application/json", #"{"mode":"verifyEmail"}"#),
                ("text/plain", ""),
            ] {
                let reply = try await service.send(
                    "POST",
                    "/__/auth/action",
                    headers: [("Content-Type", type)],
                    body: Array(body.utf8)
                )
                reply.expectProblem("INVALID_ARGUMENT")
            }
            let long = [UInt8](repeating: UInt8(ascii: "a"), count: 1 << 20 + 1)
            try await service.send("POST", "/__/auth/action", body: long).expectProblem("INVALID_ARGUMENT", status: 413)
        }
    }

    @Test("T-B6, T-B7: no page leads outside the project's domains, whatever its link says")
    func leadsNowhereElse() async throws {
        try await run { service in
            let user = try await service.signUp("ada@example.com")
            _ = try await service.sendCode(.emailSignIn, ["email": "ada@example.com"])
            let signIn = ActionLinkItems(try await service.mail(.emailSignIn, to: "ada@example.com"))
            let corpus =
                ContinueURIThreatTests.malicious + ["javascript:alert(1)", "//evil.example", "data:text/html,x"]
            // What follows a `#` is the app's own business here, and so is its `state`.
            for uri in corpus where !uri.contains("#") && !uri.hasPrefix("https://app.example.com/?") {
                let reply = try await service.open(signIn.with("continueUrl", uri))
                #expect(reply.status == 400 && reply.response.header("location") == nil, "\(uri)")
                let codes = ["INVALID_CONTINUE_URI", "UNAUTHORIZED_DOMAIN", "MISSING_CONTINUE_URI", "INVALID_ARGUMENT"]
                #expect(codes.contains(reply.pageCode ?? ""), "\(uri): \(reply)")
                #expect(!reply.text.contains("evil"))
                let body: JSON = ["idToken": JSON(user.idToken)]
                let code = try await service.code(.verifyEmail, body, to: "ada@example.com")
                let link = signIn.with("mode", "verifyEmail").with("oobCode", code).with("continueUrl", uri)
                let done = try await service.post(link)
                #expect(done.status == (reply.pageCode == "INVALID_ARGUMENT" ? 400 : 200), "\(uri)")
                #expect(!done.text.contains("href=") && done.response.header("location") == nil, "\(uri): \(done)")
            }
        }
    }

    @Test("T-E3: no header names a host on a page of a link, nor where a link to sign in leads")
    func ownAddress() async throws {
        try await MailScene.run {
            $0.authorizedDomains = ["app.example.com"]
            $0.allowsEmailLink = true
        } _: { service in
            let headers = [
                ("X-Forwarded-Host", "evil.example"), ("Forwarded", "host=evil.example;proto=http"),
                ("X-Forwarded-Proto", "http"), ("Origin", "https://evil.example"), ("Referer", "https://evil.example/"),
            ]
            let verify = try await service.actionMail(.verifyEmail, continueURL: "https://app.example.com/").link
            for reply in [
                try await service.open(verify, headers: headers),
                try await service.open(verify.with("apiKey", nil), headers: headers),
            ] { #expect(reply.text.contains("<h1>") && !reply.text.contains("evil"), "\(reply)") }
            let body: JSON = [
                "email": "grace@example.com", "continueUrl": "https://app.example.com/in", "canHandleCodeInApp": true,
            ]
            _ = try await service.sendCode(.emailSignIn, body)
            let signIn = ActionLinkItems(try await service.mail(.emailSignIn, to: "grace@example.com"))
            let led = try await service.open(signIn, headers: headers)
            let location = led.response.header("location")
            #expect(led.status == 303 && location?.hasPrefix("https://app.example.com/in?") == true, "\(led)")
        }
    }

    @Test(
        "T-E3: nor where the mail leads that comes of pressing a button, whatever the Host and the headers of proxies say"
    )
    func ownAddressInMails() async throws {
        try await run { service in
            let (link, _) = try await service.actionMail(.verifyAndChangeEmail)
            let port = try #require(URLComponents(string: service.baseURL)?.port)
            func send(_ method: String, _ path: String, _ body: String = "") async throws -> String {
                let head = """
                    \(method) \(path) HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\n\
                    X-Forwarded-Proto: http\r\nX-Forwarded-Port: 666\r\nX-Original-Host: evil.example\r\n\
                    Forwarded: host=evil.example;proto=http\r\nContent-Length: \(body.utf8.count)\r\n\
                    Content-Type: application/x-www-form-urlencoded\r\nConnection: close\r\n\r\n\(body)
                    """
                return try await RawConnection.open(port: port) { connection in
                    try await connection.send(head)
                    return try await connection.readAll()
                }
            }
            let question = try await send("GET", link.path)
            #expect(question.hasPrefix("HTTP/1.1 200") && !question.contains("evil"), "\(question)")
            #expect(question.contains(#"<form method="post" action="action">"#))
            let done = try await send("POST", "/__/auth/action", link.text)
            #expect(done.hasPrefix("HTTP/1.1 200") && !done.contains("evil"), "\(done)")
            let back = try await service.mail(.recoverEmail, to: "ada@example.com")
            #expect(back.mail.link.hasPrefix("https://id.example.com/__/auth/action?mode=recoverEmail&"))
            #expect(!back.mail.link.contains("evil"))
        }
    }

    @Test("T-B14: what a link and a project say is text on the page, never a part of it")
    func escapes() async throws {
        let hostile = #"</title><img src=x onerror="alert(1)">"#
        try await run({ $0.mail.appName = hostile }) { service in
            let (link, _) = try await service.actionMail(.verifyEmail)
            let bad = link.with("continueUrl", hostile).with("lang", #"en"><script>"#)
            for page in [try await service.open(bad), try await service.post(bad)] {
                #expect(page.status == 200 && !page.text.contains("<img"), "\(page.text)")
                #expect(page.text.contains("&lt;img src=x onerror=&quot;alert(1)&quot;&gt;"))
                #expect(!page.text.contains("<script>"))
            }
        }
    }

    @Test("T-B13: no page can be framed or cached, or runs foreign scripts")
    func headers() async throws {
        try await run { service in
            let (link, _) = try await service.actionMail(.verifyEmail)
            var nonces: Set<String> = []
            for page in [
                try await service.open(link), try await service.open(link.with("mode", nil)),
                try await service.post(link), try await service.send("GET", "/__/auth/action?%"),
            ] {
                let policy = try #require(page.response.header("content-security-policy"))
                #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
                #expect(!policy.contains("unsafe"))
                let nonce = try #require(policy.firstMatch(of: /script-src 'nonce-([A-Za-z0-9_-]{43})';/)).1
                nonces.insert(String(nonce))
                #expect(page.response.header("cache-control") == "no-store")
                #expect(page.response.header("referrer-policy") == "no-referrer")
                #expect(page.response.header("set-cookie") == nil)
            }
            #expect(nonces.count == 4)
        }
    }

    @Test("the code and the new password are in no log")
    func logsNothing() async throws {
        try await run { service in
            let (link, _) = try await service.actionMail(.passwordReset)
            let code = try #require(link["oobCode"])
            _ = try await service.open(link)
            _ = try await service.post(link, [("newPassword", "weak")])
            try await service.post(link, [("newPassword", "the new one")]).expectOK()
            try await service.open(link).expectProblem("INVALID_OOB_CODE")
            let logs = "\(service.logs.entries)"
            #expect(
                logs.contains("/__/auth/action") && logs.contains("INVALID_OOB_CODE") && logs.contains("WEAK_PASSWORD")
            )
            #expect(!logs.contains(code) && !logs.contains("the new one") && !logs.contains("ada@example.com"))
        }
    }
}
