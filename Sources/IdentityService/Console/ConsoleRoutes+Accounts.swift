import Accounts
import Administration
import Domain
import HTTPTypes
import Projects
import Storage
import Text

/// The search for accounts, and the page of an account.
extension ConsoleRoutes {
    var accountRoutes: [Route] {
        [
            page("/console/{project}/accounts", listAccounts),
            action("/console/{project}/accounts.csv", isGrave: { _ in false }, exportAccounts),
            page("/console/{project}/accounts/{account}", showAccount),
            action("/console/{project}/accounts/{account}", isGrave: AccountAction.isGrave, changeAccount),
        ]
    }

    // MARK: Finding

    /// The number of accounts on a page.
    private static let pageSize = 50
    /// Longer than any email, number or ID.
    private static let longestTerm = 512

    @Sendable private func listAccounts(_ visit: ConsoleVisit) async throws -> ConsolePage {
        let place = try place(visit, .readAccounts).entering(tenant: visit.call.query.value("tenant"))
        let term = try visit.call.query.value("q").map { $0.trimmingSpaces } ?? ""
        let content = try await term.isEmpty ? filteredAccounts(visit, place) : foundAccounts(term, place)
        var page = ConsolePage(
            "Accounts",
            "\(html: ConsoleAccountList.search(term, place))\n\(html: content)",
            visit: visit,
            place: place,
            part: .accounts
        )
        page.notice = Notice.text(for: visit)
        return page
    }

    private func foundAccounts(_ term: String, _ place: ConsolePlace) async throws -> HTML {
        let list = ConsoleAccountList(place: place, filter: ConsoleAccountFilter())
        let nothing: HTML = """
            <p>No account matches <b><bdi>\(term)</bdi></b>. Enter the complete email address, phone number with country code
            (<code>+49…</code>), account ID, or user ID at a provider.
            <a href="\(place.path)/accounts">Show the newest accounts</a></p>
            """
        return list.table(try await find(term, place)) ?? nothing
    }

    /// The accounts that match the filters of the URL, with the filters.
    private func filteredAccounts(_ visit: ConsoleVisit, _ place: ConsolePlace) async throws -> HTML {
        let items = visit.call.query
        let filter = try ConsoleAccountFilter(items)
        let list = ConsoleAccountList(place: place, filter: filter)
        let project = place.project
        let after = try items.value("after")
        let page = try await accounts.queryAccounts.search(
            filter.query,
            after: after,
            size: Self.pageSize,
            project
        )
        let counts =
            try await items.value("count") == "all"
            ? accounts.countProviders.accounts(project) : accounts.countProviders.ifFew(project)
        let tenants = project.tenants.keys.sorted { $0.rawValue < $1.rawValue }
        let (size, next) = (Self.pageSize, page.nextPageToken)
        let table = list.table(page.accounts) ?? list.nothing(hasMore: next != nil, isFirst: after == nil)
        return """
            \(html: list.counts(counts))
            \(html: list.filters(methods(of: place), tenants: tenants))
            \(html: table)
            <div class="end">
            \(html: list.pages(page.accounts.count, of: size, after: next, isFirst: after == nil))
            \(html: page.accounts.isEmpty ? nil : list.export(visit))
            </div>
            """
    }

    /// The accounts of a filter as a file, made page by page as the client takes it.
    @Sendable private func exportAccounts(_ visit: ConsoleVisit, _ form: ConsoleForm) async throws -> Outcome {
        let place = try place(visit, .readAccounts)
        let filter = try ConsoleAccountFilter(form.items)
        let pages = try await accounts.queryAccounts.export(filter.query, place.project)
        return .file(AccountCSV.response(pages))
    }

    /// The sign-in methods that the filter offers.
    private func methods(of place: ConsolePlace) -> [ProviderID] {
        let snapshot = configuration.snapshot
        let configured =
            snapshot.providers(in: place.project.scope)
            + snapshot.samlProviders(in: place.project.scope)
        return [.password, .emailLink, .phone] + configured.map(\.provider)
    }

