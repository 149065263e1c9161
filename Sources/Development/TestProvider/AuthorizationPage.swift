import Crypto
import Foundation
import Text

/// The account chooser that people see in `identity dev`: one HTML page, which works without its script.
///
/// Element IDs and the class `js-reuse-account` are those of the Firebase emulator's sign-in widget, so that scripts
/// written for the widget find what they look for.
struct AuthorizationPage {
    var title: String
    /// URL of the authorization endpoint.
    var action: String
    var app: String
    /// The parameters of the authorization request, carried along.
    var hidden: [(name: String, value: String)]
    var people: [TestUser]
    /// A made-up user, for the button that fills in the form.
    var suggestion: TestUser
    var scopes: [String]

    /// The page's Content-Security-Policy.
    ///
    /// Browsers hold the redirect that follows a form to `form-action` too, so the app's origin has to be in it.
    static func policy(redirect: String) -> String {
        let target = URLParts(redirect).map { $0.origin ?? $0.scheme + ":" } ?? "'self'"
        return [
            "default-src 'none'", "style-src 'sha256-\(hash(style))'", "script-src 'sha256-\(hash(script))'",
            "base-uri 'none'", "frame-ancestors 'none'",
            "form-action 'self' \(target) http://localhost:* http://127.0.0.1:*",
        ].joined(separator: "; ")
    }

    private static let script = String(decoding: PackageResources.authorization_js, as: UTF8.self)

    /// A source of Content Security Policy Level 3 §2.3.1, without its prefix.
    private static func hash(_ text: String) -> String {
        Data(SHA256.hash(data: Array(text.utf8))).base64EncodedString()
    }

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
        <summary id="add-account-button" class="js-new-account">Add new account</summary>
        \(form(choice: "generated", generateButton, css: "generate"))
        \(form(choice: "other", otherFields, css: "other", id: "main-form"))
        </details>
        <footer>
        \(form(choice: "cancel", #"<button id="cancel-button" class="plain">Cancel</button>"#))
        <p>Demo provider on this computer. It asks for no password and sends nothing to other servers.\(asked)</p>
        </footer>
        </main>
        <script>\(Self.script)</script>
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
            <button class="person js-reuse-account"><span class="face" aria-hidden="true">\(Markup.escape(initials(name)))</span>\
            <span class="who"><b>\(Markup.escape(name))</b><span>\(Markup.escape(user.email ?? "no email"))</span></span>\
            \(badge)</button>
            """
        return "<li>" + form(choice: "user", button) + "</li>"
    }

    private var otherFields: String {
        """
        <label>Email<input id="email-input" type="text" inputmode="email" name="email" required autocomplete="off" \
        placeholder="you@example.com"></label>\
        <label>Display name (optional)<input id="display-name-input" name="name" autocomplete="off"></label>\
        <label>Screen name (optional)<input id="screen-name-input" name="screen_name" autocomplete="off"></label>\
        <label>Profile photo URL (optional)<input id="profile-photo-input" type="url" name="photo_url" \
        autocomplete="off"></label>\
        <label class="check"><input id="email-verified-input" type="checkbox" name="verified" checked> The email is verified\
        </label>\
        <button id="sign-in">Sign in with \(Markup.escape(title))</button>
        """
    }

    /// Signs in with a made-up account; with scripts, it first shows that account in the form.
    private var generateButton: String {
        let fields = [("email", suggestion.email), ("name", suggestion.name), ("screen_name", suggestion.login)]
        let data = fields.map { #" data-\#($0)="\#(Markup.escape($1 ?? ""))""# }.joined()
        return #"<button id="autogen-button" class="plain"\#(data)>Auto-generate user information</button>"#
    }

    private func form(choice: String, _ content: String, css: String = "", id: String? = nil) -> String {
        let carried = (hidden + [(name: "choice", value: choice)]).map { field in
            #"<input type="hidden" name="\#(Markup.escape(field.name))" value="\#(Markup.escape(field.value))">"#
        }
        let id = id.map { #" id="\#($0)""# } ?? ""
        return #"<form method="post" action="\#(Markup.escape(action))" class="\#(css)"\#(id)>"# + carried.joined()
            + content + "</form>"
    }

    private func initials(_ name: String) -> String {
        name.split(separator: " ").prefix(2).compactMap(\.first).map(String.init).joined().uppercased()
    }
}
