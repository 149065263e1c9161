import Administration
import Domain
import HTTPTypes
import Projects
import Storage

/// The identity providers of a project: their configurations and the errors in them.
extension ConsoleRoutes {
    var providerConfigurationRoutes: [Route] {
        [
            page("/console/{project}/providers", listProviders),
            action("/console/{project}/providers", isGrave: { _ in true }, createProvider),
            page("/console/{project}/providers/{provider}", showProvider),
            action("/console/{project}/providers/{provider}", isGrave: { _ in true }, changeProvider),
        ]
    }

    /// The actions of a provider page's forms.
    private enum ProviderAction: String {
        case save, delete
    }

    func path(of provider: ProviderID, _ place: ConsolePlace) -> String {
        "\(place.path)/providers/\(ConsolePath.segment(provider.rawValue))"
    }

    // MARK: All of them

    @Sendable private func listProviders(_ visit: ConsoleVisit) async throws -> ConsolePage {
        let place = try place(visit, .manageConfiguration)
        return try providersPage(visit, place, typed: "")
    }

    private func providersPage(_ visit: ConsoleVisit, _ place: ConsolePlace, typed: String) throws -> ConsolePage {
        let providers = configuration.snapshot.providers(in: place.project.scope)
        let items = providers.map { provider -> HTML in
            let state: HTML = provider.enabled ? "" : " <span class=\"tag warning\">disabled</span>"
            let name = ProviderNames.name(of: provider.provider.rawValue, provider.displayName)
            return """
                <li>
                <p><a href="\(path(of: provider.provider, place))"><b><bdi>\(name)</bdi></b></a>\(html: state)</p>
                <p class="quiet">\(provider.provider.rawValue)<br>client <code>\(provider.clientID)</code></p>
                </li>

                """
        }
        let nothing: HTML = """
            <p>No identity providers yet. Register this service with a provider, using the redirect URI below. Then add the
            provider here with its client ID and client secret.</p>
            """
        let list: HTML = items.isEmpty ? nothing : "<ul class=\"rows\">\n\(html: items)</ul>"
        var page = ConsolePage(
            "Identity providers",
            """
            \(html: list)
            \(html: ConsoleText.facts([("Redirect URI to register with providers", callback(visit, place))]))
            <h2>Add a provider</h2>
            <form class="narrow" method="post" action="\(place.path)/providers">
            \(html: visit.token)
            <label for="provider">ID: <code>google.com</code>, <code>github.com</code>, …, or <code>oidc.</code> or
            <code>oauth.</code> followed by a name that you choose</label>
            <input id="provider" name="provider" value="\(typed)" maxlength="64" autocapitalize="off" spellcheck="false" required>
            \(html: ConsoleProvider.clientFields(clientID: "", hasSecret: false))
            \(html: ConsoleProvider.issuerField(""))
            \(html: ConsoleProvider.reasonField)
            <button>Add (disabled)</button>
            </form>
            """,
            visit: visit,
            place: place,
            part: .providers
        )
        page.notice = Notice.text(for: visit)
        return page
    }

    private func callback(_ visit: ConsoleVisit, _ place: ConsolePlace) -> HTML? {
        deployment.pages(at: visit.call.host).map { "<code>\(deployment.callback(of: place.project, at: $0))</code>" }
    }

    @Sendable private func createProvider(_ visit: ConsoleVisit, _ form: ConsoleForm) async throws -> Outcome {
        let place = try place(visit, .manageConfiguration)
        let typed = try form.value("provider")
        let id = ProviderID(typed)
        do {
            // SAML providers are only available in the API.
            guard !id.isSAML else { throw AdministrationError.invalidProviderID }
            let patch = try ConsoleProvider.patch(form, of: id)
            _ = try await administration.changeProvider.create(id, patch, in: place.scope)
            return .done(path(of: id, place), .saved)
        } catch let error where WireError(mapping: error).status.kind == .clientError {
            throw try providersPage(visit, place, typed: typed).refusing(error, ConsoleProvider.words(for: error))
        }
    }

    // MARK: One of them

    func provider(_ visit: ConsoleVisit, _ place: ConsolePlace) throws -> ProviderConfiguration {
        let snapshot = configuration.snapshot
        guard let id = ConsolePath.id(visit.call.parameter("provider")),
            let provider = snapshot.provider(ProviderID(id), in: place.project.scope)
        else { throw WireError.notFound }
        return provider
    }

    @Sendable private func showProvider(_ visit: ConsoleVisit) async throws -> ConsolePage {
        let place = try place(visit, .manageConfiguration)
        var page = providerPage(try provider(visit, place), visit, place)
        page.notice = Notice.text(for: visit)
        return page
    }

    private func providerPage(
        _ provider: ProviderConfiguration,
        _ visit: ConsoleVisit,
        _ place: ConsolePlace
    ) -> ConsolePage {
        let view = ConsoleProvider(
            provider: provider,
            version: configuration.version(of: provider),
            path: path(of: provider.provider, place),
            token: visit.token
        )
        return ConsolePage(
            ProviderNames.name(of: provider.provider.rawValue, provider.displayName),
            view.html(callback: callback(visit, place)),
            visit: visit,
            place: place,
            part: .providers
        )
    }

    @Sendable private func changeProvider(_ visit: ConsoleVisit, _ form: ConsoleForm) async throws -> Outcome {
        let place = try place(visit, .manageConfiguration)
        let known = try provider(visit, place)
        guard let action = ProviderAction(rawValue: try form.value("do")) else {
            throw WireError.invalidRequest("Unknown action.", field: "do")
        }
        let version = try form.value("version")
        let (id, change) = (known.provider, administration.changeProvider)
        do {
            switch action {
            case .save:
                _ = try await change(id, try ConsoleProvider.patch(form, of: id), in: place.scope, ifVersion: version)
                return .done(path(of: id, place), .saved)
            case .delete:
                guard try form.value("confirm") == id.rawValue else { throw AdministrationError.invalidProviderID }
                try await change.delete(id, in: place.scope, ifVersion: version)
                return .done("\(place.path)/providers", .removed)
            }
        } catch let error where WireError(mapping: error).status.kind == .clientError {
            // Reloads the current state, which another node may have changed.
            try await configuration.refresh()
            throw providerPage(try provider(visit, place), visit, place)
                .refusing(error, ConsoleProvider.words(for: error))
        }
    }
}

extension ConsolePlace {
    var scope: Scope { project.scope }
}
