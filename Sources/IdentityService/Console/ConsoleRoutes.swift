import Accounts
import Administration
import Domain
import HTTPTypes
import Projects
import Requests
import Secrets
import Storage
import Text

/// `/console`: the pages for the service's admins (docs/operations/console.md).
///
/// All content is HTML from this service and works without scripts. Every page reads the session from the database, so
/// a revoked admin sees nothing more. An action also requires our form's token, and a request that the browser marks as
/// coming from our own page.
struct ConsoleRoutes: Sendable {
    let accounts: AccountsService
    let administration: AdministrationService
    let configuration: ConfigurationStore
    let deployment: Deployment
    let operations: ConsoleOperations

    var routes: [Route] {
        let all =
            [ConsoleFiles.route] + entranceRoutes + projectRoutes + operationsRoutes + accountRoutes + overviewRoutes
            + webhookRoutes + providerConfigurationRoutes + providerTestRoutes + settingsRoutes + accessRoutes
            + auditRoutes
        return all.map(atServiceHosts)
    }

    /// A project's own host has no console.
    private func atServiceHosts(_ route: Route) -> Route {
        guard case .open(let handler) = route.access else { return route }
        var route = route
        route.access = .open { call in
            guard deployment.shows(nil, at: call.host) else {
                throw RefusedPage(
                    cause: WireError.notFound,
                    response: ConsolePage.problem(.notFound, nil).response()
                )
            }
            return try await handler(call)
        }
        return route
    }

    // MARK: Pages

    /// A page for signed-in admins; others sign in first and return to it.
    func page(
        _ path: String,
        isInTenants: Bool = true,
        _ handler: @escaping @Sendable (ConsoleVisit) async throws -> ConsolePage
    ) -> Route {
        Route(
            .get,
            path,
            on: .service,
            errors: .consolePage,
            isInTenants: isInTenants,
            .open { call in
                try await answer(call) { visit in
                    guard let visit else { return Self.redirect(to: Self.signInPath(backTo: call)) }
                    return try await handler(visit).response()
                }
            }
        )
    }

    /// The result of an action.
    enum Outcome: Sendable {
        /// Done: the browser is redirected to a page, so that a reload does not repeat the action.
        case done(String, Notice?)
        case page(ConsolePage)
        case file(Response)
    }

    /// An action of a signed-in admin.
    ///
    /// - Parameter isGrave: whether the password and a code are required again, unless they were entered recently.
    func action(
        _ path: String,
        isInTenants: Bool = true,
        isGrave: @escaping @Sendable (ConsoleForm) throws -> Bool,
        _ handler: @escaping @Sendable (ConsoleVisit, ConsoleForm) async throws -> Outcome
    ) -> Route {
        Route(
            .post,
            path,
            on: .service,
            errors: .consolePage,
            isInTenants: isInTenants,
            .open { call in
                try await answer(call) { known in
                    guard var visit = known else { return Self.signedOut(call).response() }
                    try requireOwnPage(call)
                    let form = try ConsoleForm(call)
                    guard ConstantTime.equal(try form.value("token"), visit.formToken) else {
                        throw WireError.foreignForm
                    }
                    var cookies: [Cookie] = []
                    if try isGrave(form), !accounts.signInToConsole.isRecent(visit.session) {
                        switch try await proveAgain(visit, form) {
                        case .proved(let entrance):
                            visit.handle = entrance.handle
                            cookies = Cookie.console(entrance, isSecure: visit.isSecure)
                        case .asked(let page): return page.response()
                        }
                    }
                    do {
                        return try await carryOut(visit, form, cookies, handler)
                    } catch {
                        var refused =
                            error as? RefusedPage
                            ?? RefusedPage(
                                cause: error,
                                response: ConsolePage.problem(WireError(mapping: error), visit).response()
                            )
                        // The session has its new handle in any case.
                        for cookie in cookies {
                            refused.response.headers.append(HTTPField(name: .setCookie, value: cookie.header))
                        }
                        throw refused
                    }
                }
            }
        )
    }

    private func carryOut(
        _ visit: ConsoleVisit,
        _ form: ConsoleForm,
        _ cookies: [Cookie],
        _ handler: (ConsoleVisit, ConsoleForm) async throws -> Outcome
    ) async throws -> Response {
        let actor = AuditOrigin.Actor.admin(visit.session.admin.id)
        let outcome = try await AuditOrigin.acting(as: actor, because: form.reason) { try await handler(visit, form) }
        switch outcome {
        case .done(let path, let notice):
            return Self.redirect(to: path + (notice.map { "?done=\($0.rawValue)" } ?? ""), cookies)
        case .page(var page):
            page.cookies += cookies
            return page.response()
        case .file(let file): return file
        }
    }

