import Accounts
import Domain
import HTTPTypes
import Projects

/// The charts of a project.
extension ConsoleRoutes {
    var overviewRoutes: [Route] { [page("/console/{project}/overview", showOverview)] }

    @Sendable private func showOverview(_ visit: ConsoleVisit) async throws -> ConsolePage {
        let place = try place(visit, .readAccounts)
        // This node's counts are included immediately; those of other nodes follow within seconds.
        await operations.saveCounts()
        let counted = try await accounts.countSignIns(place.project)
        let content: HTML
        if counted.methods.isEmpty {
            content = """
                <p>No sign-ins in the last two weeks. Apps need the project's API key. See
                <a href="\(place.path)/accounts">all accounts</a>.</p>
                """
        } else {
            let view = ConsoleOverview(counted: counted)
            content = "\(html: [view.methods, view.outcomes, view.conflicts, view.table])"
        }
        var page = ConsolePage(
            "Overview",
            "\(html: [findings(visit, place), try await webhooksGivenUp(visit, place), content])",
            visit: visit,
            place: place,
            part: .overview
        )
        page.notice = Notice.text(for: visit)
        return page
    }
}

extension ConsoleRoutes {
    /// The findings of `identity check`, for admins who can change the configuration.
    private func findings(_ visit: ConsoleVisit, _ place: ConsolePlace) -> HTML {
        guard place.tenant == .none, visit.may(.manageConfiguration) else { return "" }
        let items = operations.findings(place.project).map { finding -> HTML in
            let tag: HTML =
                finding.level == .error
                ? "<span class=\"tag warning\">error</span>" : "<span class=\"tag\">warning</span>"
            let provider: HTML? = finding.provider.map { "<b>\(ConsoleText.name(of: $0))</b>: " }
            return
                "<li>\(html: tag) \(html: provider)\(finding.text) <span class=\"quiet\">(\(finding.id.rawValue))</span></li>\n"
        }
        guard !items.isEmpty else { return "" }
        return ConsoleText.section("findings", "Warnings", "<ul>\n\(html: items)</ul>")
    }
}

/// The charts of the overview.
private struct ConsoleOverview {
    let counted: CountSignIns.Result

    /// In the order of the charts; a request for a second factor is not a final outcome.
    private static let outcomes: [(outcome: AccountEvents.Outcome, name: String)] = [
        (.signedIn, "Signed in"), (.signedUp, "Signed up"), (.linked, "Linked"),
        (.takenOver, "Took over an account"), (.conflict, "Account conflict"),
        (.refused, "Refused"), (.secondFactorRefused, "Wrong second factor"), (.linkRefused, "Link refused"),
    ]
    private static let entered: Set<AccountEvents.Outcome> = [.signedIn, .signedUp, .linked, .takenOver]

    /// The daily sums of the selected counts.
    private func sum(
        _ method: ProviderID? = nil,
        _ isMeant: (AccountEvents.Outcome) -> Bool
    ) -> CountSignIns.Counts {
        var sums = CountSignIns.Counts(repeating: 0, count: counted.days.count)
        for (provider, outcomes) in counted.methods where method == nil || provider == method {
            for (outcome, counts) in outcomes where isMeant(outcome) {
                for day in sums.indices { sums[day] += counts[day] }
            }
        }
        return sums
    }

    private func chart(_ id: String, _ title: String, _ series: [(name: String, counts: CountSignIns.Counts)]) -> HTML {
        ConsoleChart(id: id, title: title, days: counted.days, series: series.filter { $0.counts.contains { $0 > 0 } })
            .html
    }

    var methods: HTML {
        let series = counted.methods.map { method, _ in
            (name: ConsoleText.name(of: method), counts: sum(method) { Self.entered.contains($0) })
        }
        return chart("sign-ins", "Sign-ins by method", series)
    }

    var outcomes: HTML {
        chart("outcomes", "Outcomes", Self.outcomes.map { outcome, name in (name, sum { $0 == outcome }) })
    }

    var conflicts: HTML {
        let found = sum { $0 == .conflict }
        guard (found + counted.resolved).contains(where: { $0 > 0 }) else {
            let none: HTML = "No account conflicts."
            return ConsoleText.section("conflicts", "Conflicts", nil, else: none)
        }
        let series = [
            (name: "Account conflict", counts: found),
            (name: "Resolved: the user signed in and linked", counts: counted.resolved),
        ]
        return chart("conflicts", "Conflicts", series)
    }

    /// Counts by method and outcome.
    var table: HTML {
        let shown = Self.outcomes.filter { outcome, _ in sum { $0 == outcome }.contains { $0 > 0 } }
        let rows = counted.methods.map { method, _ -> [HTML] in
            let sums = shown.map { outcome, _ in sum(method) { $0 == outcome }.reduce(0, +) }
            return ["\(ConsoleText.name(of: method))"] + sums.map { number -> HTML in "\(String(number))" }
        }
        return ConsoleText.section(
            "all",
            "Methods and outcomes",
            ConsoleText.table("Methods and outcomes", ["Method"] + shown.map(\.name), rows)
        )
    }
}
