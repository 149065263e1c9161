import Development
import Domain
import Foundation
import Projects
import Secrets
import Storage
import Testing
import TestKit
import Text

/// A person of the console in a browser without scripts, with an authenticator app.
struct ConsolePerson: Sendable {
    let service: TestService
    let browser: ScriptedBrowser
    let email: String
    let id: String
    let app: TOTP

    static let password = "a rather long phrase"

    /// Lets somebody in, who then chooses password and app and is signed in.
    static func setUp(
        _ service: TestService,
        _ email: String = "root@example.com",
        project: ProjectID? = nil,
        scopes: Set<AdminScope> = Set(AdminScope.allCases),
        expiresAt: Date? = nil
    ) async throws -> ConsolePerson {
        let (id, code) = try await service.stores.console.createAdmin(
            try #require(EmailAddress(email)),
            project: project,
            scopes: scopes,
            expiresAt: expiresAt,
            now: service.clock.current
        )
        let browser = ScriptedBrowser()
        let page = try await enter(code.reveal(), browser, service)
        let app = try app(on: page)
        let done = try await browser.submit(
            try #require(page.form(with: "Set up and sign in"), "\(page.text)"),
            ["password": password, "code": app.code(of: TOTP.step(at: service.clock.seconds))],
            on: page
        )
        #expect(done.heading == "Projects", "\(done.text)")
        return ConsolePerson(service: service, browser: browser, email: email, id: id, app: app)
    }

    /// The page at which password and app are chosen, or that of what is wrong.
    static func enter(_ code: String, _ browser: ScriptedBrowser, _ service: TestService) async throws -> Visit {
        let page = try await browser.open(service.baseURL + "/console/set-up")
        let form = try #require(page.form(with: "Setup code"), "\(page.text)")
        return try await browser.submit(form, ["setup": code], on: page)
    }

    /// The app that the page enrols.
    static func app(on page: Visit) throws -> TOTP { try app(in: page.text) }

    static func app(in page: String) throws -> TOTP {
        let key = page.firstMatch(of: #/<code class="key">([A-Z2-7 ]+)<\/code>/#).map { String($0.1) }
        let text = try #require(key, "\(page)").replacing(" ", with: "")
        return TOTP(secret: try #require(Base32.decode(text)))
    }

    /// What the app shows, so many steps before or after now.
    func code(_ offset: Int64 = 0) -> String { app.code(of: TOTP.step(at: service.clock.seconds) + offset) }

    /// Waits for a code that was not taken yet.
    func nextCode() -> String {
        service.clock.advance(by: 30)
        return code()
    }

    func open(_ path: String) async throws -> Visit { try await browser.open(service.baseURL + path) }

    /// The same in another browser.
    func elsewhere() -> ConsolePerson {
        ConsolePerson(service: service, browser: ScriptedBrowser(), email: email, id: id, app: app)
    }

    func signIn(
        email: String? = nil,
        password: String = ConsolePerson.password,
        code: String? = nil,
        next: String? = nil
    ) async throws -> Visit {
        let page = try await open("/console/sign-in" + (next.map { "?next=\($0)" } ?? ""))
        let form = try #require(page.form(with: "Sign in"), "\(page.text)")
        let values = ["email": email ?? self.email, "password": password, "code": code ?? nextCode()]
        return try await browser.submit(form, values, on: page)
    }

    /// Presses the button of a form.
    func press(
        _ button: String,
        _ typed: [String: String] = [:],
        on page: Visit,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Visit {
        let form = try #require(
            page.forms.first { $0.text.contains(button) },
            "no button \(button): \(page.text)",
            sourceLocation: sourceLocation
        )
        return try await browser.submit(form, typed, on: page)
    }

    /// That of the session.
    var handle: String? { browser.cookie("console", at: service.baseURL) }

    /// A request with a session's cookie, as browsers send it from a page of ours.
    func send(
        _ method: String,
        _ path: String,
        _ fields: [(String, String)] = [],
        handle: String? = nil,
        headers: [(String, String)] = [("Sec-Fetch-Site", "same-origin")]
    ) async throws -> Reply {
        let cookie = ("Cookie", "console=\(handle ?? self.handle ?? "")")
        guard method == "POST" else { return try await service.send(method, path, headers: [cookie] + headers) }
        let type = ("Content-Type", "application/x-www-form-urlencoded")
        let body = Array(FormFields(pairs: fields).text.utf8)
        return try await service.send(method, path, headers: [cookie, type] + headers, body: body)
    }

    /// What a form of this session proves with.
    func token(handle: String? = nil) async throws -> String {
        let page = try await send("GET", "/console", handle: handle)
        return try #require(HTMLForm.all(in: page.text).first?.value("token"), "\(page)")
    }

    /// Pages of every kind.
    static func paths(_ service: TestService, _ account: String = "ada") -> [String] {
        let root = "/console/\(service.project.id)"
        return ["/console"]
            + ["accounts", "accounts/\(account)", "overview", "audit", "providers", "settings", "access"]
            .map { "\(root)/\($0)" }
    }

    /// The path of an account's page.
    func path(_ localID: String?) -> String { "/console/\(service.project.id)/accounts/\(localID ?? "")" }
}

extension TestService {
    /// A service whose console is where it listens, on a database of its own: people of the console and what limits their
    /// attempts are of the deployment.
    static func runConsole(
        _ change: @Sendable (inout TestService.Options) -> Void = { _ in },
        _ body: @Sendable (TestService) async throws -> Void
    ) async throws {
        var options = TestService.Options()
        change(&options)
        options.ownPages = true
        guard options.conninfo == nil else { return try await TestService.run(options, body) }
        let chosen = options
        try await TestDatabase.withAnother { conninfo in
            var options = chosen
            options.conninfo = conninfo
            try await TestService.run(options, body)
        }
    }
}
