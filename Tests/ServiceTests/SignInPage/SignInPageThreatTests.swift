import Development
import Domain
import Foundation
import HTTPTypes
import Projects
import Secrets
import Storage
import Testing
import TestKit
import Text

@Suite("Attacks on the sign-in page", .database, .testProvider)
struct SignInPageThreatTests {
    private static let ada = "ada@example.com"

    // MARK: Who is sent here, and where to

    @Test("there is none but where a project wants one")
    func off() async throws {
        try await ProviderScene.runSignInPage {
            $0.signInPage = false
        } _: { _, person in
            let reply = try await person.service.send("GET", person.path())
            #expect(reply.status == 400 && reply.pageCode == "OPERATION_NOT_ALLOWED", "\(reply)")
        }
    }

    @Test("what is missing, doubled or foreign ends on a page with a code")
    func badInput() async throws {
        try await ProviderScene.runSignInPage { _, person in
            for (name, value, code) in [
                ("apiKey", nil, "INVALID_ARGUMENT"), ("apiKey", "none", "INVALID_ARGUMENT"),
                ("continueUrl", nil, "MISSING_CONTINUE_URI"), ("continueUrl", "", "MISSING_CONTINUE_URI"),
                ("codeChallenge", nil, "INVALID_ARGUMENT"), ("codeChallenge", "", "INVALID_ARGUMENT"),
                ("tenantId", "some", "INVALID_TENANT_ID"),
            ] as [(String, String?, String)] {
                let reply = try await person.service.send("GET", person.path([(name, value)]))
                #expect(reply.status == 400 || reply.status == 403, "\(name): \(reply)")
                #expect(reply.pageCode == code || reply.pageCode == "PERMISSION_DENIED", "\(name): \(reply)")
                #expect(!reply.text.contains("href="), "\(name)")
            }
            for name in ["apiKey", "continueUrl", "codeChallenge", "lang", "tenantId"] {
                let twice = try await person.service.send("GET", person.path() + "&\(name)=x&\(name)=x")
                #expect(name == "lang" || twice.status == 400, "\(name)")
                #expect(twice.text.contains("<h1>"), "\(name)")
            }
            for body in ["", "page=x", "page=", "page=a&page=b", "%", "do=signIn&email=a&password=b"] {
                let reply = try await person.service.send(
                    "POST",
                    "/__/auth/sign-in",
                    headers: [
                        ("Content-Type", "application/x-www-form-urlencoded"), ("Sec-Fetch-Site", "same-origin"),
                    ],
                    body: Array(body.utf8)
                )
                #expect(reply.status == 400 && reply.text.contains("<h1>") && !reply.text.contains("href="), "\(reply)")
            }
        }
    }

    @Test("T-B6, T-B7: it leads only to the project's own pages")
    func openRedirect() async throws {
        try await ProviderScene.runSignInPage {
            $0.authorizedDomains = ["app.example.com", "localhost", "xn--bcher-kva.example"]
        } _: { scene, person in
            let harmless = [
                "https://app.example.com/#", "https://app.example.com/?", "https://app.example.com/?a=b&STATE=x",
            ]
            let malicious = ContinueURIThreatTests.malicious.filter { uri in !harmless.contains { uri.hasPrefix($0) } }
            #expect(malicious.count > 60)
            for uri in malicious + ["https://evil.example/#https://app.example.com/"] {
                let reply = try await person.service.send("GET", person.path([("continueUrl", uri)]))
                #expect(reply.status == 400 && !reply.text.contains("href"), "\(uri)")
                #expect(reply.response.header("set-cookie") == nil, "\(uri)")
            }
            // A domain that was taken from the list meanwhile is led to no more.
            _ = try await scene.service.signUp(Self.ada)
            let page = try await person.open()
            _ = try await scene.service.admin(
                "config?updateMask=authorizedDomains",
                ["authorizedDomains": ["app.example.com"]],
                method: "PATCH",
                version: "v2"
            )
            let end = try await person.signIn(Self.ada, "correct horse", on: page)
            #expect(end.status == 400 && end.leadsTo == nil && !end.text.contains("signInCode"), "\(end.text)")
        }
    }

    // MARK: Whose browser posts

