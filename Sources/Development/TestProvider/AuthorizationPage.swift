import Crypto
import Foundation
import Text

/// The account chooser that people see in `identity dev`: one HTML page, no script.
struct AuthorizationPage {
    var title: String
    /// URL of the authorization endpoint.
    var action: String
    var app: String
    /// The parameters of the authorization request, carried along.
    var hidden: [(name: String, value: String)]
    var people: [TestUser]
    var scopes: [String]

    /// The page's Content-Security-Policy.
    ///
    /// Browsers hold the redirect that follows a form to `form-action` too, so the app's origin has to be in it.
    static func policy(redirect: String) -> String {
        let target = URLParts(redirect).map { $0.origin ?? $0.scheme + ":" } ?? "'self'"
        return [
            "default-src 'none'", "style-src 'sha256-\(styleHash)'", "base-uri 'none'", "frame-ancestors 'none'",
            "form-action 'self' \(target) http://localhost:* http://127.0.0.1:*",
        ].joined(separator: "; ")
    }

    private static let styleHash = Data(SHA256.hash(data: Array(style.utf8))).base64EncodedString()

    var html: String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>Sign in with \(Markup.escape(title))</title>
        <style>\(Self.style)</style>
        </head>
        <body>
        <main>
        <header>
        <div class="logo" aria-hidden="true">\(Markup.escape(String(title.prefix(1))))</div>
        <h1>Choose an account</h1>
        <p>to continue to <strong>\(Markup.escape(app))</strong> with \(Markup.escape(title))</p>
        </header>
        <ul>\(people.map(row).joined())</ul>
        <details>
        <summary>Use another account</summary>
        \(form(choice: "other", otherFields, css: "other"))
        </details>
        <footer>
        \(form(choice: "cancel", #"<button class="quiet">Cancel</button>"#))
        <p>Demo provider on this computer. It asks for no password and sends nothing to other servers.\(asked)</p>
        </footer>
        </main>
        </body>
        </html>
        """
    }

    private var asked: String {
        scopes.isEmpty ? "" : " Asked for: " + scopes.map { "<code>\(Markup.escape($0))</code>" }.joined(separator: " ")
    }

    private func row(_ user: TestUser) -> String {
        let name = user.name ?? user.login ?? user.email ?? user.subject
        let verified = user.emailVerified ? "verified" : "not verified"
        let badge =
            user.email == nil ? "" : #"<span class="badge \#(user.emailVerified ? "yes" : "no")">\#(verified)</span>"#
        let button = """
            <input type="hidden" name="subject" value="\(Markup.escape(user.subject))">\
            <button class="person"><span class="face hue\(hue(user))" aria-hidden="true">\(Markup.escape(initials(name)))</span>\
            <span class="who"><b>\(Markup.escape(name))</b><span>\(Markup.escape(user.email ?? "no email"))</span></span>\
            \(badge)</button>
            """
        return "<li>" + form(choice: "user", button) + "</li>"
    }

    private var otherFields: String {
        """
        <label>Email<input type="email" name="email" required autocomplete="off" placeholder="you@example.com"></label>\
        <label>Name<input type="text" name="name" autocomplete="off" placeholder="Optional"></label>\
        <label class="check"><input type="checkbox" name="verified" checked> The email is verified</label>\
        <button class="primary">Continue</button>
        """
    }

    private func form(choice: String, _ content: String, css: String = "") -> String {
        let carried = (hidden + [(name: "choice", value: choice)]).map { field in
            #"<input type="hidden" name="\#(Markup.escape(field.name))" value="\#(Markup.escape(field.value))">"#
        }
        return #"<form method="post" action="\#(Markup.escape(action))" class="\#(css)">"# + carried.joined() + content
            + "</form>"
    }

    private func initials(_ name: String) -> String {
        name.split(separator: " ").prefix(2).compactMap(\.first).map(String.init).joined().uppercased()
    }

    private func hue(_ user: TestUser) -> Int {
        user.subject.utf8.reduce(0) { ($0 * 31 + Int($1)) % 6 }
    }
}
