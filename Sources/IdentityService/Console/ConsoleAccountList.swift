import Accounts
import Domain
import Projects
import Storage

/// The content of the list of accounts.
struct ConsoleAccountList {
    let place: ConsolePlace
    let filter: ConsoleAccountFilter

    // MARK: The forms

    static func search(_ term: String, _ place: ConsolePlace) -> HTML {
        """
        <form class="search" role="search" method="get" action="\(place.path)/accounts">
        <label for="q">Email address, phone number, account ID, or user ID at a provider</label>
        <div><input id="q" name="q" type="search" value="\(term)" maxlength="512" autocomplete="off" spellcheck="false">
        <button>Search</button></div>
        </form>
        """
    }

    /// - Parameters:
    ///   - methods: the methods to choose from.
    ///   - tenants: of the project, if the page is its own; choosing one leads to the tenant's page.
    func filters(_ methods: [ProviderID], tenants: [TenantID]) -> HTML {
        let shown = methods + [filter.provider].compactMap(\.self).filter { !methods.contains($0) }
        let providers = shown.map { ($0.rawValue, ConsoleText.name(of: $0)) }
        let tenant: HTML? =
            tenants.isEmpty
            ? nil : select("tenant", "Tenant", tenants.map { ($0.rawValue, $0.rawValue) }, nil, none: "None")
        let clear: HTML? = filter.isActive ? "<a href=\"\(place.path)/accounts\">Clear filters</a>" : nil
        return """
            <form class="filters" method="get" action="\(place.path)/accounts">
            \(html: select("provider", "Sign-in method", providers, filter.provider?.rawValue, none: "All"))
            \(html: select("state", "State", choices(), filter.state?.rawValue, none: "All"))
            \(html: tenant)
            \(html: select("time", "Time", choices(ConsoleAccountFilter.Time.self) { $0.title }, filter.time.rawValue))
            \(html: day("from", "From", filter.from))
            \(html: day("to", "To", filter.to))
            \(html: select("sort", "Sort", choices(ConsoleAccountFilter.Sort.self) { $0.title }, filter.sort.rawValue))
            <p><button>Apply</button> \(html: clear)</p>
            </form>
            """
    }

    private func choices() -> [(String, String)] { choices(ConsoleAccountFilter.State.self) { $0.title } }

    private func choices<Choice: CaseIterable & RawRepresentable<String>>(
        _ type: Choice.Type,
        _ title: (Choice) -> String
    ) -> [(String, String)] {
        Choice.allCases.map { ($0.rawValue, title($0)) }
    }

    private func select(
        _ name: String,
        _ label: String,
        _ options: [(value: String, title: String)],
        _ selected: String?,
        none: String? = nil
    ) -> HTML {
        let items = options.map { value, title -> HTML in
            let mark: HTML? = value == selected ? " selected" : nil
            return "<option value=\"\(value)\"\(html: mark)>\(title)</option>\n"
        }
        let first: HTML? = none.map { "<option value=\"\">\($0)</option>\n" }
        return """
            <p><label for="\(name)">\(label)</label>
            <select id="\(name)" name="\(name)">\(html: first)\(html: items)</select></p>
            """
    }

    private func day(_ name: String, _ label: String, _ day: ConsoleAccountFilter.Day?) -> HTML {
        """
        <p><label for="\(name)">\(label)</label>
        <input id="\(name)" name="\(name)" type="date" value="\(day?.text ?? "")"></p>
        """
    }

    /// Exports the list in its order, with the filters of the page.
    func export(_ visit: ConsoleVisit) -> HTML {
        let fields = filter.parameters.map { name, value -> HTML in
            "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">"
        }
        return """
            <form method="post" action="\(place.path)/accounts.csv">
            \(html: visit.token)\(html: fields)<button class="plain">Export this list as CSV</button>
            </form>
            """
    }

    // MARK: The counts

