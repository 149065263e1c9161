import Development
import Domain
import Foundation
import IdentityService
import Projects
import Secrets
import Storage
import Testing
import TestKit
import Text

@Suite("Attacks on the console", .database)
struct ConsoleThreatTests {
    // MARK: T-D9

    @Test("T-D9: a session has a handle of its own, whatever cookie was there before")
    func fixation() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            let planted = Base64URL.encode([UInt8](repeating: 7, count: 32))
            let fields = [("email", person.email), ("password", ConsolePerson.password), ("code", person.nextCode())]
            let reply = try await person.send("POST", "/console/sign-in", fields, handle: planted)
            let cookie = try #require(reply.response.header("set-cookie"), "\(reply)")
            #expect(!cookie.contains(planted), "\(cookie)")
            #expect(cookie.hasPrefix("console=") && cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"))
            #expect(cookie.contains("Path=/;"), "\(cookie)")
            #expect(try await person.send("GET", "/console", handle: planted).status == 303)
            // Who signs in again has another one, and the old one is over.
            let old = try #require(person.handle)
            _ = try await person.signIn()
            let new = try #require(person.handle)
            #expect(old != new)
            #expect(try await person.send("GET", "/console", handle: old).status == 303)
            try await person.send("GET", "/console", handle: new).expectOK()
            // Two of the name: one of them is somebody else's.
            let both = try await service.send("GET", "/console", headers: [("Cookie", "console=\(new); console=x")])
            #expect(both.status == 303, "\(both)")
        }
        try await TestService.run { service in
            let code = try await service.stores.console.createAdmin(
                try #require(EmailAddress("secure@example.com")),
                project: nil,
                scopes: [],
                expiresAt: nil,
                now: service.clock.current
            ).code
            let page = try await service.send(
                "POST",
                "/console/set-up",
                headers: [("Origin", "https://id.example.com")],
                body: Array("setup=\(code.reveal())".utf8)
            )
            let form = try #require(HTMLForm.all(in: page.text).first, "\(page)")
            let key = try #require(page.text.firstMatch(of: #/<code class="key">([A-Z2-7 ]+)</#)).1
            let app = TOTP(secret: try #require(Base32.decode(String(key).replacing(" ", with: ""))))
            let fields = [
                ("setup", code.reveal()), ("enrollment", form.value("enrollment") ?? ""),
                ("password", ConsolePerson.password), ("code", app.code(of: TOTP.step(at: service.clock.seconds))),
            ]
            let done = try await service.send(
                "POST",
                "/console/set-up",
                headers: [("Origin", "https://id.example.com")],
                body: Array(FormFields(pairs: fields).text.utf8)
            )
            let cookie = try #require(done.response.header("set-cookie"), "\(done)")
            #expect(cookie.hasPrefix("__Host-console=") && cookie.contains("; Secure;"), "\(cookie)")
        }
    }

    @Test("T-D9: a form counts only with the session's token, and from our own page")
    func forgery() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            let other = try await ConsolePerson.setUp(service, "other@example.com")
            let user = try await service.signUp("ada@example.com")
            let path = person.path(user.localID)
            let (token, foreign) = (try await person.token(), try await other.token())
            let version = try await Self.version(person, path)
            let own: [(String, String)] = [("Sec-Fetch-Site", "same-origin")]
            for (name, token, headers) in [
                ("no token", "", own), ("another session's", foreign, own), ("cut", String(token.dropLast()), own),
                ("another site", token, [("Sec-Fetch-Site", "cross-site")]),
                ("another origin of the site", token, [("Sec-Fetch-Site", "same-site")]),
                ("nobody says", token, []), ("no origin", token, [("Origin", "null")]),
                ("another origin", token, [("Origin", "https://evil.example")]),
                (
                    "a foreign page with our origin", token,
                    [("Sec-Fetch-Site", "cross-site"), ("Origin", service.baseURL)]
                ),
            ] as [(String, String, [(String, String)])] {
                let fields = [("token", token), ("do", "disable"), ("version", version)]
                let reply = try await person.send("POST", path, fields, headers: headers)
                #expect(reply.status == 403, "\(name): \(reply)")
                #expect(try await service.account(user.localID)?["disabled"] != true, "\(name)")
            }
            for path in ["/console/sign-in", "/console/set-up"] {
                let fields = [
                    ("email", person.email), ("password", ConsolePerson.password), ("code", person.nextCode()),
                ]
                let reply = try await person.send(
                    "POST",
                    path,
                    fields,
                    handle: "none",
                    headers: [("Sec-Fetch-Site", "cross-site")]
                )
                #expect(reply.status == 403 && reply.response.header("set-cookie") == nil, "\(path): \(reply)")
            }
            let fields = [("token", token), ("do", "disable"), ("version", version)]
            let good = try await person.send("POST", path, fields, headers: [("Origin", service.baseURL)])
            #expect(good.status == 303, "\(good)")
            #expect(try await service.account(user.localID)?["disabled"] == true)
        }
    }

    private static func version(_ person: ConsolePerson, _ path: String) async throws -> String {
        let page = try await person.send("GET", path)
        return try #require(HTMLForm.all(in: page.text).compactMap { $0.value("version") }.first, "\(page)")
    }

    @Test("T-D9: what is grave asks for password and code again, then goes on; the session has a new handle")
    func recency() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            let user = try await service.signUp("ada@example.com")
            service.clock.advance(by: 901)
            let page = try await person.open(person.path(user.localID))
            let confirm = ["confirm": user.localID ?? "", "reason": "ticket 7"]
            let asked = try await person.press("Delete account", confirm, on: page)
            #expect(asked.heading == "Confirm that it is you", "\(asked.text)")
            #expect(try await service.account(user.localID) != nil)
            let wrong = try await person.press(
                "Continue",
                ["password": "x", "code": person.nextCode()],
                on: asked
            )
            #expect(wrong.status == 403 && wrong.heading == "Confirm that it is you", "\(wrong.text)")
            #expect(!wrong.text.contains("value=\"x\""), "a password does not come back")
            let old = person.handle
            let done = try await person.press(
                "Continue",
                ["password": ConsolePerson.password, "code": person.nextCode()],
                on: wrong
            )
            #expect(done.heading == "Accounts" && done.text.contains("Account deleted."), "\(done.text)")
            #expect(try await service.account(user.localID) == nil)
            #expect(person.handle != old)
            #expect(try await person.send("GET", "/console", handle: old).status == 303)
            // A while later it is not asked again.
            let grace = try await service.signUp("grace@example.com")
            service.clock.advance(by: 800)
            let second = try await person.open(person.path(grace.localID))
            let gone = try await person.press("Delete account", ["confirm": grace.localID ?? ""], on: second)
            #expect(gone.heading == "Accounts", "\(gone.text)")
        }
    }

    @Test("T-E13: a stranger's wrong attempts keep no admin out of a session or a browser of theirs")
    func lockout() async throws {
        let proxies = try #require(TrustedProxies(["127.0.0.1"]))
        try await TestService.runConsole {
            $0.limits.proxies = proxies
        } _: { service in
            let person = try await ConsolePerson.setUp(service)
            let user = try await service.signUp("ada@example.com")
            _ = try await person.signIn()
            service.clock.advance(by: 901)
            func attack() async throws {
                for number in 0..<40 {
                    let fields = [("email", person.email), ("password", "guess"), ("code", "000000")]
                    let reply = try await service.send(
                        "POST",
                        "/console/sign-in",
                        headers: [
                            ("Origin", service.baseURL), ("X-Forwarded-For", "198.18.40.\(number / 20)"),
                            ("Content-Type", "application/x-www-form-urlencoded"),
                        ],
                        body: Array(FormFields(pairs: fields).text.utf8)
                    )
                    #expect(reply.status == (number < 30 ? 403 : 429), "\(number): \(reply)")
                }
            }
            try await attack()
            // Proving it again in a live session.
            let page = try await person.open(person.path(user.localID))
            let asked = try await person.press("Delete account", ["confirm": user.localID ?? ""], on: page)
            #expect(asked.heading == "Confirm that it is you", "\(asked.text)")
            let proof = ["password": ConsolePerson.password, "code": person.nextCode()]
            let done = try await person.press("Continue", proof, on: asked)
            #expect(done.heading == "Accounts" && done.text.contains("Account deleted."), "\(done.text)")
            // Signing in again with the browser of the last sign-in; another browser waits.
            #expect(try await person.signIn().heading == "Projects")
            #expect(try await person.elsewhere().signIn().status == 429)
        }
    }

    @Test("T-E13: a live session, too, has a limit of its own")
    func triesOfASession() async throws {
        let proxies = try #require(TrustedProxies(["127.0.0.1"]))
        try await TestService.runConsole {
            $0.limits.proxies = proxies
        } _: { service in
            let person = try await ConsolePerson.setUp(service)
            let user = try await service.signUp("ada@example.com")
            service.clock.advance(by: 901)
            let path = person.path(user.localID)
            let token = try await person.token()
            var last: Reply?
            for number in 0..<31 {
                last = try await person.send(
                    "POST",
                    path,
                    [
                        ("token", token), ("do", "delete"), ("confirm", user.localID ?? ""), ("password", "guess"),
                        ("code", "000000"),
                    ],
                    headers: [("Origin", service.baseURL), ("X-Forwarded-For", "198.18.41.\(number)")]
                )
                #expect(last?.status == (number < 30 ? 403 : 429), "\(number): \(last?.text ?? "")")
            }
        }
    }

    @Test("T-D9: a session ends after half an hour without use, and after twelve hours")
    func endOfSession() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            for _ in 1...24 {
                service.clock.advance(by: 1_790)
                #expect(try await person.open("/console").heading == "Projects")
            }
            service.clock.advance(by: 300)
            #expect(try await person.open("/console").heading == "Sign in to the console", "twelve hours")
            _ = try await person.signIn()
            service.clock.advance(by: 1_801)
            #expect(try await person.open("/console").heading == "Sign in to the console", "half an hour")
        }
    }

    // MARK: T-D6

    @Test("T-D6: revoked, reset or expired, a session is over with the next request, on every node")
    func ending() async throws {
        var options = TestService.Options()
        options.ownPages = true
        try await TestService.runPair(options) { first, second in
            for (number, end) in ["revoke", "reset", "expire"].enumerated() {
                let email = "person\(number)@example.com"
                let person = try await ConsolePerson.setUp(
                    first,
                    email,
                    expiresAt: end == "expire" ? first.clock.current.addingTimeInterval(60) : nil
                )
                let user = try await first.signUp("ada\(number)@example.com")
                let there = ConsolePerson(
                    service: second,
                    browser: person.browser,
                    email: email,
                    id: person.id,
                    app: person.app
                )
                let handle = try #require(person.handle)
                let token = try await person.token()
                let version = try await Self.version(person, person.path(user.localID))
                try await there.send("GET", "/console", handle: handle).expectOK()
                let address = try #require(EmailAddress(email))
                switch end {
                case "revoke": try await first.stores.console.revokeAdmin(address, now: first.clock.current)
                case "reset": _ = try await first.stores.console.resetAdmin(address, now: first.clock.current)
                default: first.clock.advance(by: 60)
                }
                for node in [person, there] {
                    for path in ConsolePerson.paths(first, user.localID ?? "") {
                        #expect(try await node.send("GET", path, handle: handle).status == 303, "\(end) \(path)")
                    }
                    let fields = [("token", token), ("do", "disable"), ("version", version)]
                    let reply = try await node.send("POST", node.path(user.localID), fields, handle: handle)
                    #expect(reply.status == 403, "\(end): \(reply)")
                }
                #expect(try await first.account(user.localID)?["disabled"] != true, "\(end)")
            }
        }
    }

    // MARK: T-D10, T-D13

    @Test("T-D10: scopes and the project decide what an admin can see and do")
    func scopes() async throws {
        try await TestService.runConsole { service in
            let user = try await service.signUp("ada@example.com")
            let other = try #require(ProjectID(rawValue: "other-" + service.project.id.rawValue.suffix(8)))
            _ = try await service.stores.configuration.createProject(other, settings: ProjectSettings())
            let reader = try await ConsolePerson.setUp(service, "reader@example.com", scopes: [.readAccounts])
            let page = try await reader.open(reader.path(user.localID))
            #expect(page.status == 200 && !page.text.contains("name=\"do\""), "\(page.text)")
            let fields = [("token", try await reader.token()), ("do", "disable"), ("version", "1")]
            #expect(try await reader.send("POST", reader.path(user.localID), fields).status == 403)
            #expect(try await service.account(user.localID)?["disabled"] != true)

            let manager = try await ConsolePerson.setUp(service, "m@example.com", scopes: [.manageConfiguration])
            for path in ConsolePerson.paths(service, user.localID ?? "").dropFirst() {
                let isOpen = ["/providers", "/access", "/settings"].contains { path.hasSuffix($0) }
                let expected = isOpen ? 200 : path.contains("/providers/") ? 404 : 403
                #expect(try await manager.send("GET", path).status == expected, "\(path)")
                let refused = path.contains("/providers") || isOpen ? 403 : 200
                #expect(try await reader.send("GET", path).status == refused, "\(path)")
            }
            try await manager.send("GET", "/console/operations").expectOK()
            #expect(try await reader.send("GET", "/console/operations").status == 403)
            let bound = try await ConsolePerson.setUp(service, "bound@example.com", project: service.project.id)
            try await bound.send("GET", bound.path(user.localID)).expectOK()
            #expect(try await bound.send("GET", "/console/operations").status == 403)
            let list = try await bound.open("/console")
            #expect(!list.text.contains(other.rawValue), "\(list.text)")
            // The same whether or not there is such a project.
            for name in [other.rawValue, "no-such-project"] {
                #expect(try await bound.send("GET", "/console/\(name)/accounts").status == 403, "\(name)")
                #expect(try await bound.send("GET", "/console/\(name)/audit").status == 403, "\(name)")
            }
        }
    }

    @Test("T-D10: a form cannot choose who acts")
    func ownedFields() async throws {
        try await TestService.runConsole { service in
            let (_, code) = try await service.stores.console.createAdmin(
                try #require(EmailAddress("small@example.com")),
                project: service.project.id,
                scopes: [.readAccounts],
                expiresAt: nil,
                now: service.clock.current
            )
            let browser = ScriptedBrowser()
            let page = try await ConsolePerson.enter(code.reveal(), browser, service)
            let app = try ConsolePerson.app(on: page)
            var typed = [
                "password": ConsolePerson.password, "code": app.code(of: TOTP.step(at: service.clock.seconds)),
            ]
            for name in ["email", "scopes", "scope", "project", "kind", "admin", "id"] { typed[name] = "root" }
            _ = try await browser.submit(try #require(page.forms.first), typed, on: page)
            let listed = try await service.stores.console.listAdmins(now: service.clock.current)
            let small = try #require(listed.first { $0.admin.name == "small@example.com" })
            #expect(small.admin.scopes == [.readAccounts] && small.admin.project == service.project.id)
            #expect(small.isSetUp && listed.count { $0.admin.name == "root" } == 0)
        }
    }

    @Test("T-D13: nothing but a session of the console opens it, and that opens nothing else")
    func otherCredentials() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            let user = try await service.signUp("ada@example.com")
            let handle = try #require(person.handle)
            for path in ConsolePerson.paths(service, user.localID ?? "") {
                for headers in [
                    [], [("Authorization", "Bearer \(service.adminToken)")], [("x-goog-api-key", service.apiKey)],
                    [("Authorization", "Bearer \(user.idToken ?? "")")], [("Cookie", "console=\(service.adminToken)")],
                    [("Cookie", "console=\(user.refreshToken ?? "")")], [("Authorization", "Bearer \(handle)")],
                ] as [[(String, String)]] {
                    let reply = try await service.send("GET", path, headers: headers)
                    #expect(reply.status == 303, "\(path) \(headers): \(reply)")
                    let next = reply.response.header("location") ?? ""
                    #expect(next.hasPrefix("/console/sign-in"), "\(next)")
                }
            }
            // Somebody's setup code is no key either, though it is in the same table.
            let invited = try await service.stores.console.createAdmin(
                try #require(EmailAddress("invited@example.com")),
                project: nil,
                scopes: Set(AdminScope.allCases),
                expiresAt: nil,
                now: service.clock.current
            )
            for headers in [
                [("Cookie", "console=\(handle)")], [("Authorization", "Bearer \(handle)")],
                [("Authorization", "Bearer \(invited.code.reveal())")],
            ] {
                let reply = try await service.send(
                    "POST",
                    "/v1/projects/\(service.project.id)/accounts:lookup",
                    headers: headers,
                    body: Array(#"{"localId":["x"]}"#.utf8)
                )
                #expect(reply.status == 401, "\(reply)")
            }
            // What the database holds opens nothing.
            let hash = SecureHash.sha256(handle)
            for text in [Base64URL.encode(hash), hash.lowercaseHex] {
                #expect(try await person.send("GET", "/console", handle: text).status == 303)
            }
        }
    }
}
