import Accounts
import HTTPTypes
import NIOCore
import Projects
import Storage
import Text

/// `/__/auth/forgot-password`: asks for an email address and sends the email with which a password is reset, for whoever comes
/// without an app; and `/.well-known/change-password`, with which password managers find where a password is changed (W3C "A
/// Well-Known URL for Changing Passwords").
///
/// Both take no session: only the email authorizes a change. Another site's page can make a browser post the form, and so can
/// anyone by the API.
struct ForgotPasswordRoutes {
    let accounts: AccountsService
    let projectOfPage: @Sendable (String, Call) -> Project?
    let snapshot: @Sendable () -> ConfigurationSnapshot
    let deployment: Deployment
    let development: Bool

    private static let path = "/__/auth/forgot-password"

    var routes: [Route] {
        [
            Route(.get, Self.path, on: .service, errors: .page, .open(show)),
            Route(.post, Self.path, on: .service, errors: .page, .open(send)),
            Route(.get, "/.well-known/change-password", on: .service, errors: .status, .open(changePassword)),
        ]
    }

    // MARK: The page

    private func show(_ call: Call) async throws -> Response {
        try await answer(call, call.query) { page, _ in page.question.response() }
    }

    private func send(_ call: Call) async throws -> Response {
        guard let form = FormFields(strict: call.body.readableBytesView) else {
            throw WireError.invalidRequest("Invalid form payload received.", field: nil)
        }
        return try await answer(call, form) { page, caller in
            var page = page
            page.email = (try form.value("email") ?? "").trimmingSpaces
            do {
                let caller = caller.presenting(try CaptchaWidget.response(in: form))
                try await accounts.signInPage.sendPasswordReset(to: page.email, caller)
            } catch {
                let wire = WireError(mapping: error)
                guard wire.status.kind != .serverError else { throw error }
                page.problem = PageText(signInProblem: wire, at: .forgotPassword)
                var question = page.question
                (question.status, question.retryAfter) = (wire.status, wire.retryAfter)
                throw RefusedPage(cause: error, response: question.response())
            }
            return page.sent.response()
        }
    }

    /// Shows every error as a page, in the user's language.
    private func answer(
        _ call: Call,
        _ items: FormFields,
        _ body: (ForgotPasswordPage, Caller) async throws -> Response
    ) async throws -> Response {
        var context = PageContext(language: .best(try? items.value("lang"), accepting: call.headers[.acceptLanguage]))
        do {
            let key = try items.value("apiKey") ?? ""
            guard let project = projectOfPage(key, call) else { throw WireError.invalidAPIKey(.identityToolkit) }
            context.project = project
            let tenant = try items.value("tenantId") ?? ""
            let caller = try Caller(call, project: project, apiKey: key, language: context.language.rawValue)
                .entering(TenantID(rawValue: tenant))
            guard caller.project.settings.passwordSignIn else { throw AccountsError.passwordSignInDisabled }
            let page = ForgotPasswordPage(
                context: context,
                settings: caller.project.settings,
                apiKey: key,
                tenant: tenant
            )
            return try await body(page, caller)
        } catch let refused as RefusedPage {
            throw refused
        } catch {
            throw RefusedPage(cause: error, response: context.signInProblem(WireError(mapping: error)).response())
        }
    }

    // MARK: The well-known URL

    /// Leads to the page of the host's project: of its own host, or of the only project of the service.
    private func changePassword(_ call: Call) async throws -> Response {
        let snapshot = snapshot()
        guard let project = deployment.onlyProject(at: call.host, among: snapshot.allProjects),
            project.settings.passwordSignIn
        else { throw WireError.notFound }
        let key = snapshot.apiKey(of: project.id)?.rawValue ?? (development ? "any" : nil)
        guard
            let url = project.settings.changePasswordURL
                ?? key.map({ "\(Self.path)?\(FormFields(pairs: [("apiKey", $0)]).text)" })
        else { throw WireError.notFound }
        return Response(status: .found, headers: [.location: url, .cacheControl: "no-store"])
    }
}
