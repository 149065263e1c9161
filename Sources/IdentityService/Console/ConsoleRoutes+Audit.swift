import Accounts
import Domain
import HTTPTypes
import Projects
import Storage

/// The audit log of a project.
extension ConsoleRoutes {
    var auditRoutes: [Route] { [page("/console/{project}/audit", showAudit)] }

    @Sendable private func showAudit(_ visit: ConsoleVisit) async throws -> ConsolePage {
        let place = try place(visit, .readAccounts)
        func value(_ name: String) throws -> String? {
            try visit.call.query.value(name).flatMap { $0.isEmpty ? nil : $0 }
        }
        var query = AuditQuery()
        let segment = try value("account")
        query.account = segment.flatMap { ConsolePath.id($0) }.map { AccountID($0) }
        query.action = try value("action").flatMap { AuditAction(rawValue: $0) }
        query.actor = try value("actor")
        if place.tenant != .none { query.tenant = place.tenant }
        let page = try await accounts.listAuditEntries(query, place.project, after: value("after"), size: 100)
        let options = AuditAction.allCases.map { action -> HTML in
            let selected: HTML? = action == query.action ? " selected" : nil
            let name = ConsoleText.sentence(action.rawValue)
            return "<option value=\"\(action.rawValue)\"\(html: selected)>\(name)</option>\n"
        }
        let older: HTML? = page.nextPageToken.map { token in
            """
            <form method="get" action="\(place.path)/audit">
            <input type="hidden" name="account" value="\(segment ?? "")">
            <input type="hidden" name="action" value="\(query.action?.rawValue ?? "")">
            <input type="hidden" name="actor" value="\(query.actor ?? "")">
            <input type="hidden" name="after" value="\(token)">
            <button>Older entries</button>
            </form>
            """
        }
        let table = ConsoleText.table(of: page.entries, in: place, withAccounts: query.account == nil)
        let nothing: HTML = """
            <p>No entries match. Sign-ins and changes to accounts or the configuration create entries
            (<a href="\(place.path)/audit">show all</a>).</p>
            """
        return ConsolePage(
            "Audit log",
            """
            <form class="search" method="get" action="\(place.path)/audit">
            <input type="hidden" name="account" value="\(segment ?? "")">
            <label for="action">Action</label>
            <select id="action" name="action"><option value="">All actions</option>
            \(html: options)</select>
            <label for="actor">Actor: <code>admin:…</code> or <code>account</code></label>
            <div><input id="actor" name="actor" value="\(query.actor ?? "")" maxlength="256" autocomplete="off">
            <button>Show</button></div>
            </form>
            \(html: table ?? nothing)
            \(html: older)
            """,
            visit: visit,
            place: place,
            part: .audit
        )
    }
}