    /// The accounts that match a search term.
    private func find(_ term: String, _ place: ConsolePlace) async throws -> [Account] {
        guard term.utf8.count <= Self.longestTerm, !term.utf8.contains(0) else { return [] }
        var selectors = AdminAccounts.Selectors()
        selectors.localIDs = [term]
        selectors.emails = [term]
        if let number = PhoneNumber(stored: term) { selectors.phoneNumbers = number.spellings }
        let providers = configuration.snapshot.providers(in: place.project.scope)
        selectors.federated = providers.map { ($0.provider, term) }
        return try await accounts.admin.lookUp(selectors, place.project)
    }

    // MARK: One account

    /// The account of the path, by its own ID or by that of an account merged into it.
    private func account(_ visit: ConsoleVisit, _ place: ConsolePlace) async throws -> Account {
        guard let id = ConsolePath.id(visit.call.parameter("account")) else { throw WireError.notFound }
        var selectors = AdminAccounts.Selectors()
        selectors.localIDs = [id]
        guard let account = try await accounts.admin.lookUp(selectors, place.project).first else {
            throw WireError.notFound
        }
        return account
    }

    @Sendable private func showAccount(_ visit: ConsoleVisit) async throws -> ConsolePage {
        let place = try place(visit, .readAccounts)
        let account = try await account(visit, place)
        var page = try await accountPage(account, visit, place)
        let isAnother = ConsolePath.id(visit.call.parameter("account")) != account.id.rawValue
        page.notice = isAnother ? Notice.moved.text : Notice.text(for: visit)
        return page
    }

    private func accountPage(
        _ account: Account,
        _ visit: ConsoleVisit,
        _ place: ConsolePlace
    ) async throws -> ConsolePage {
        let (id, project) = (account.id.rawValue, place.project)
        let sessions = try await accounts.admin.listSessions(localID: id, project)
        let detached = try await accounts.admin.listDetachedCredentials(localID: id, project)
        var query = AuditQuery()
        (query.account, query.tenant) = (account.id, place.tenant)
        let history = try await accounts.listAuditEntries(query, project, after: nil, size: 20)
        let merges = try await accounts.mergeAccounts.undoable(of: account.id, project)
        var view = ConsoleAccount(account: account, place: place, visit: visit)
        for client in Set(sessions.compactMap(\.client)) {
            view.applications[client] = try await administration.oauthClients.name(of: client, in: project.id)
        }
        let parts: [HTML] = [
            view.facts, view.methods, view.secondFactors, view.sessions(sessions), view.detached(detached),
            view.merges(merges),
            view.history(history.entries, hasMore: history.nextPageToken != nil), view.actions,
        ]
        return ConsolePage(
            ConsoleText.name(of: account),
            "\(html: parts)",
            visit: visit,
            place: place,
            part: .accounts
        )
    }

    // MARK: Actions

    /// The actions of an account page's forms.
    enum AccountAction: String {
        case disable, enable, signOut, unlink, sendReset, previewMerge, merge, undoMerge, delete

        /// Permanent removals and moves ask for the password again, in case the admin left the browser open.
        @Sendable static func isGrave(_ form: ConsoleForm) throws -> Bool {
            switch AccountAction(rawValue: try form.value("do")) {
            case .unlink, .merge, .undoMerge, .delete: true
            case .disable, .enable, .signOut, .sendReset, .previewMerge, nil: false
            }
        }
    }

