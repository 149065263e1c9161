import Development
import Domain
import Foundation
import HTTPTypes
import Projects
import Secrets
import Testing
import TestKit
import Text

/// A person at the sign-in page, in a browser without scripts, sent there by an app.
struct SignInPagePerson: Sendable {
    let service: TestService
    let browser = ScriptedBrowser()
    /// What the app keeps.
    let verifier = RandomSource.system.handle()

    static let app = "http://localhost:8000/app?a=b#/route"

    var challenge: String { Base64URL.encode(SecureHash.sha256(verifier)) }

    /// The address to which an app sends the browser.
    func path(_ change: [(String, String?)] = []) -> String {
        var items: [(String, String?)] = [
            ("apiKey", service.apiKey), ("continueUrl", Self.app), ("codeChallenge", challenge), ("lang", "en"),
        ]
        for (name, value) in change {
            items.removeAll { $0.0 == name }
            items.append((name, value))
        }
        return "/__/auth/sign-in?" + FormFields(pairs: items.compactMap { item in item.1.map { (item.0, $0) } }).text
    }

    func open(_ change: [(String, String?)] = []) async throws -> Visit {
        try await browser.open(service.baseURL + path(change))
    }

    /// Presses a button of a page, and follows where it leads up to the app.
    func press(
        _ name: String,
        _ value: String,
        _ typed: [String: String] = [:],
        on page: Visit,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Visit {
        let found = page.forms.first { $0.buttons.contains { $0.name == name && $0.value == value } }
        let form = try #require(
            found,
            "no button \(value): \(page.text)",
            sourceLocation: sourceLocation
        )
        var values = typed
        values[name] = value
        let next = try await browser.submit(form, values, button: "none of them", on: page)
        return try await follow(next)
    }

    func signIn(_ email: String, _ password: String, on page: Visit) async throws -> Visit {
        try await press("do", "signIn", ["email": email, "password": password], on: page)
    }

    private func follow(_ page: Visit) async throws -> Visit {
        guard let url = page.leadsTo else { return page }
        return try await follow(try await browser.open(url, until: ["http://localhost:8000/"]))
    }

    /// What the app does when the browser is back.
    func redeem(_ visit: Visit, verifier: String? = nil) async throws -> Reply {
        try await redeem(visit.query["signInCode"] ?? "", verifier ?? self.verifier)
    }

    func redeem(_ code: String, _ verifier: String) async throws -> Reply {
        let body: JSON = ["token": .string("\(code).\(verifier)"), "returnSecureToken": true]
        return try await service.call("accounts:signInWithCustomToken", body)
    }
}

extension Visit {
    /// Where the page goes by itself.
    var leadsTo: String? {
        text.firstMatch(of: #/<meta http-equiv="refresh" content="0; url=([^"]*)">/#)
            .map { String($0.1).replacing("&amp;", with: "&").replacing("&#39;", with: "'") }
    }

    var heading: String? { text.firstMatch(of: #/<h1>([^<]*)<\/h1>/#).map { String($0.1) } }
    var alert: String? { text.firstMatch(of: #/<div id="problem" role="alert"><p>(.*?)<\/p>/#).map { String($0.1) } }
    var buttons: [String] { forms.flatMap(\.buttons).map(\.value) }
}

extension ProviderScene {
    /// A project with a sign-in page.
    static func runSignInPage(
        _ kind: Kind = .github,
        _ change: @Sendable (inout ProjectSettings) -> Void = { _ in },
        _ body: @Sendable (ProviderScene, SignInPagePerson) async throws -> Void
    ) async throws {
        try await runPages(kind) {
            $0.service.settings.signInPage = true
            $0.service.settings.mail.appName = "Tea House"
            change(&$0.service.settings)
        } _: { scene in
            try await body(scene, SignInPagePerson(service: scene.service))
        }
    }
}

/// The page in a browser of its own, request by request.
struct OpenedSignInPage: Sendable {
    let person: SignInPagePerson
    /// The visit, as its forms have it.
    var page: String
    let cookie: String

    var name: String { String(cookie.prefix { $0 != "=" }) }
    var value: String { String(cookie.drop { $0 != "=" }.dropFirst()) }

    /// - Parameters:
    ///   - change: parameters of the app's own.
    ///   - cookie: that the browser had before.
    init(_ person: SignInPagePerson, _ change: [(String, String?)] = [], cookie: String? = nil) async throws {
        self.person = person
        let headers = cookie.map { [("Cookie", $0)] } ?? []
        let reply = try await person.service.send("GET", person.path(change), headers: headers)
        let header = try #require(reply.response.header("set-cookie"), "\(reply)")
        self.cookie = String(header.prefix { $0 != ";" })
        page = try #require(HTMLForm.all(in: reply.text).first?.value("page"))
    }

    func post(_ fields: [(String, String)], cookie: String?, _ more: [(String, String)]) async throws -> Reply {
        var headers = [("Content-Type", "application/x-www-form-urlencoded")] + more
        if let cookie { headers.append(("Cookie", cookie)) }
        let body = FormFields(pairs: [("page", page)] + fields).text
        return try await person.service.send("POST", "/__/auth/sign-in", headers: headers, body: Array(body.utf8))
    }

    /// As its own form does it.
    func post(_ fields: [(String, String)]) async throws -> Reply {
        try await post(fields, cookie: cookie, [("Sec-Fetch-Site", "same-origin")])
    }

    func signIn(_ email: String, signingUp: Bool = false) async throws -> Reply {
        if signingUp { _ = try await person.service.signUp(email) }
        return try await post([("do", "signIn"), ("email", email), ("password", "correct horse")])
    }
}