    /// The message on the page after an action.
    enum Notice: String {
        case disabled, enabled, signedOut, unlinked, resetSent, deleted, merged, unmerged, moved, saved, removed, made,
            revoked, applicationDeleted, webhooksDue

        var text: String {
            switch self {
            case .disabled: "Account disabled. The user cannot sign in, and existing sessions are refused."
            case .enabled: "Account enabled."
            case .signedOut: "Signed out."
            case .unlinked: "Sign-in method removed."
            case .resetSent: "Email queued. It stays in the outbox until the mail server accepts it."
            case .deleted: "Account deleted."
            case .merged: "Accounts merged. You can undo the merge for a week."
            case .unmerged:
                "Merge undone. Anything changed since the merge was left as it is."
            case .saved: "Saved. All nodes apply the change within half a second."
            case .made: "Key created."
            case .revoked: "Key revoked. All nodes refuse it within half a second."
            case .applicationDeleted: "Application deleted. All nodes refuse it within half a second."
            case .webhooksDue: "The webhooks are due again. A node sends them within two seconds."
            case .removed: "Provider deleted."
            case .moved: "The account that you requested was merged into this one."
            }
        }

        static func text(for visit: ConsoleVisit) -> String? {
            (try? visit.call.query.value("done")).flatMap { Notice(rawValue: $0)?.text }
        }
    }

    // MARK: Who asks

    private func answer(
        _ call: Call,
        _ body: (ConsoleVisit?) async throws -> Response
    ) async throws -> Response {
        var visit: ConsoleVisit?
        do {
            visit = try await self.visit(call)
            return try await body(visit)
        } catch let error as RefusedPage {
            throw error
        } catch {
            let page = ConsolePage.problem(WireError(mapping: error), visit)
            throw RefusedPage(cause: error, response: page.response())
        }
    }

    private func visit(_ call: Call) async throws -> ConsoleVisit? {
        let isSecure = try isSecure(call)
        guard let handle = Cookie.consoleHandle(isSecure: isSecure, in: call.headers),
            let session = try await accounts.signInToConsole.session(handle)
        else { return nil }
        return ConsoleVisit(call: call, session: session, handle: handle, isSecure: isSecure)
    }

    func isSecure(_ call: Call) throws -> Bool { try deployment.pages(for: call).isSecure }

    func requireOwnPage(_ call: Call) throws {
        let own = try deployment.pages(for: call)
        guard call.isFromOwnPage(own) else { throw WireError.foreignForm }
    }

    /// The project or tenant of a page's path.
    ///
    /// - Throws: 403 if the admin lacks the scope, whether or not the project exists; then 404.
    func place(_ visit: ConsoleVisit, _ scope: AdminScope) throws -> ConsolePlace {
        guard let id = ProjectID(rawValue: visit.call.parameter("project")) else { throw WireError.projectNotFound }
        guard visit.may(scope), visit.session.admin.project ?? id == id else { throw WireError.forbidden }
        guard let project = configuration.snapshot.project(id) else { throw WireError.projectNotFound }
        guard accounts.signInToConsole.allows(scope, in: project, visit.session) else { throw WireError.forbidden }
        guard let segment = visit.call.parameters["tenant"] else {
            return ConsolePlace(project: project)
        }
        guard let name = ConsolePath.id(segment), let tenant = project.tenants[TenantID(rawValue: name)] else {
            throw WireError.tenantNotFound
        }
        return ConsolePlace(project: tenant.project)
    }

    // MARK: Answers

    static func redirect(to path: String, _ cookies: [Cookie] = []) -> Response {
        var headers: HTTPFields = [.location: path, .cacheControl: "no-store"]
        for cookie in cookies { headers.append(HTTPField(name: .setCookie, value: cookie.header)) }
        return Response(status: .seeOther, headers: headers)
    }

    private static func signInPath(backTo call: Call) -> String {
        let page = call.path + (call.rawQuery.isEmpty ? "" : "?\(call.rawQuery)")
        let next = ConsolePath.next(page)
        guard next != "/console" else { return "/console/sign-in" }
        return "/console/sign-in?next=" + PercentEncoding.encode(next, keeping: .unreserved + "/=")
    }

    /// For an action after the session ended: it was not carried out.
    private static func signedOut(_ call: Call) -> ConsolePage {
        var page = ConsolePage(
            "Your session has ended",
            """
            <p>Nothing was changed. Sign in and try again.</p>
            <p><a class="button" href="\(signInPath(backTo: call))">Sign in</a></p>
            """
        )
        page.status = .forbidden
        return page
    }
}

extension WireError {
    /// A form from another page or another session.
    static let foreignForm = status(.forbidden, "PERMISSION_DENIED", "The form belongs to another page or session.")
}
