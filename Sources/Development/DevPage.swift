import Delivery
import Domain
import Foundation
import HTTPTypes
import IdentityService
import Projects
import Storage
import Text

/// `/dev`: a project's current accounts, and the emails and SMS that `identity dev` does not send.
///
/// The page refreshes itself every second; without scripts it shows the state at the time of loading.
struct DevPage: Sendable {
    let stores: Stores
    /// The project of the command line.
    let project: ProjectID

    var routes: [Route] { [Route(.get, "/dev", on: .service, errors: .status, .open(show))] }

    /// The largest number of accounts, emails and SMS shown each, newest first.
    private static let most = 100
    /// The largest number of each that is read.
    private static let mostRead = 1000
    private static let style = Page.sheet + String(decoding: PackageResources.dev_css, as: UTF8.self)
    private static let script = String(decoding: PackageResources.dev_js, as: UTF8.self)

    private func show(_ call: Call) async throws -> Response {
        guard DevelopmentMode.isHere(call.headers) else { throw WireError.forbidden }
        // A repeated `project` parameter matches no project.
        let name = (try? call.query.value("project") ?? project.rawValue) ?? ""
        var page: Page
        if let shown = ProjectID(rawValue: name).flatMap({ stores.configuration.snapshot.project($0) }) {
            page = Page(title: "\(shown.id) – Identity", content: frame(name, try await content(of: shown)))
            page.script = Self.script
        } else {
            page = Page(
                title: "Unknown project – Identity",
                content: frame(name, "<p>This project does not exist.</p>")
            )
            page.status = .notFound
        }
        page.style = Self.style
        return page.response()
    }

    private func frame(_ shown: String, _ content: HTML) -> HTML {
        let all = stores.configuration.snapshot.allProjects.map(\.id.rawValue).sorted()
        let links = all.map { name -> HTML in
            let current: HTML? = name == shown ? " aria-current=\"page\"" : nil
            return "<li><a id=\"project-\(name)\" href=\"/dev?project=\(name)\"\(html: current)>\(name)</a></li>"
        }
        let choice: HTML? =
            all.count > 1 || all.first != shown ? "<nav aria-label=\"Projects\"><ul>\(html: links)</ul></nav>" : nil
        return """
            <header><p class="brand">\(html: Page.mark) Identity development server</p><a href="/">Open the demo page</a></header>
            <main>
            <h1>Messages and accounts</h1>
            \(html: choice)
            \(html: content)
            </main>
            """
    }

    private func content(of project: Project) async throws -> HTML {
        let scope = Scope(project: project.id)
        let mails = try await WaitingMail.all(in: scope, newest: Self.mostRead, stores).reversed()
        let messages = try await WaitingSMS.all(in: scope, newest: Self.mostRead, stores).reversed()
        let listed = try await stores.accounts.list(after: nil, limit: Self.mostRead, in: scope).map(\.account)
        let accounts = listed.sorted { ($0.createdAt, $0.id.rawValue) > ($1.createdAt, $1.id.rawValue) }
        let state =
            "\(Self.count(listed.count, "account")), \(Self.count(mails.count, "email")), \(messages.count) SMS"
        return """
            <p id="state" role="status">\(state) in \(project.id.rawValue)</p>
            <section aria-labelledby="mails-title"><h2 id="mails-title">Emails</h2><div id="mails">
            \(html: Self.list(mails, Self.item, all: "oobCodes", else: "No emails yet. Links appear here and disappear once used."))
            </div></section>
            <section aria-labelledby="sms-title"><h2 id="sms-title">SMS</h2><div id="sms">
            \(html: Self.list(messages, Self.item, all: "verificationCodes", else: "No SMS yet. Codes appear here and disappear once used."))
            </div></section>
            <section aria-labelledby="accounts-title"><h2 id="accounts-title">Accounts</h2><div id="accounts">
            \(html: Self.list(accounts, Self.item, all: "accounts:batchGet", else: "No accounts yet."))
            </div></section>
            """
    }

    /// - Parameter all: the route that lists all.
    private static func list<Item>(
        _ items: some Collection<Item>,
        _ html: (Item) -> HTML,
        all: String,
        else nothing: String
    ) -> HTML {
        guard !items.isEmpty else { return "<p class=\"quiet\">\(nothing)</p>" }
        let more: HTML? =
            items.count > most
            ? "<p class=\"quiet\">Only the newest \(String(most)) are shown. \(all) lists all.</p>" : nil
        return "<ul>\(html: items.prefix(most).map(html))</ul>\(html: more)"
    }

    private static func count(_ number: Int, _ noun: String) -> String {
        "\(number)\(number == mostRead ? " or more" : "") \(noun)\(number == 1 ? "" : "s")"
    }

    // MARK: Items

    private static func item(_ waiting: WaitingMail) -> HTML {
        let change: HTML? = waiting.newEmail.map { "<br>new email <bdi>\($0.canonical)</bdi>" }
        let digits: HTML? = waiting.mail.code.map { "\n<p><code class=\"digits\">\($0)</code></p>" }
        // A relative link, so that it works under any host name; it leads to the page that asks before it does
        // anything.
        let query = URLParts(waiting.mail.link)?.query ?? ""
        return """
            <li>
            <p><b><bdi>\(waiting.mail.to)</bdi></b>\(html: change)</p>
            <p><a id="mail-\(waiting.text)" href="/__/auth/action?\(query)">\(waiting.type.rawValue)</a></p>
            <p><code>\(waiting.text)</code></p>\(html: digits)
            </li>
            """
    }

    private static func item(_ waiting: WaitingSMS) -> HTML {
        """
        <li><p><b>\(waiting.sms.to)</b></p><p><code class="digits">\(waiting.sms.code)</code></p></li>
        """
    }

    private static func item(_ account: Account) -> HTML {
        let name = account.email?.canonical ?? account.phoneNumber ?? account.linked.compactMap(\.email).first
        var tags: [HTML] = []
        if account.email != nil, !account.emailVerified { tags.append("<span class=\"tag\">unverified</span> ") }
        if account.isDisabled { tags.append("<span class=\"tag\">disabled</span> ") }
        if !account.secondFactors.isEmpty { tags.append("<span class=\"tag\">second factor</span> ") }
        let display: HTML? = account.displayName.flatMap { $0.isEmpty ? nil : "<br><bdi>\($0)</bdi>" }
        let methods = account.methods.map(\.rawValue).sorted().joined(separator: ", ")
        let signedIn: HTML? = account.lastSignInAt.map { "<br>last sign-in \(html: time($0))" }
        return """
            <li>
            <p><b><bdi>\(name ?? "anonymous")</bdi></b>\(html: display)</p>
            <p>\(methods.isEmpty ? "no sign-in methods" : methods) \(html: tags)</p>
            <p class="quiet"><code>\(account.id.rawValue)</code><br>created \(html: time(account.createdAt))\(html: signedIn)</p>
            </li>
            """
    }

    private static func time(_ date: Date) -> HTML {
        let time = UTCTime(seconds: Int64(date.timeIntervalSince1970))
        return "<time datetime=\"\(time.text)Z\">\(time.text.replacing("T", with: " ")) UTC</time>"
    }
}
