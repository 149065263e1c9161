import Domain
import Projects
import Storage
import Text

import struct Foundation.Date

/// Common formats of the console.
enum ConsoleText {
    static func time(_ date: Date) -> HTML {
        let text = UTCTime(seconds: Int64(date.timeIntervalSince1970)).text
        return "<time datetime=\"\(text)Z\">\(text.replacing("T", with: " ")) UTC</time>"
    }

    /// To the minute, for tables.
    static func minute(_ date: Date) -> HTML {
        let text = UTCTime(seconds: Int64(date.timeIntervalSince1970)).text
        return "<time datetime=\"\(text)Z\">\(String(text.prefix(16)).replacing("T", with: " "))</time>"
    }

    /// `1,234,567`.
    static func number(_ number: Int64) -> String {
        var digits = Array(String(number.magnitude))
        for place in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert(",", at: place) }
        return (number < 0 ? "-" : "") + String(digits)
    }

    /// The display name of an account: its email, number, or name, otherwise its ID.
    static func name(of account: Account) -> String {
        let email = account.email?.original ?? account.linked.compactMap(\.email).first
        return email ?? account.phoneNumber ?? account.displayName.flatMap { $0.isEmpty ? nil : $0 }
            ?? account.id.rawValue
    }

    static func name(of method: ProviderID) -> String {
        switch method {
        case .password: "Password"
        case .phone: "Phone"
        case .emailLink: "Email link"
        case .passkey: "Passkeys"
        case AccountMerge.secondFactors: "Second factors"
        default: ProviderNames.name(of: method.rawValue, nil)
        }
    }

    static func tags(of account: Account) -> HTML {
        var tags: [HTML] = []
        if account.isDisabled { tags.append(" <span class=\"tag warning\">disabled</span>") }
        if account.email != nil, !account.emailVerified { tags.append(" <span class=\"tag\">unverified</span>") }
        if !account.secondFactors.isEmpty { tags.append(" <span class=\"tag\">second factor</span>") }
        if account.methods.isEmpty, !account.customAuth { tags.append(" <span class=\"tag\">anonymous</span>") }
        return "\(html: tags)"
    }

    /// `SIGNED_IN` as `Signed in`.
    static func sentence(_ name: String) -> String {
        let words = name.replacing("_", with: " ").lowercased().replacing("api key", with: "API key")
        return words.prefix(1).uppercased() + words.dropFirst()
    }

    /// - Parameters:
    ///   - id: the ID of the heading.
    ///   - content: nil if there is nothing to show.
    ///   - nothing: the text in that case.
    static func section(_ id: String, _ title: String, _ content: HTML?, else nothing: HTML = "") -> HTML {
        let shown: HTML = content ?? "<p class=\"quiet\">\(html: nothing)</p>"
        return """
            <section aria-labelledby="\(id)">
            <h2 id="\(id)">\(title)</h2>
            \(html: shown)
            </section>

            """
    }

    /// A table that scrolls on narrow screens, also with the keyboard.
    ///
    /// - Parameters:
    ///   - label: the table's accessible name.
    ///   - rows: if empty, there is no table.
    static func table(_ label: String, _ heads: [String], _ rows: [[HTML]]) -> HTML? {
        guard !rows.isEmpty else { return nil }
        let head = heads.map { title -> HTML in title.isEmpty ? "<td></td>" : "<th scope=\"col\">\(title)</th>" }
        let body = rows.map { row -> HTML in
            let cells = row.map { "<td>\(html: $0)</td>" as HTML }
            return "<tr>\(html: cells)</tr>\n"
        }
        return """
            <div class="scroll" role="group" aria-label="\(label)" tabindex="0"><table>
            <thead><tr>\(html: head)</tr></thead>
            <tbody>
            \(html: body)</tbody>
            </table></div>
            """
    }

    /// A list of names and values, without those that have no value.
    static func facts(_ facts: [(name: String, value: HTML?)]) -> HTML {
        let rows = facts.compactMap { fact in
            fact.value.map { "<div><dt>\(fact.name)</dt><dd>\(html: $0)</dd></div>\n" as HTML }
        }
        return "<dl>\n\(html: rows)</dl>"
    }

    // MARK: The audit log

    /// - Parameter withAccounts: whether a column links to the accounts.
    static func table(of changes: [RecordedChange], in place: ConsolePlace, withAccounts: Bool) -> HTML? {
        let heads = ["Time", "Action"] + (withAccounts ? ["Account"] : []) + ["Actor", "Details", "Reason"]
        let rows = changes.map { change -> [HTML] in
            var row: [HTML] = [time(change.recordedAt), "\(sentence(change.action))"]
            if withAccounts { row.append(account(of: change, in: place)) }
            let about = [change.provider?.rawValue, change.resource, change.addressPrefix].compactMap(\.self)
            let more = (about + change.changes).joined(separator: ", ")
            row += ["\(change.actor)", "\(more)", "\(change.reason ?? "")"]
            return row
        }
        return table("Audit log", heads, rows)
    }

    private static func account(of change: RecordedChange, in place: ConsolePlace) -> HTML {
        guard let id = change.account else { return "" }
        let path = ConsolePath.path(of: id, in: Scope(project: place.project.id, tenant: change.tenant))
        return "<a href=\"\(path)\"><code>\(id.rawValue)</code></a>"
    }
}
