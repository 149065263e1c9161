import Accounts
import HTTPTypes
import NIOCore
import Passkeys
import Projects
import Secrets
import StrictJSON
import Text

/// `/__/auth/sign-in`: the hosted sign-in page (docs/guide/sign-in-page.md).
///
/// GET shows it, each POST is a step, and the last page redirects to the app with a code. It needs no script. A cookie,
/// to which the page's sealed visit is bound, and the origin that browsers state prove that a POST comes from our own
/// page.
struct SignInPageRoutes {
    let accounts: AccountsService
    let projectOfPage: @Sendable (String, Call) -> Project?
    let deployment: Deployment

    var routes: [Route] {
        let path = "/__/auth/sign-in"
        return [
            Route(.get, path, on: .service, errors: .page, .open(show)),
            Route(.post, path, on: .service, errors: .page, .open(takeStep)),
        ]
    }

    // MARK: GET

    private func show(_ call: Call) async throws -> Response {
        /// Empty ones count as absent.
        func value(_ name: String) throws -> String? {
            try call.query.value(name).flatMap { $0.isEmpty ? nil : $0 }
        }
        var context = PageContext()
        context.language = .best(try? value("lang"), accepting: call.headers[.acceptLanguage])
        do {
            let own = try deployment.pages(for: call)
            let isSecure = own.isSecure
            guard let key = try value("apiKey") else { throw WireError.missingAPIKey(.identityToolkit) }
            let caller = try caller(call, key, try value("tenantId"), &context)
            var request = SignInPage.Request()
            request.continueURL = try value("continueUrl")
            request.codeChallenge = try value("codeChallenge")
            request.codeChallengeMethod = try value("codeChallengeMethod")
            request.language = try value("lang").flatMap { Call.isLanguage($0) ? $0 : nil }
            request.showsPasskeys = try value("show") == "passkeys"
            let (visit, browser) = try accounts.signInPage.begin(request, caller)
            guard !visit.showsPasskeys || accounts.signInPage.offersPasskeys(at: own, caller) else {
                throw AccountsError.operationNotAllowed
            }
            var form = try form(visit, own, context, caller)
            form.email = try value("loginHint").map { String($0.prefix(254)) }
            var page = form.page(.signIn)
            page.cookies = Cookie.leftSignInPages(isSecure: isSecure, in: call.headers)
            page.cookies.append(.signInPage(visit, browser.reveal(), isSecure: isSecure))
            return page.response()
        } catch {
            throw RefusedPage(cause: error, response: context.signInProblem(WireError(mapping: error)).response())
        }
    }

    // MARK: POST

    /// The fields of the page's form.
    private struct Fields {
        var provider: String?
        var action: String
        var email: String?
        var password: Secret?
        /// The second factor to send a code to.
        var send: String?
        var factor: String?
        var code: String?
        /// What an authenticator said, as the JSON of `passkeySignIn:finalize` or `passkeyEnrollment:finalize`.
        var passkey: WireObject?
        var hasPasskeys: Bool
        /// The passkey to remove.
        var remove: String?
        /// The field that a widget adds, of any service.
        var captcha: Secret?

        init(_ form: FormFields) throws {
            provider = try form.value("provider")
            action = try form.value("do") ?? ""
            email = try form.value("email").map { $0.trimmingSpaces }
            password = try form.value("password").map { Secret($0) }
            send = try form.value("send")
            factor = try form.value("factor")
            code = try form.value("code")
            passkey = try form.value("passkey").map { text in
                guard let json = try? JSONValue(parsing: text) else {
                    throw WireError.invalidRequest("Invalid JSON.", field: "passkey")
                }
                return try WireObject(json)
            }
            hasPasskeys = try form.value("hasPasskeys") == "yes"
            remove = try form.value("remove")
            captcha = try CaptchaWidget.response(in: form)
        }
    }