    @Test("T-B1, T-B16, T-D9: a form counts only from our page in the browser that it was made for")
    func forgery() async throws {
        try await ProviderScene.runSignInPage { scene, person in
            _ = try await scene.service.signUp(Self.ada)
            let attackers = try await OpenedSignInPage(person)
            let victims = try await OpenedSignInPage(person)
            #expect(attackers.cookie != victims.cookie)
            let fields = [("do", "signIn"), ("email", Self.ada), ("password", "correct horse")]
            let own = scene.service.baseURL
            for (name, cookie, headers) in [
                ("no cookie", nil, [("Sec-Fetch-Site", "same-origin")]),
                ("another visit's", victims.cookie, [("Sec-Fetch-Site", "same-origin")]),
                (
                    "the name with another value", "\(attackers.name)=\(victims.value)",
                    [("Sec-Fetch-Site", "same-origin")]
                ), ("another site", attackers.cookie, [("Sec-Fetch-Site", "cross-site")]),
                ("another origin of the site", attackers.cookie, [("Sec-Fetch-Site", "same-site")]),
                ("nobody says", attackers.cookie, []), ("no origin", attackers.cookie, [("Origin", "null")]),
                ("another origin", attackers.cookie, [("Origin", "https://evil.example")]),
                ("another port", attackers.cookie, [("Origin", own + "1")]),
                (
                    "a foreign page with our origin", attackers.cookie,
                    [("Sec-Fetch-Site", "cross-site"), ("Origin", own)]
                ),
            ] as [(String, String?, [(String, String)])] {
                let reply = try await attackers.post(fields, cookie: cookie, headers)
                #expect(reply.status == 400 && reply.pageCode == "INVALID_SESSION_INFO", "\(name): \(reply)")
                #expect(!reply.text.contains("signInCode"), "\(name)")
            }
            for headers in [[("Sec-Fetch-Site", "same-origin")], [("Origin", own)]] {
                let reply = try await attackers.post(fields, cookie: attackers.cookie, headers)
                #expect(reply.status == 200 && reply.text.contains("signInCode=page_"), "\(reply)")
            }
            scene.service.clock.advance(by: 3_601)
            let late = try await attackers.post(fields, cookie: attackers.cookie, [("Origin", own)])
            #expect(late.status == 400 && late.pageCode == "SESSION_EXPIRED", "\(late)")
            #expect(late.text.contains("href=\"sign-in?"), "it can be started again")
        }
    }

