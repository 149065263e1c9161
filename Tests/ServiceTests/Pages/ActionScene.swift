import Delivery
import Development
import Foundation
import Projects
import Storage
import TestKit
import Testing
import Text

/// A link of a mail, as a browser opens it.
struct ActionLinkItems: Sendable {
    var pairs: [(String, String)]

    init(_ mail: SentMail) {
        pairs = (URLComponents(string: mail.mail.link)?.queryItems ?? []).map { ($0.name, $0.value ?? "") }
    }

    /// The link with another value, or without one.
    func with(_ name: String, _ value: String?) -> ActionLinkItems {
        var items = self
        items.pairs.removeAll { $0.0 == name }
        if let value { items.pairs.append((name, value)) }
        return items
    }

    func doubling(_ name: String) -> ActionLinkItems {
        var items = self
        items.pairs.append((name, items[name] ?? ""))
        return items
    }

    subscript(name: String) -> String? { pairs.first { $0.0 == name }?.1 }

    var text: String { FormFields(pairs: pairs).text }
    var path: String { "/__/auth/action?\(text)" }
}

extension TestService {
    /// What the browser gets that opens a link.
    func open(_ link: ActionLinkItems, headers: [(String, String)] = []) async throws -> Reply {
        try await send("GET", link.path, headers: headers)
    }

    /// What it gets when it posts the same as a form.
    func post(_ link: ActionLinkItems, _ more: [(String, String)] = []) async throws -> Reply {
        try await send(
            "POST",
            "/__/auth/action",
            headers: [("Content-Type", "application/x-www-form-urlencoded")],
            body: Array(FormFields(pairs: link.pairs + more).text.utf8)
        )
    }

    /// Opens a link and presses the button of its page.
    func carryOut(_ link: ActionLinkItems, _ values: [String: String] = [:]) async throws -> Visit {
        let browser = ScriptedBrowser()
        let page = try await browser.open(baseURL + link.path)
        let form = try #require(page.forms.first, "\(page.text)")
        return try await browser.submit(form, values, on: page)
    }

    /// A mail of each type to Ada, who has a password, and the account that it is about.
    func actionMail(
        _ type: OOBCodeType,
        continueURL: String? = nil,
        language: String? = nil
    ) async throws -> (link: ActionLinkItems, user: Reply) {
        let ada = "ada@example.com"
        let headers = language.map { [("X-Firebase-Locale", $0)] } ?? []
        // Who has not proved an address gets no mail about its change, and proves it with the other types.
        let isVerified = [.revertSecondFactor, .recoverEmail, .verifyAndChangeEmail].contains(type)
        let user = try await isVerified ? verifiedUser(ada) : signUp(ada, "correct horse 1")
        let page: JSON = ["continueUrl": JSON(continueURL)]
        let body = type.request(user.idToken).merging(page)
        var recipient = ada
        let earlier = Set(try await mails().map(\.code))
        switch type {
        case .revertSecondFactor: _ = try await AuthenticatorApp.enroll(user.idToken, self)
        case .recoverEmail:
            let change = OOBCodeType.verifyAndChangeEmail
            let code = try await code(change, change.request(user.idToken).merging(page), to: "ada@example.net")
            try await apply(code).expectOK()
        case .verifyAndChangeEmail:
            _ = try await sendCode(type, body, headers: headers)
            recipient = "ada@example.net"
        case .verifyEmail, .passwordReset, .emailSignIn: _ = try await sendCode(type, body, headers: headers)
        }
        return (ActionLinkItems(try await mail(type, to: recipient, besides: earlier)), user)
    }
}

extension Reply {
    var text: String { response.text }
    /// The code that a page of a refusal names.
    var pageCode: String? { text.firstMatch(of: /<p class="code">[^<]*<bdi>([A-Z_]+)<\/bdi>/).map { String($0.1) } }

    /// A page of ours that says what is wrong: with the code, and without a word, a link or a script of somebody else's.
    func expectProblem(_ code: String, status: Int = 400, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(self.status == status, "\(self)", sourceLocation: sourceLocation)
        #expect(pageCode == code, "\(self)", sourceLocation: sourceLocation)
        #expect(response.header("content-type") == "text/html; charset=utf-8", sourceLocation: sourceLocation)
        #expect(response.header("location") == nil, sourceLocation: sourceLocation)
        #expect(text.contains("<h1>") && text.contains(#"role="alert""#), sourceLocation: sourceLocation)
        #expect(!text.contains("<script") && !text.contains("href="), "\(self)", sourceLocation: sourceLocation)
    }
}
