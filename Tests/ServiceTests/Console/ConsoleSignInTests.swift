import Development
import Domain
import Foundation
import Passwords
import Projects
import Secrets
import Storage
import Testing
import TestKit

@Suite("Signing in to the console", .database)
struct ConsoleSignInTests {
    private static let root = "root@example.com"

    private static func invite(_ service: TestService, _ email: String = root) async throws -> String {
        try await service.stores.console.createAdmin(
            try #require(EmailAddress(email)),
            project: nil,
            scopes: Set(AdminScope.allCases),
            expiresAt: nil,
            now: service.clock.current
        ).code.reveal()
    }

    @Test("a setup code leads to a password, an app and a session; then password and code do")
    func wholeWay() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            let projects = try await person.open("/console")
            #expect(projects.text.contains("/console/\(service.project.id)/overview"), "\(projects.text)")
            let out = try await person.press("Sign out", on: projects)
            #expect(out.heading == "You are signed out", "\(out.text)")
            #expect(person.handle == nil)
            let asked = try await person.open("/console/\(service.project.id)/accounts?q=a%20b")
            #expect(asked.heading == "Sign in to the console", "\(asked.text)")
            let form = try #require(asked.form(with: "Sign in"))
            let values = ["email": "ROOT@Example.com", "password": ConsolePerson.password, "code": person.nextCode()]
            let back = try await person.browser.submit(form, values, on: asked)
            #expect(back.url.hasSuffix("/console/\(service.project.id)/accounts?q=a%20b"), "\(back.url)")
            #expect(back.heading == "Accounts", "\(back.text)")
            #expect(back.text.contains(#"value="a b""#), "\(back.text)")
        }
    }

    @Test("a setup code is good once, and for a day")
    func setUpCode() async throws {
        try await TestService.runConsole { service in
            let code = try await Self.invite(service)
            let browser = ScriptedBrowser()
            #expect(try await ConsolePerson.enter("x", browser, service).status == 403)
            let first = try await ConsolePerson.enter(code, browser, service)
            let second = try await ConsolePerson.enter(code, browser, service)
            // Two may begin, and one ends it.
            let step = TOTP.step(at: service.clock.seconds)
            for (page, heading) in [(first, "Projects"), (second, "Set up your account")] {
                let done = try await browser.submit(
                    try #require(page.form(with: "Set up and sign in"), "\(page.text)"),
                    ["password": ConsolePerson.password, "code": try ConsolePerson.app(on: page).code(of: step)],
                    on: page
                )
                #expect(done.heading == heading, "\(done.text)")
            }
            let late = try await Self.invite(service, "late@example.com")
            service.clock.advance(by: ConsoleStore.invitationLifetime + 1)
            let refused = try await ConsolePerson.enter(late, browser, service)
            #expect(refused.status == 403 && refused.heading == "Set up your account", "\(refused.text)")
        }
    }

    @Test("what is chosen must be long, and the app must show the right code; then it goes on as it was")
    func choosing() async throws {
        try await TestService.runConsole { service in
            let browser = ScriptedBrowser()
            var page = try await ConsolePerson.enter(try await Self.invite(service), browser, service)
            let app = try ConsolePerson.app(on: page)
            let code = app.code(of: TOTP.step(at: service.clock.seconds))
            for (password, code) in [("short", code), ("elevenchars", code), (ConsolePerson.password, "000000")] {
                page = try await browser.submit(
                    try #require(page.form(with: "Set up and sign in"), "\(page.text)"),
                    ["password": password, "code": code],
                    on: page
                )
                #expect(page.status == 403 && page.text.contains(#"role="alert""#), "\(page.text)")
                #expect(!page.text.contains(password == "short" ? "value=\"short\"" : password), "\(page.text)")
                let again = try ConsolePerson.app(on: page)
                #expect(again.code(of: 1) == app.code(of: 1), "the same app")
            }
            service.clock.advance(by: 3_600)
            let late = try await browser.submit(
                try #require(page.form(with: "Set up and sign in")),
                ["password": ConsolePerson.password, "code": app.code(of: TOTP.step(at: service.clock.seconds))],
                on: page
            )
            #expect(late.heading == "Set up your account" && late.status == 403, "\(late.text)")
        }
    }

    @Test("every wrong input gets the same response and the same work")
    func wrongOnes() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            let gone = try await ConsolePerson.setUp(service, "gone@example.com")
            try await service.stores.console.revokeAdmin(
                try #require(EmailAddress(gone.email)),
                now: service.clock.current
            )
            _ = try await Self.invite(service, "invited@example.com")
            let browser = person.elsewhere()
            func text(_ email: String, _ password: String, _ code: String) async throws -> (String, Int) {
                let begun = service.passwords.begun
                let visit = try await browser.signIn(email: email, password: password, code: code)
                #expect(visit.status == 403, "\(visit.text)")
                #expect(browser.handle == nil)
                return (visit.text.replacing(email, with: ""), service.passwords.begun - begun)
            }
            service.clock.advance(by: 30)
            let expected = try await text(person.email, "another long phrase", person.code())
            for (email, password, code) in [
                (person.email, ConsolePerson.password, "000000"), (person.email, ConsolePerson.password, "x"),
                ("nobody@example.com", ConsolePerson.password, person.code()),
                ("no-address", ConsolePerson.password, person.code()),
                (gone.email, ConsolePerson.password, gone.code()),
                ("invited@example.com", ConsolePerson.password, person.code()),
                (person.email, String(repeating: "x", count: 5_000), person.code()),
            ] {
                let said = try await text(email, password, code)
                #expect(said.0 == expected.0, "\(email)")
                #expect(said.1 == 1 && expected.1 == 1, "one hash each")
            }
            let entered = try await browser.signIn(code: person.code())
            #expect(entered.heading == "Projects", "none of it kept the right one out: \(entered.text)")
        }
    }

    @Test("T-B12: password and code are answered with a redirect that no browser follows by sending them again")
    func redirects() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            let fields = [("email", person.email), ("password", ConsolePerson.password), ("code", person.nextCode())]
            let reply = try await person.send("POST", "/console/sign-in", fields, handle: "none")
            #expect(reply.status == 303 && reply.response.header("location") == "/console", "\(reply)")
        }
    }

    @Test("a code of the app is good once, also of two at the same time")
    func codeOnce() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            let fields = [("email", person.email), ("password", ConsolePerson.password), ("code", person.nextCode())]
            let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
                for _ in 1...8 {
                    group.addTask { try await person.send("POST", "/console/sign-in", fields, handle: "none") }
                }
                return try await group.reduce(into: [Reply]()) { $0.append($1) }
            }
            #expect(replies.count { $0.status == 303 } == 1, "\(replies.map(\.status))")
            #expect(replies.count { $0.status == 403 } == 7, "\(replies.map(\.status))")
            let later = try await person.elsewhere().signIn(code: person.code())
            #expect(later.status == 403, "\(later.text)")
            let before = try await person.elsewhere().signIn(code: person.code(-1))
            #expect(before.status == 403, "nor one before it: \(before.text)")
        }
    }

    @Test("failed attempts are limited, by address and by person; good ones are not")
    func limits() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            for _ in 1...25 {
                let entered = try await person.elsewhere().signIn()
                #expect(entered.heading == "Projects", "\(entered.text)")
            }
            var last = 0
            for _ in 1...21 { last = try await person.elsewhere().signIn(code: "000000").status }
            #expect(last == 429)
            let refused = try await person.elsewhere().signIn()
            #expect(refused.status == 429, "the right ones too: \(refused.text)")
            #expect(refused.text.contains("Too many attempts"), "\(refused.text)")
            service.clock.advance(by: 1_800)
            let entered = try await person.elsewhere().signIn()
            #expect(entered.heading == "Projects", "\(entered.text)")
        }
    }

    @Test("an entry of the audit log for each step, by whom")
    func audit() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            _ = try await person.elsewhere().signIn()
            let email = try #require(EmailAddress(person.email))
            _ = try await service.stores.console.resetAdmin(email, now: service.clock.current)
            try await service.stores.console.revokeAdmin(email, now: service.clock.current)
            let page = try await service.stores.auditLog.page(AuditQuery(), of: nil, after: nil, size: 100)
            let own = page.changes.filter { $0.resource == person.id }
            #expect(
                Set(own.map(\.action))
                    == ["ADMIN_CREATED", "ADMIN_SET_UP", "ADMIN_SIGNED_IN", "ADMIN_RESET", "ADMIN_REVOKED"]
            )
            for change in own where ["ADMIN_SET_UP", "ADMIN_SIGNED_IN"].contains(change.action) {
                #expect(change.actor == "admin:\(person.id)" && change.addressPrefix != nil, "\(change)")
            }
        }
    }

    @Test("reset takes password and app back; the address of somebody who was revoked may come again")
    func reset() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            let email = try #require(EmailAddress(person.email))
            await #expect(throws: ConfigurationError.alreadyExists) { _ = try await Self.invite(service) }
            let code = try await service.stores.console.resetAdmin(email, now: service.clock.current)
            #expect(try await person.open("/console").heading == "Sign in to the console")
            #expect(try await person.signIn().status == 403)
            let page = try await ConsolePerson.enter(code.reveal(), ScriptedBrowser(), service)
            #expect(page.heading == "Set a password and an authenticator app", "\(page.text)")
            try await service.stores.console.revokeAdmin(email, now: service.clock.current)
            #expect(try await ConsolePerson.enter(code.reveal(), ScriptedBrowser(), service).status == 403)
            await #expect(throws: ConfigurationError.notFound) {
                try await service.stores.console.revokeAdmin(email, now: service.clock.current)
            }
            let again = try await ConsolePerson.setUp(service)
            #expect(again.id != person.id)
        }
    }

    @Test("identity dev signs in the person at the machine, and asks for nothing twice")
    func development() async throws {
        try await TestService.runConsole {
            $0.development = true
            $0.settings = .development
        } _: { service in
            let browser = ScriptedBrowser()
            var page = try await browser.open(service.baseURL + "/console")
            let leads = try #require(page.leadsTo)
            #expect(leads == "/console")
            page = try await browser.open(service.baseURL + leads)
            #expect(page.heading == "Projects", "\(page.text)")
            let elsewhere = try await service.send(
                "GET",
                "/console/sign-in",
                headers: [("Host", "evil.example")]
            )
            #expect(elsewhere.status == 404 && elsewhere.response.header("set-cookie") == nil, "\(elsewhere)")
        }
    }
}
