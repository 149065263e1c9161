import Accounts
import Domain
import HTTPTypes
import NIOCore
import Projects
import Secrets
import Storage
import Text

/// `/__/auth/action`, the page of links in emails: GET asks for confirmation, POST applies the code (threats.md, T-E5).
///
/// It needs no cookie and no script. Only the code in the form authorizes the POST: a caller who knows it has read the
/// email. Another site's page can make a browser post only codes that its author knows and could use directly: the
/// browser adds nothing to such a request, and gets no session from its response.
struct ActionPageRoutes {
    let accounts: AccountsService
    let projectOfPage: @Sendable (String, Call) -> Project?

    var routes: [Route] {
        let path = "/__/auth/action"
        return [
            Route(.get, path, on: .service, errors: .page, .open(show)),
            Route(.post, path, on: .service, errors: .page, .open(carryOut)),
            Route(.get, Deployment.appLinks, on: .service, errors: .page, .open(goOn)),
        ]
    }

    // MARK: GET

    private func show(_ call: Call) async throws -> Response {
        try await answer(call, call.query) { pages, caller in
            if pages.link.type == .emailSignIn { return try await signIn(pages.link, caller) }
            return pages.question(try await accounts.showAction(pages.link.code, as: pages.link.type, caller))
                .response()
        }
    }

    /// Redirects the browser to the app immediately, because nothing happens here that needs a confirmation.
    private func signIn(_ link: ActionQuery, _ caller: Caller) async throws -> Response {
        let url = try await accounts.followSignInLink(Secret(link.code), continueURL: link.continueURL, caller)
        return Response(status: .seeOther, headers: [.location: url, .cacheControl: "no-store"])
    }

    /// Where no app has opened a link, the browser goes on to its page.
    private func goOn(_ call: Call) async throws -> Response {
        let link = try call.query.value("link") ?? ""
        return try await answer(call, FormFields(URLParts(link)?.query ?? "")) { _, caller in
            guard let page = accounts.followAppLink(link, caller) else { throw AccountsError.unauthorizedDomain }
            return Response(status: .seeOther, headers: [.location: page, .cacheControl: "no-store"])
        }
    }

    // MARK: POST

    /// Parameters in the URL are ignored here.
    private func carryOut(_ call: Call) async throws -> Response {
        guard let form = FormFields(strict: call.body.readableBytesView) else {
            throw WireError.invalidRequest("Invalid form payload received.", field: nil)
        }
        return try await answer(call, form) { pages, caller in
            if try form.value("again") != nil { return try await sendAgain(pages, caller) }
            return switch pages.link.type {
            case .emailSignIn: try await signIn(pages.link, caller)
            case .passwordReset: try await resetPassword(Secret(try form.value("newPassword") ?? ""), pages, caller)
            case .verifyEmail, .recoverEmail, .verifyAndChangeEmail, .revertSecondFactor:
                try await apply(pages, caller)
            }
        }
    }

    private func sendAgain(_ pages: ActionPage, _ caller: Caller) async throws -> Response {
        let link = pages.link
        let email = try await accounts.sendOOBCode.again(
            link.code,
            as: link.type,
            continueURL: link.continueURL,
            caller
        )
        return pages.sentAgain(to: email.original).response()
    }

    private func apply(_ pages: ActionPage, _ caller: Caller) async throws -> Response {
        let result = try await accounts.applyOOBCode(pages.link.code, as: pages.link.type, caller)
        return done(pages, email: result.account.email, caller)
    }

    private func resetPassword(_ password: Secret, _ pages: ActionPage, _ caller: Caller) async throws -> Response {
        let lacks = caller.project.settings.passwordPolicy.unmet(by: password.reveal())
        guard lacks.isEmpty else { throw try await refused(password, lacks, pages, caller) }
        let code: OOBCode
        do {
            code = try await accounts.resetPassword(code: pages.link.code, newPassword: password, caller).code
        } catch AccountsError.leakedPassword {
            throw try await refused(password, [], isLeaked: true, pages, caller)
        }
        // Codes of other types were not used, only read.
        guard code.type == .passwordReset else { throw AccountsError.invalidOOBCode }
        return done(pages, email: code.email, caller)
    }

    /// The form again, with the requirements that the password does not meet.
    private func refused(
        _ password: Secret,
        _ lacks: [PasswordPolicy.Requirement],
        isLeaked: Bool = false,
        _ pages: ActionPage,
        _ caller: Caller
    ) async throws -> RefusedPage {
        let action = try await accounts.showAction(pages.link.code, as: .passwordReset, caller)
        let isShort = password.reveal().utf16.count < PasswordPolicy.lengths.lowerBound
        let error: AccountsError =
            isLeaked ? .leakedPassword : isShort ? .weakPassword : .passwordMissesPolicy([])
        var page = pages.question(action, password: lacks, isLeaked: isLeaked)
        page.status = WireError(error).status
        return RefusedPage(cause: error, response: page.response())
    }

    private func done(_ pages: ActionPage, email: EmailAddress?, _ caller: Caller) -> Response {
        // Checked again, because the form's value may differ from the page's.
        let continueURL = accounts.checkContinueURL(pages.link.continueURL, caller)
        return pages.done(email: email?.original ?? "", continueURL: continueURL).response()
    }

    // MARK: Both

    /// Shows every error as a page, in the user's language.
    private func answer(
        _ call: Call,
        _ items: FormFields,
        _ body: (ActionPage, Caller) async throws -> Response
    ) async throws -> Response {
        var context = PageContext()
        context.language = .best(try? items.value("lang"), accepting: call.headers[.acceptLanguage])
        do {
            let link = try ActionQuery(items)
            guard let project = projectOfPage(link.apiKey, call) else {
                throw WireError.invalidAPIKey(.identityToolkit)
            }
            context.project = project
            let caller = try Caller(call, project: project, apiKey: link.apiKey, language: link.language)
                .entering(TenantID(rawValue: link.tenant ?? ""))
            let pages = ActionPage(context: context, link: link)
            do {
                return try await body(pages, caller)
            } catch AccountsError.expiredOOBCode where SendOOBCode.repeatable.contains(link.type) {
                throw RefusedPage(cause: AccountsError.expiredOOBCode, response: pages.expired().response())
            } catch AccountsError.emailLost {
                let page = context.problem(WireError(AccountsError.emailLost), (.takenTitle, .lostAdvice))
                throw RefusedPage(cause: AccountsError.emailLost, response: page.response())
            }
        } catch let refused as RefusedPage {
            throw refused
        } catch {
            throw RefusedPage(cause: error, response: context.problem(WireError(mapping: error)).response())
        }
    }
}
