import Administration
import HTTPTypes
import Projects
import Storage

/// The settings of a project.
extension ConsoleRoutes {
    var settingsRoutes: [Route] {
        [
            page("/console/{project}/settings", isInTenants: false, showSettings),
            action("/console/{project}/settings", isInTenants: false, isGrave: { _ in true }, changeSettings),
        ]
    }

    @Sendable private func showSettings(_ visit: ConsoleVisit) async throws -> ConsolePage {
        let place = try place(visit, .manageConfiguration)
        var page = try settingsPage(visit, place)
        page.notice = Notice.text(for: visit)
        return page
    }

    private func settingsPage(_ visit: ConsoleVisit, _ place: ConsolePlace) throws -> ConsolePage {
        let settings = place.project.settings
        let version = try configuration.version(of: settings)
        let fields = ConsoleSetting.all.enumerated().map { number, setting in setting.field(settings, number) }
        return ConsolePage(
            "Settings",
            """
            <form class="narrow" method="post" action="\(place.path)/settings">
            \(html: visit.token)<input type="hidden" name="version" value="\(version)">
            \(html: fields)
            \(html: ConsoleProvider.reasonField)
            <button>Save</button>
            </form>
            <p class="quiet">More settings are available in the API: <code>projects/\(place.project.id.rawValue)/config</code>.</p>
            """,
            visit: visit,
            place: place,
            part: .settings
        )
    }

    @Sendable private func changeSettings(_ visit: ConsoleVisit, _ form: ConsoleForm) async throws -> Outcome {
        let place = try place(visit, .manageConfiguration)
        do {
            _ = try await administration.changeSettings(
                try ConsoleSetting.all.compactMap { try $0.change(in: form) },
                of: place.project.id,
                ifVersion: try form.value("version")
            )
            return .done("\(place.path)/settings", .saved)
        } catch let error where WireError(mapping: error).status.kind == .clientError {
            try await configuration.refresh()
            let alert: HTML =
                switch error {
                case AdministrationError.changedMeanwhile:
                    """
                    <p>Nothing was changed: the settings changed after you opened the page. The page now shows the current settings; the
                    audit log shows who changed them. Review them, then try again if needed.</p>
                    """
                default: "<p>Nothing was changed: \(WireError(mapping: error).message)</p>"
                }
            throw try settingsPage(visit, try self.place(visit, .manageConfiguration)).refusing(error, alert)
        }
    }
}