    @Sendable private func changeAccount(_ visit: ConsoleVisit, _ form: ConsoleForm) async throws -> Outcome {
        let place = try place(visit, .manageAccounts)
        let account = try await account(visit, place)
        guard let action = AccountAction(rawValue: try form.value("do")) else {
            throw WireError.invalidRequest("Unknown action.", field: "do")
        }
        do {
            return try await carryOut(action, account, form, visit, place)
        } catch let error where WireError(mapping: error).status.kind == .clientError && !(error is RefusedPage) {
            // Shows the page again, with the current account and the error.
            guard WireError(mapping: error).code != "USER_NOT_FOUND" else { throw error }
            throw try await accountPage(self.account(visit, place), visit, place)
                .refusing(error, ConsoleAccount.words(for: error))
        }
    }

    private func carryOut(
        _ action: AccountAction,
        _ account: Account,
        _ form: ConsoleForm,
        _ visit: ConsoleVisit,
        _ place: ConsolePlace
    ) async throws -> Outcome {
        let (project, path) = (place.project, place.path(of: account.id))
        let version = try form.version
        var changes = AdminAccounts.Changes()
        (changes.localID, changes.version) = (account.id.rawValue, version)
        switch action {
        case .disable, .enable:
            changes.disabled = action == .disable
            _ = try await accounts.admin.update(changes, project)
            return .done(path, action == .disable ? .disabled : .enabled)
        case .unlink:
            let passkey = try form.value("passkey")
            if passkey.isEmpty {
                changes.deleteProviders = [try form.value("provider")]
            } else {
                changes.deletePasskeys = [passkey]
            }
            _ = try await accounts.admin.update(changes, project)
            return .done(path, .unlinked)
        case .signOut:
            let session = try form.value("session")
            try await accounts.admin.signOut(
                localID: account.id.rawValue,
                sessionID: session.isEmpty ? nil : session,
                project
            )
            return .done(path, .signedOut)
        case .sendReset:
            // The email must go to the address that the admin saw.
            guard account.version == version else { throw AccountsError.changedMeanwhile }
            var request = SendOOBCode.Request(type: .passwordReset)
            request.email = account.email?.original
            let key = configuration.snapshot.apiKey(of: project.id)?.rawValue
            let caller = Caller(project: project, apiKey: key)
            _ = try await accounts.sendOOBCode(request, as: .admin(returnsLink: false), caller)
            return .done(path, .resetSent)
        case .previewMerge: return .page(try await mergePage(account, form, visit, place))
        case .merge:
            var request = MergeAccounts.Request()
            request.localID = account.id.rawValue
            request.mergedLocalID = try form.value("merged")
            request.version = version
            request.mergedVersion = Int64(try form.value("mergedVersion")) ?? 0
            request.dropped = Set(try form.value("dropped").split(separator: " ").map { ProviderID(String($0)) })
            _ = try await accounts.mergeAccounts(request, project)
            return .done(path, .merged)
        case .undoMerge:
            _ = try await accounts.mergeAccounts.undo(try form.value("merge"), project)
            return .done(path, .unmerged)
        case .delete:
            guard try form.value("confirm") == account.id.rawValue else { throw WireError("MISSING_LOCAL_ID") }
            try await accounts.admin.delete(localID: account.id.rawValue, version: version, project)
            return .done("\(place.path)/accounts", .deleted)
        }
    }

    /// A preview of a merge, and the form that carries it out.
    private func mergePage(
        _ account: Account,
        _ form: ConsoleForm,
        _ visit: ConsoleVisit,
        _ place: ConsolePlace
    ) async throws -> ConsolePage {
        let term = try form.value("merged").trimmingSpaces
        guard !term.isEmpty, let other = try await find(term, place).first else {
            throw WireError("EMAIL_NOT_FOUND")
        }
        var request = MergeAccounts.Request()
        request.localID = account.id.rawValue
        request.mergedLocalID = other.id.rawValue
        request.validateOnly = true
        let preview = try await accounts.mergeAccounts(request, place.project)
        return ConsolePage(
            "Merge two accounts",
            ConsoleAccount(account: account, place: place, visit: visit)
                .merge(other, preview.merge, reason: try form.value("reason")),
            visit: visit,
            place: place,
            part: .accounts
        )
    }
}