    private func takeStep(_ call: Call) async throws -> Response {
        var context = PageContext(language: .best(nil, accepting: call.headers[.acceptLanguage]))
        var visit: PageVisit?
        let own: PublicURL
        let caller: Caller
        let fields: Fields
        do {
            own = try deployment.pages(for: call)
            guard let form = FormFields(strict: call.body.readableBytesView) else {
                throw WireError.invalidRequest("Invalid form payload received.", field: nil)
            }
            let opened = try accounts.signInPage.open(form.value("page"))
            context.language = .best(opened.language, accepting: call.headers[.acceptLanguage])
            caller = try self.caller(call, opened.apiKey, opened.tenant, &context)
            // Only a visit of this browser can start over.
            visit = opened
            guard call.isFromOwnPage(own) else { throw AccountsError.invalidSessionInfo }
            let browsers = Cookie.signInPages(opened, isSecure: own.isSecure, in: call.headers)
            try accounts.signInPage.check(opened, browsers: browsers, caller)
            fields = try Fields(form)
        } catch {
            let page = context.signInProblem(WireError(mapping: error), again: visit)
            throw RefusedPage(cause: error, response: page.response())
        }
        guard let visit else { throw AccountsError.invalidSessionInfo }
        return try await step(fields, visit, own, context, caller.presenting(fields.captcha))
    }

    private func step(
        _ fields: Fields,
        _ visit: PageVisit,
        _ own: PublicURL,
        _ context: PageContext,
        _ caller: Caller
    ) async throws -> Response {
        let pages = accounts.signInPage
        var form = try form(visit, own, context, caller)
        form.email = fields.email
        var step = visit.signedIn == nil ? SignInForm.Step.signIn : .ownPasskeys
        do {
            if let provider = fields.provider {
                let callback = deployment.callback(of: caller.project, at: own)
                let started = try await pages.visitProvider(provider, callback: callback, visit, caller)
                let cookie = Cookie.flow(started.state.reveal(), started.browser.reveal(), seconds: 600, own.isSecure)
                return context.leaving(to: started.authURI, .waitAdvice, .waitButton, [cookie]).response()
            }
            if let phone = fields.send {
                step = .secondFactor
                return try self.form(await pages.sendCode(to: phone, visit, caller), own, context, caller).page(step)
                    .response()
            }
            if let passkey = fields.remove {
                return try answer(await pages.removePasskey(passkey, visit, caller), own, context, caller)
            }
            switch fields.action {
            case "signIn":
                let email = visit.conflict?.email ?? fields.email
                let outcome = try await pages.signIn(
                    email: email,
                    password: fields.password,
                    hasPasskeys: fields.hasPasskeys && form.offersPasskeys,
                    visit,
                    caller
                )
                return try answer(outcome, own, context, caller)
            case "signUp":
                step = .signUp
                let outcome = try await pages.signUp(
                    email: fields.email,
                    password: fields.password,
                    hasPasskeys: fields.hasPasskeys && form.offersPasskeys,
                    visit,
                    caller
                )
                return try answer(outcome, own, context, caller)
            case "sendMail":
                step = .forgotPassword
                try await pages.sendPasswordReset(to: fields.email, continueURL: visit.continueURL, caller)
                step = .mailSent
            case "sendEmailCode":
                step = .emailCode
                let email = visit.conflict?.email ?? fields.email
                form = try self.form(await pages.sendEmailCode(to: email, visit, caller), own, context, caller)
                step = .emailCodeSent
            case "signInWithEmailCode":
                step = .emailCodeSent
                return try answer(await pages.signIn(emailCode: fields.code, visit, caller), own, context, caller)
            case "proveCode":
                step = .secondFactor
                let outcome = try await pages.prove(fields.factor, code: fields.code, visit, caller)
                return try answer(outcome, own, context, caller)
            case "usePasskey":
                if visit.challenge != nil { step = .secondFactor }
                let response = try AssertionResponse(fields.passkey)
                return try answer(await pages.signIn(with: response, visit, caller), own, context, caller)
            case "addPasskey":
                let response = try RegistrationResponse(fields.passkey)
                let browser = context.browserName(of: caller.userAgent)
                let outcome = try await pages.addPasskey(response, browser: browser, visit, caller)
                return try answer(outcome, own, context, caller)
            case "leave": return try answer(await pages.leave(visit, caller), own, context, caller)
            case "showSignUp": step = .signUp
            case "showEmailCode": step = .emailCode
            case "forgotPassword": step = .forgotPassword
            case "startAgain": form = try self.form(pages.startAgain(visit), own, context, caller)
            default: break
            }
            return form.page(step).response()
        } catch {
            throw try await refused(error, fields, at: step, form, caller)
        }
    }