    @Test("T-D9: each visit has a cookie of its own, whatever was there before, for this host and no script")
    func cookies() async throws {
        try await ProviderScene.runPages(.github) {
            $0.service.ownPages = false
            $0.service.settings.signInPage = true
        } _: { scene in
            let person = SignInPagePerson(service: scene.service)
            let first = try await OpenedSignInPage(person)
            let second = try await OpenedSignInPage(person, cookie: first.cookie)
            #expect(first.cookie != second.cookie && first.value != second.value)
            #expect(first.name.hasPrefix("__Host-identity-page-"))
            let many = (10...20).map { "__Host-identity-page-00000000000000\($0)=x" }.joined(separator: "; ")
            let reply = try await scene.service.send("GET", person.path(), headers: [("Cookie", many)])
            let headers = reply.response.headers.filter { $0.name.lowercased() == "set-cookie" }.map(\.value)
            #expect(
                headers.count == 12 && headers.filter { $0.contains("=; ") && $0.contains("Max-Age=0") }.count == 11
            )
            for attribute in ["Path=/", "HttpOnly", "Secure", "SameSite=Lax"] {
                #expect(headers.allSatisfy { $0.split(separator: "; ").contains { $0 == attribute } }, "\(headers)")
            }
        }
    }

    // MARK: What the app gets

    @Test("T-B5: the code is good once, for a minute, and for the app with the verifier alone")
    func code() async throws {
        try await ProviderScene.runSignInPage { scene, person in
            _ = try await scene.service.signUp(Self.ada)
            for (name, value) in [
                ("codeChallengeMethod", "plain"), ("codeChallengeMethod", "s256"), ("codeChallenge", nil),
                ("codeChallenge", person.verifier + "x"), ("codeChallenge", String(person.challenge.dropLast())),
                ("codeChallenge", String(repeating: "=", count: 43)),
            ] as [(String, String?)] {
                let reply = try await person.service.send("GET", person.path([(name, value)]))
                #expect(reply.status == 400 && reply.pageCode == "INVALID_ARGUMENT", "\(name) \(value ?? "none")")
            }
            try await person.service.send("GET", person.path([("codeChallengeMethod", "S256")])).expectOK()
            let end = try await person.signIn(Self.ada, "correct horse", on: try await person.open())
            let code = try #require(end.query["signInCode"])
            scene.secrets.add(code)
            #expect(end.query.pairs.map(\.name) == ["a", "signInCode"], "nothing else is in the address")
            let hex = SecureHash.sha256Hex(person.verifier)
            for verifier in ["", person.challenge, hex, "x" + person.verifier, String(repeating: "a", count: 43)] {
                let reply = try await person.redeem(code, verifier)
                #expect(reply.code == "INVALID_CUSTOM_TOKEN", "\(verifier): \(reply)")
            }
            for token in [code, "\(code).", ".\(person.verifier)", "page_.\(person.verifier)"] {
                let reply = try await scene.service.call("accounts:signInWithCustomToken", ["token": .string(token)])
                #expect(reply.code == "INVALID_CUSTOM_TOKEN", "\(token): \(reply)")
            }
            // Nor is it a flow that somebody finishes at `signInWithIdp`.
            let other = try await scene.service.call(
                "accounts:signInWithIdp",
                [
                    "requestUri": .string("http://localhost/?state=\(code)&code=x"),
                    "sessionId": .string(person.challenge),
                    "returnSecureToken": true,
                ]
            )
            #expect(other.status == 400)
            #expect(try await person.redeem(end).status == 200, "none of that used it up")
            #expect(try await person.redeem(end).code == "INVALID_CUSTOM_TOKEN")
            let late = try await person.signIn(Self.ada, "correct horse", on: try await person.open())
            scene.service.clock.advance(by: 61)
            #expect(try await person.redeem(late).code == "INVALID_CUSTOM_TOKEN")
        }
    }

    @Test("of many apps that redeem a code at once, one gets the session", .twoNodes)
    func race() async throws {
        try await ProviderScene.runSignInPage { scene, person in
            _ = try await scene.service.signUp(Self.ada)
            let end = try await person.signIn(Self.ada, "correct horse", on: try await person.open())
            let statuses = try await withThrowingTaskGroup(of: Int.self) { tasks in
                for _ in 0..<20 { tasks.addTask { try await person.redeem(end).status } }
                return try await tasks.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(statuses.count { $0 == 200 } == 1, "\(statuses)")
        }
    }

    @Test(
        "T-B11, T-B13: no token is in a page or URL, and pages enter no cache, frame or foreign referrer"
    )
    func leaks() async throws {
        try await ProviderScene.runSignInPage { scene, person in
            _ = try await scene.service.signUp(Self.ada)
            let page = try await OpenedSignInPage(person)
            let fields = [("do", "signIn"), ("email", Self.ada), ("password", "correct horse")]
            let end = try await page.post(fields, cookie: page.cookie, [("Sec-Fetch-Site", "same-origin")])
            let first = try await scene.service.send("GET", person.path())
            for reply in [first, end] {
                #expect(!reply.text.contains(/eyJ[\w-]+\.eyJ/))
                #expect(!reply.text.contains(scene.service.project.number.description + "."))
                #expect(reply.response.header("cache-control") == "no-store")
                #expect(["no-referrer", "same-origin"].contains(reply.response.header("referrer-policy")))
                #expect(reply.response.header("access-control-allow-origin") == nil)
                let policy = try #require(reply.response.header("content-security-policy"))
                #expect(policy.contains("frame-ancestors 'none'") && policy.contains("form-action 'self'"))
                #expect(!policy.contains("unsafe"))
            }
            #expect(end.response.header("referrer-policy") == "no-referrer" && end.response.header("location") == nil)
        }
    }

    @Test("T-B14: no input becomes script or markup")
    func script() async throws {
        try await ProviderScene.runSignInPage { _, person in
            let hostile = #"</script><script>alert(1)</script><img src=x onerror=alert(1)>"'&<!--"#
            for name in ["apiKey", "continueUrl", "codeChallenge", "lang", "tenantId"] {
                let text = try await person.service.send("GET", person.path([(name, hostile)])).text
                #expect(!text.contains("<script>alert") && !text.contains("<img") && !text.contains("<!--"), "\(name)")
            }
            let page = try await OpenedSignInPage(person)
            for name in ["email", "password", "provider", "do", "send", "factor", "code"] {
                let fields = (name == "do" ? [] : [("do", "signIn")]) + [(name, hostile)]
                let reply = try await page.post(fields, cookie: page.cookie, [("Sec-Fetch-Site", "same-origin")])
                #expect(!reply.text.contains("<script>alert") && !reply.text.contains("<img"), "\(name)")
            }
        }
    }
}
