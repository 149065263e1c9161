import Accounts
import HTTPTypes
import Projects
import Storage

/// The start page: the list of projects.
extension ConsoleRoutes {
    var projectRoutes: [Route] { [page("/console", showProjects)] }

    @Sendable private func showProjects(_ visit: ConsoleVisit) async throws -> ConsolePage {
        let admin = visit.session.admin
        let projects = configuration.snapshot.allProjects.filter { admin.project == nil || admin.project == $0.id }
        guard let part = ConsolePage.Part.allCases.first(where: { visit.may($0.scope) }) else {
            return ConsolePage(
                "Projects",
                "<p>Your scopes do not allow any page of the console. Ask the operator to change them.</p>",
                visit: visit
            )
        }
        let items = projects.map { project -> HTML in
            let all = project.tenants.values.map(\.project.scope).sorted { $0.tenant.rawValue < $1.tenant.rawValue }
            let tenants = all.map { scope -> HTML in
                "<li><a href=\"\(ConsolePath.path(of: scope))/\(part.rawValue)\">\(scope.tenant.rawValue)</a></li>"
            }
            let list: HTML? = tenants.isEmpty ? nil : "<p class=\"quiet\">Tenants</p><ul>\(html: tenants)</ul>"
            return """
                <li>
                <p><a href="\(ConsolePath.path(of: project.scope))/\(part.rawValue)"><b>\(project.appName)</b></a>
                <span class="quiet">\(project.id.rawValue)</span></p>
                \(html: list)
                </li>

                """
        }
        let nothing: HTML =
            admin.project == nil
            ? "No projects yet. Create one with <code>identity projects create</code>, and an API key for its app with <code>identity api-keys create</code>."
            : "Your project no longer exists."
        let content: HTML =
            items.isEmpty ? "<p>\(html: nothing)</p>" : "<ul class=\"rows\">\n\(html: items)</ul>"
        var page = ConsolePage("Projects", content, visit: visit)
        page.notice = Notice.text(for: visit)
        return page
    }
}
