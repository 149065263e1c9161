import Development
import Foundation
import HTTPTypes
import Projects
import TestKit
import Testing
import Text

@Suite("Hostile text in the console", .database)
struct ConsoleMarkupTests {
    @Test("T-B13: no page can be framed, run a script or be cached")
    func headers() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            let user = try await service.signUp("ada@example.com")
            let pages =
                ConsolePerson.paths(service, user.localID ?? "") + [
                    "/console/sign-in", "/console/set-up", "/console/nowhere-at-all/accounts", person.path("none"),
                ]
            for path in pages {
                let reply = try await person.send("GET", path)
                let policy = reply.response.header("content-security-policy") ?? ""
                #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "\(path)")
                #expect(!policy.contains("unsafe") && !policy.contains("script-src"), "\(path): \(policy)")
                #expect(policy.contains("form-action 'self'") && policy.contains("base-uri 'none'"), "\(path)")
                #expect(reply.response.header("cache-control") == "no-store", "\(path)")
                #expect(reply.response.header("x-content-type-options") == "nosniff", "\(path)")
                #expect(reply.response.header("access-control-allow-origin") == nil, "\(path)")
                #expect(!reply.text.contains("<script") && !reply.text.contains(" style="), "\(path)")
                #expect(reply.response.body.count < 100_000, "\(path)")
            }
            let page = try await person.open("/console")
            let sheet = try #require(page.text.firstMatch(of: #/href="([^"]+\.css)"/#)).1
            let file = try await service.send("GET", String(sheet))
            #expect(file.status == 200 && file.response.header("cache-control")?.contains("immutable") == true)
            #expect(try await service.send("GET", "/console/files/console.css").status == 404)
        }
    }

    private static let hostile = [
        "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onmouseover='alert(1)",
        "</title><svg/onload=a>",
        "&lt;b&gt;", "javascript:alert(1)", "\u{202e}gnp.exe", "{{7*7}}", "${7*7}", "%00", "a\r\nSet-Cookie: a=b",
        "..", "../../etc/passwd", "' OR 1=1 --", "\\", "+", "@", "~", "~x", String(repeating: "x", count: 5_000),
    ]

    @Test("T-B14: names, terms and paths never become markup, and nothing hostile ends in an error of ours")
    func markup() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            let user = try await service.signUp("ada@example.com")
            let root = "/console/\(service.project.id)"
            for text in Self.hostile {
                let name = String(text.prefix(200))
                _ = try await service.call(
                    "accounts:update",
                    ["idToken": JSON(user.idToken), "displayName": .string(name)]
                )
                let shown = try await person.send("GET", person.path(user.localID))
                #expect(shown.status == 200, "\(text): \(shown)")
                expectPlain(shown, text)
                let encoded = FormFields(pairs: [("q", text)]).text
                for path in [
                    "\(root)/accounts?\(encoded)", "\(root)/accounts?after=\(encoded.dropFirst(2))",
                    "\(root)/audit?actor=\(encoded.dropFirst(2))&action=\(encoded.dropFirst(2))",
                    "\(root)/accounts/\(encoded.dropFirst(2))", "\(root)/tenants/\(encoded.dropFirst(2))/accounts",
                    "/console/\(encoded.dropFirst(2))/accounts", "/console/sign-in?next=\(encoded.dropFirst(2))",
                    "\(root)/accounts?done=\(encoded.dropFirst(2))",
                ] {
                    // Some of it is no path of a route at all.
                    let cookie = ("Cookie", "console=\(person.handle ?? "")")
                    let reply = Reply(try await PlainHTTP.send("GET", service.baseURL + path, headers: [cookie]))
                    #expect(reply.status < 500, "\(path): \(reply)")
                    expectPlain(reply, path)
                    let redirect = reply.response.header("location") ?? "/console"
                    #expect(redirect.hasPrefix("/console"), "\(path): \(redirect)")
                }
                let fields = [("token", try await person.token()), ("version", text), ("do", text), ("reason", text)]
                let posted = try await person.send("POST", person.path(user.localID), fields)
                #expect(posted.status == 400, "\(text): \(posted)")
                expectPlain(posted, text)
                let signIn = [("email", text), ("password", text), ("code", text), ("next", text)]
                let refused = try await person.send("POST", "/console/sign-in", signIn, handle: "none")
                #expect([400, 403, 429].contains(refused.status), "\(text): \(refused)")
                expectPlain(refused, text)
                service.clock.advance(by: 60)
            }
            for body in ["%", "token=a&token=b", "a=%FF", String(repeating: "a=b&", count: 300)] {
                let reply = try await service.send(
                    "POST",
                    person.path(user.localID),
                    headers: [("Cookie", "console=\(person.handle ?? "")"), ("Sec-Fetch-Site", "same-origin")],
                    body: Array(body.utf8)
                )
                #expect(reply.status == 400 && reply.text.contains("<h1>"), "\(body.prefix(20)): \(reply)")
            }
        }
    }

    private func expectPlain(_ reply: Reply, _ what: String) {
        for marker in ["<script", "<img", "<svg/", "onmouseover='", "onerror=alert(1)>"] {
            #expect(!reply.text.contains(marker), "\(what): \(marker)")
        }
        #expect(reply.response.header("set-cookie")?.contains("a=b") != true, "\(what)")
    }

    @Test("a sign-in always leads to a console page")
    func openRedirect() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            for next in [
                "https://evil.example", "//evil.example", "/\\evil.example", "/console//evil.example", "/consoleevil",
                "/console/../../x\n", "javascript:alert(1)", "/v1/accounts", "/console/sign-in",
                "/console/a:b@evil.example",
            ] {
                let fields = [
                    ("email", person.email), ("password", ConsolePerson.password), ("code", person.nextCode()),
                    ("next", next),
                ]
                let reply = try await person.send("POST", "/console/sign-in", fields, handle: "none")
                #expect(reply.status == 303 && reply.response.header("location") == "/console", "\(next): \(reply)")
            }
        }
    }

    @Test("T-B13: what no route or form can read gets a page of the console, like all else there")
    func unreadable() async throws {
        try await TestService.runConsole { service in
            let handle = try #require(try await ConsolePerson.setUp(service).handle)
            let port = try #require(URLParts(service.baseURL)?.port)
            let root = "/console/\(service.project.id)"
            for (path, status) in [
                ("/console/%FF/accounts", 404), ("\(root)/providers/%C2%B5%F2%8D", 404), ("\(root)/no-such-page", 404),
                ("\(root)//accounts", 404), ("\(root)/accounts/%2F", 404), ("/console/files/%FF", 404),
                ("/console/files/none.css", 404), ("/console/", 404), ("\(root)/accounts?q=%00", 400),
                ("\(root)/accounts?q=%FF", 400), ("\(root)/accounts?q=a&q=b", 400), ("/console/sign-in?next=%", 400),
            ] {
                let reply = try await RawConnection.open(port: port) { connection in
                    // As it stands: HTTP clients would mend some of it.
                    try await connection.send(
                        "GET \(path) HTTP/1.0\r\nHost: localhost\r\nCookie: console=\(handle)\r\n\r\n"
                    )
                    return try await connection.readAll().lowercased()
                }
                #expect(reply.hasPrefix("http/1.1 \(status) "), "\(path): \(reply)")
                #expect(reply.contains("default-src 'none'") && reply.contains("frame-ancestors 'none'"), "\(path)")
                #expect(reply.contains("content-type: text/html; charset=utf-8"), "\(path): \(reply)")
                #expect(!reply.contains("access-control-allow-origin"), "\(path)")
                #expect(reply.contains("go to the start page"), "\(path): \(reply)")
            }
            let posted = try await service.send("DELETE", "/console", headers: [("Cookie", "console=\(handle)")])
            #expect(posted.status == 405 && posted.text.contains("<h1>"), "\(posted)")
            #expect(posted.response.header("allow") == "GET", "\(posted)")
        }
    }
}