    /// The number of accounts by method, each with a link to them; nil if there are too many to count for each page.
    func counts(_ rows: [CountProviders.Row]?) -> HTML {
        guard let rows else {
            let path = filter.path(place, [("count", "all")])
            return """
                <p class="quiet counted">More than \(ConsoleText.number(Int64(CountProviders.fewAccounts))) accounts.
                <a href="\(path)">Count them by sign-in method</a> (takes about a second for each million)</p>
                """
        }
        let items = rows.filter { $0.accounts > 0 }.map { row -> HTML in
            let path = filter.with { $0.provider = row.provider }.path(place)
            let current: HTML? = row.provider == filter.provider ? " aria-current=\"true\"" : nil
            return """
                <li><a href="\(path)"\(html: current)>\(html: ConsoleIcons.decoration(of: row.provider))
                \(ConsoleText.name(of: row.provider)) <b>\(ConsoleText.number(row.accounts))</b></a></li>

                """
        }
        guard !items.isEmpty else { return "" }
        return "<ul class=\"counts\" aria-label=\"Accounts by sign-in method\">\n\(html: items)</ul>"
    }

    // MARK: The table

    func table(_ accounts: [Account]) -> HTML? {
        guard !accounts.isEmpty else { return nil }
        return """
            <div class="scroll" role="group" aria-label="Accounts" tabindex="0"><table class="accounts">
            <thead><tr>\(html: head("Account", .email, .emailDescending))<th scope="col" class="wide">Name</th>\
            <th scope="col">Sign-in methods</th>\(html: head("Created", .newest, .oldest))\
            <th scope="col">Last sign-in</th><th scope="col">State</th></tr></thead>
            <tbody>
            \(html: accounts.map(row))</tbody>
            </table></div>
            """
    }

    /// The head of a column that can be sorted; a click on the current order reverses it.
    private func head(
        _ title: String,
        _ first: ConsoleAccountFilter.Sort,
        _ second: ConsoleAccountFilter.Sort
    ) -> HTML {
        let path = filter.with { $0.sort = filter.sort == first ? second : first }.path(place)
        guard [first, second].contains(filter.sort) else {
            return "<th scope=\"col\"><a href=\"\(path)\">\(title)</a></th>"
        }
        let descends = filter.query.descends
        return """
            <th scope="col" aria-sort="\(descends ? "descending" : "ascending")"><a href="\(path)">\(title) \
            <span aria-hidden="true">\(descends ? "↓" : "↑")</span></a></th>
            """
    }

    private func row(_ account: Account) -> HTML {
        let methods = account.methods.sorted { $0.rawValue < $1.rawValue }.map { ConsoleIcons.icon(of: $0) }
        let name = ConsoleText.name(of: account)
        let text: HTML = name == account.id.rawValue ? "<code>\(name)</code>" : "<bdi>\(name)</bdi>"
        return """
            <tr><th scope="row"><div>\(html: ConsoleIcons.avatar(of: account))\
            <a href="\(place.path(of: account.id))">\(html: text)</a></div></th>\
            <td class="wide"><bdi>\(account.displayName ?? "")</bdi></td>\
            <td class="icons">\(html: methods)</td><td>\(html: ConsoleText.minute(account.createdAt))</td>\
            <td>\(html: account.lastSignInAt.map { ConsoleText.minute($0) } ?? "–")</td>\
            <td>\(html: ConsoleText.tags(of: account))</td></tr>

            """
    }

    // MARK: The end

    /// Where the list continues.
    ///
    /// - Parameter after: the position of the next page; nil on the last one.
    func pages(_ count: Int, of size: Int, after next: String?, isFirst: Bool) -> HTML {
        let first: HTML? = isFirst ? nil : "<a href=\"\(filter.path(place))\">First page</a> "
        guard let next else { return "<p>\(html: first)</p>" }
        let path = filter.path(place, [("after", next)])
        guard count < size else { return "<p>\(html: first)<a class=\"button\" href=\"\(path)\">Next page</a></p>" }
        return """
            <div><p>\(String(PageReach.console.rawValue)) accounts were examined for this page, and others follow. \
            <span class="quiet">Filters by last use, and filters sorted by email, examine accounts one by one.</span></p>
            <p>\(html: first)<a class="button" href="\(path)">Keep looking</a></p></div>
            """
    }

    /// Instead of an empty table.
    func nothing(hasMore: Bool, isFirst: Bool) -> HTML {
        if hasMore { return "<p>No match yet.</p>" }
        if !isFirst { return "<p>No further accounts.</p>" }
        guard filter.isActive else {
            return """
                <p>No accounts yet. Use the project's API key in an app (<code>identity api-keys list</code>), or import accounts
                with <code>identity import</code>.</p>
                """
        }
        return "<p>No account matches these filters.</p>"
    }
}