    // MARK: Back from a provider

    /// The handler page's result, if the response is for this page.
    ///
    /// - Parameter cookie: removes the flow's cookie.
    func comeBack(
        _ sealed: String,
        _ returned: ReturnFromProvider.Returned,
        requestURI: String,
        postBody: String?,
        _ call: Call,
        _ context: PageContext,
        _ cookie: Cookie
    ) async throws -> Response {
        let visit = try accounts.signInPage.open(sealed)
        let own = try deployment.pages(for: call)
        let caller = Caller(call, project: returned.project, apiKey: visit.apiKey, language: visit.language)
        do {
            let outcome = try await accounts.signInPage.comeBack(
                returned,
                requestURI: requestURI,
                postBody: postBody,
                visit,
                caller
            )
            return try answer(outcome, own, context, caller, [cookie])
        } catch {
            throw try await refused(error, nil, at: .signIn, form(visit, own, context, caller), caller)
        }
    }

    // MARK: Answers

    private func answer(
        _ outcome: SignInPage.Outcome,
        _ own: PublicURL,
        _ context: PageContext,
        _ caller: Caller,
        _ cookies: [Cookie] = []
    ) throws -> Response {
        switch outcome {
        case .goOn(let visit):
            var page = try form(visit, own, context, caller).page(visit.challenge == nil ? .signIn : .secondFactor)
            page.cookies = cookies
            return page.response()
        case .ownPasskeys(let visit, let passkeys):
            var form = try form(visit, own, context, caller)
            form.passkeys = passkeys
            var page = form.page(.ownPasskeys)
            page.cookies = cookies
            return page.response()
        case .signedIn(let url):
            return context.leaving(to: url, .signedInAdvice, .goOn, cookies).response()
        }
    }

    private func form(
        _ visit: PageVisit,
        _ own: PublicURL,
        _ context: PageContext,
        _ caller: Caller
    ) throws -> SignInForm {
        SignInForm(
            context: context,
            visit: visit,
            sealed: try accounts.signInPage.seal(visit),
            ways: accounts.signInPage.ways(visit, caller),
            own: own,
            offersPasskeys: accounts.signInPage.offersPasskeys(at: own, caller)
        )
    }

    /// The step again with the error; errors of the service have their own page.
    private func refused(
        _ error: any Error,
        _ fields: Fields?,
        at step: SignInForm.Step,
        _ form: SignInForm,
        _ caller: Caller
    ) async throws -> RefusedPage {
        let wire = WireError(mapping: error)
        guard wire.status.kind != .serverError else {
            return RefusedPage(cause: error, response: form.context.signInProblem(wire, again: form.visit).response())
        }
        var (form, step) = (form, step)
        form.problem = PageText(signInProblem: wire, at: step)
        if step == .signUp, let password = fields?.password?.reveal() {
            let lacks = caller.project.settings.passwordPolicy.unmet(by: password)
            if !lacks.isEmpty, wire.isAboutPassword { form.lacks = lacks }
        }
        // Earlier proofs have expired.
        if form.problem == .tookTooLong {
            step = .signIn
            let (problem, email) = (form.problem, form.email)
            form = try self.form(accounts.signInPage.startAgain(form.visit), form.own, form.context, caller)
            (form.problem, form.email) = (problem, email)
        }
        if step == .ownPasskeys { form.passkeys = try await accounts.signInPage.passkeys(form.visit, caller) }
        // The browser need not offer it again.
        if wire.code == "PASSKEY_ENROLLMENT_NOT_FOUND" {
            form.unknownPasskey = (try? fields?.passkey?.bytes("id")).map { Base64URL.encode($0) }
        }
        var page = form.page(step)
        page.status = wire.status
        page.retryAfter = wire.retryAfter
        return RefusedPage(cause: error, response: page.response())
    }

    // MARK: Who calls

    private func caller(
        _ call: Call,
        _ key: String,
        _ tenant: String?,
        _ context: inout PageContext
    ) throws -> Caller {
        guard let project = projectOfPage(key, call) else {
            throw WireError.invalidAPIKey(.identityToolkit)
        }
        context.project = project
        return try Caller(call, project: project, apiKey: key, language: context.language.rawValue)
            .entering(TenantID(rawValue: tenant ?? ""))
    }
}
