import Accounts
import HTTPTypes
import NIOCore
import OAuth
import Projects
import Secrets
import Storage
import Text

/// The authorization endpoint of a project, for a user's browser.
struct OAuthRoutes {
    let accounts: AccountsService
    let configuration: ConfigurationStore
    let deployment: Deployment

    var routes: [Route] {
        let (authorize, goOn) = (ProviderMetadata.Endpoint.authorize.path, ProviderMetadata.Endpoint.goOn.path)
        return [
            Route(.get, authorize, on: .service, errors: .page, .open(authorizeByQuery)),
            Route(.post, authorize, on: .service, errors: .page, .open(authorizeByForm)),
            Route(.get, goOn, on: .service, errors: .page, .open(comeBack)),
            Route(.post, goOn, on: .service, errors: .page, .open(decide)),
            Route(.get, ProviderMetadata.Endpoint.signOut.path, on: .service, errors: .page, .open(askToSignOut)),
            Route(.post, ProviderMetadata.Endpoint.signOut.path, on: .service, errors: .page, .open(signOut)),
            Route(.get, ProviderMetadata.Endpoint.device.path, on: .service, errors: .page, .open(showDevice)),
            Route(.post, ProviderMetadata.Endpoint.device.path, on: .service, errors: .page, .open(takeUserCode)),
            Route(.get, ProviderMetadata.Endpoint.grants.path, on: .service, errors: .page, .open(showGrants)),
            Route(.post, ProviderMetadata.Endpoint.grants.path, on: .service, errors: .page, .open(withdrawGrant)),
        ]
    }

    private func authorizeByQuery(_ call: Call) async throws -> Response {
        try await page(call, language: call.query["ui_locales"]) { page in
            // Neither an image nor a script of another page is a visit. Programs name a mode too, but no site.
            let isPage = call.headers[.secFetchSite] == nil || call.headers[.secFetchMode] ?? "navigate" == "navigate"
            guard isPage else {
                throw OAuthError(.invalidRequest, "The user's browser must open this address as a page")
            }
            return try await accounts.authorizeApplication.begin(call.query, page.browser, page.caller)
        }
    }

    /// OpenID Connect Core 1.0 §3.1.2.1.
    ///
    /// Browsers send no `Lax` cookie with another site's POST, so they come again by GET.
    private func authorizeByForm(_ call: Call) async throws -> Response {
        let form = try Self.form(call)
        return try await visiting(call, language: form["ui_locales"]) { visited, _ in
            let endpoint = visited.own.issuer(of: visited.project.id) + ProviderMetadata.Endpoint.authorize.rawValue
            let query = form.text
            guard query.utf8.count + endpoint.utf8.count < Request.maximumTarget else {
                throw OAuthError(.invalidRequest, "The request is too long for a browser: push it (RFC 9126)")
            }
            return Self.redirect(to: "\(endpoint)?\(query)", [])
        }
    }

    private static func redirect(to url: String, _ cookies: [Cookie]) -> Response {
        var headers: HTTPFields = [.location: url, .cacheControl: "no-store", .referrerPolicy: "no-referrer"]
        for cookie in cookies { headers.append(HTTPField(name: .setCookie, value: cookie.header)) }
        return Response(status: .seeOther, headers: headers)
    }

    private func comeBack(_ call: Call) async throws -> Response {
        try await page(call, language: nil) { page in
            try await accounts.authorizeApplication.comeBack(
                call.query.value("visit"),
                code: call.query.value("signInCode"),
                page.browser,
                page.caller
            )
        }
    }

    private func decide(_ call: Call) async throws -> Response {
        let form = try Self.form(call)
        return try await page(call, language: nil) { page in
            // No other page may decide for the user.
            guard let answer = try form.value("do").flatMap(AuthorizeApplication.Answer.init(rawValue:)),
                call.isFromOwnPage(page.own)
            else { throw AccountsError.invalidSessionInfo }
            return try await accounts.authorizeApplication.decide(
                answer,
                form.value("visit"),
                page.browser,
                page.caller
            )
        }
    }

    // MARK: Devices

    /// Where a user types what a device shows.
    ///
    /// The code in the address only fills the field in: a link that somebody sent must not connect a device (RFC 8628 §5.4).
    private func showDevice(_ call: Call) async throws -> Response {
        var context = PageContext(language: .best(nil, accepting: call.headers[.acceptLanguage]))
        context.project = try configuration.openIDProvider(of: call, at: deployment)
        return DevicePage(context: context, userCode: call.query["user_code"] ?? "").page.response()
    }

    private func takeUserCode(_ call: Call) async throws -> Response {
        let form = try Self.form(call)
        do {
            return try await page(call, language: nil) { page in
                guard call.isFromOwnPage(page.own) else { throw AccountsError.invalidSessionInfo }
                return try await accounts.authorizeApplication.begin(
                    userCode: form.value("user_code"),
                    page.browser,
                    page.caller
                )
            }
        } catch let refused as RefusedPage {
            guard (refused.cause as? OAuthError)?.code == .expiredToken else { throw refused }
            var context = PageContext(language: .best(nil, accepting: call.headers[.acceptLanguage]))
            context.project = try configuration.openIDProvider(of: call, at: deployment)
            var page = DevicePage(context: context, userCode: form["user_code"] ?? "", isRefused: true).page
            page.status = .badRequest
            throw RefusedPage(cause: refused.cause, response: page.response())
        }
    }

    // MARK: Signing out

    private func askToSignOut(_ call: Call) async throws -> Response { try signOutPage(call, call.query) }

    /// Only our own page's form signs out: any site can make a browser post.
    private func signOut(_ call: Call) async throws -> Response {
        let form = try Self.form(call)
        let project = try configuration.openIDProvider(of: call, at: deployment)
        guard let own = deployment.publicURL(of: project), call.isFromOwnPage(own), form["do"] == "signOut" else {
            return try signOutPage(call, form)
        }
        let caller = Caller(call, project: project, apiKey: nil)
        let session = Cookie.oauthSession(of: project, isSecure: own.isSecure, in: call.headers)
        try await accounts.signOutBrowser(session, caller)
        let url = try await accounts.signOutBrowser.destination(
            form["post_logout_redirect_uri"],
            of: form["client_id"],
            state: form["state"],
            caller
        )
        let ended = [Cookie.oauthSession(nil, of: project, isSecure: own.isSecure)]
        var context = PageContext(language: .best(form["ui_locales"], accepting: call.headers[.acceptLanguage]))
        context.project = project
        if let url { return context.leaving(to: url, .logoutDone, .goOn, ended).response() }
        var page = context.page(.logoutDoneTitle, "<p role=\"status\">\(html: context.html(.logoutDone))</p>")
        page.cookies = ended
        return page.response()
    }

    private func signOutPage(_ call: Call, _ fields: FormFields) throws -> Response {
        var context = PageContext(language: .best(fields["ui_locales"], accepting: call.headers[.acceptLanguage]))
        let project = try configuration.openIDProvider(of: call, at: deployment)
        context.project = project
        let caller = Caller(call, project: project, apiKey: nil)
        let parameters = OAuthParameters(fields)
        let client = try accounts.signOutBrowser.client(
            parameters["client_id"],
            idTokenHint: parameters["id_token_hint"],
            caller
        )
        let values = ["post_logout_redirect_uri", "state", "ui_locales"].map { ($0, fields[$0]) }
        let kept = (values + [("client_id", client)]).compactMap { name, value -> HTML? in
            value.map { "<input type=\"hidden\" name=\"\(name)\" value=\"\($0)\">\n" }
        }
        var page = context.page(
            .logoutTitle,
            """
            <p>\(html: context.html(.logoutLead))</p>
            <form method="post">
            \(html: kept)<button name="do" value="signOut">\(html: context.html(.logoutButton))</button>
            </form>
            """
        )
        // With it, browsers state the origin of the POST.
        page.referrerPolicy = "same-origin"
        return page.response()
    }

    static func form(_ call: Call) throws -> FormFields {
        guard let form = FormFields(strict: call.body.readableBytesView) else {
            throw WireError.invalidRequest("Invalid form payload received.", field: nil)
        }
        return form
    }

    /// What a step needs to know.
    struct Visited {
        var caller: Caller
        var project: Project
        var own: PublicURL
        var browser: AuthorizeApplication.Browser
    }

    /// A step's page or redirect.
    private func page(
        _ call: Call,
        language: String?,
        _ step: (Visited) async throws -> AuthorizeApplication.Result
    ) async throws -> Response {
        try await visiting(call, language: language) { visited, context in
            let result = try await step(visited)
            var context = context
            if case .consent(let consent) = result.outcome, let language = consent.request.language {
                context.language = .best(language, accepting: call.headers[.acceptLanguage])
            }
            return response(to: result, visited, context)
        }
    }

    /// Errors are pages in the user's language.
    func visiting(
        _ call: Call,
        language: String?,
        _ answer: (Visited, PageContext) async throws -> Response
    ) async throws -> Response {
        var context = PageContext(
            language: .best(
                language?.split(separator: " ").first.map { String($0) },
                accepting: call.headers[.acceptLanguage]
            )
        )
        do {
            // A HEAD request decides nothing.
            guard call.method != .head else { return context.page(.waitTitle, "").response() }
            let project = try configuration.openIDProvider(of: call, at: deployment)
            context.project = project
            guard let own = deployment.publicURL(of: project) else {
                throw WireError("OPERATION_NOT_ALLOWED", "Set http.publicURL to use this page.")
            }
            let key = configuration.snapshot.apiKey(of: project.id)?.rawValue
            let visited = Visited(
                caller: Caller(call, project: project, apiKey: key, language: context.language.rawValue),
                project: project,
                own: own,
                browser: AuthorizeApplication.Browser(
                    secret: Cookie.oauthBrowser(isSecure: own.isSecure, in: call.headers),
                    session: Cookie.oauthSession(of: project, isSecure: own.isSecure, in: call.headers),
                    isByUser: call.headers[.secFetchUser] == "?1",
                    isFramed: call.headers[.secFetchDest] ?? "document" != "document"
                )
            )
            return try await answer(visited, context)
        } catch {
            let response = Self.problem(error, context).response()
            throw RefusedPage(cause: error, response: response)
        }
    }

    func response(
        to result: AuthorizeApplication.Result,
        _ visited: Visited,
        _ context: PageContext
    ) -> Response {
        let (project, own) = (visited.project, visited.own)
        let cookies = Cookie.oauth(result.browser, visited)
        switch result.outcome {
        case .consent(let consent):
            var page = ConsentPage(
                context: context,
                consent: consent,
                project: project,
                issuer: own.issuer(of: project.id)
            )
            .page
            page.cookies = cookies
            return page.response()
        case .device(let isAllowed):
            let words: (PageText, PageText) =
                isAllowed ? (.deviceDoneTitle, .deviceDone) : (.deviceRefusedTitle, .deviceRefused)
            var page = context.page(words.0, "<p role=\"status\">\(html: context.html(words.1))</p>")
            page.cookies = cookies
            return page.response()
        case .signIn(let destination), .leave(let destination):
            // Forms may lead only to our own pages (`form-action`).
            guard destination.isDirect else {
                return context.leaving(to: destination.url, .signedInAdvice, .goOn, cookies).response()
            }
            return Self.redirect(to: destination.url, cookies)
        case .offer(let url):
            var page = context.page(
                .accessRefusedTitle,
                """
                <p role="status">\(html: context.html(.accessRefused))</p>
                <p><a href="\(url)" rel="noreferrer">\(html: context.html(.goOn))</a> \
                <bdi>\(RedirectURI(url)?.origin ?? "")</bdi></p>
                """
            )
            page.cookies = cookies
            return page.response()
        }
    }

    /// What the application did wrong is said to its developer, below words for the user.
    private static func problem(_ error: any Error, _ context: PageContext) -> Page {
        let words: String? =
            switch error {
            case let error as OAuthError: "\(error.code.rawValue): \(error.description)"
            case let error as AuthorizationRequest.Unredirectable: "invalid_request: \(error.description)"
            default: nil
            }
        guard let words else {
            let error = WireError(mapping: error)
            let isOver = error.code == "SESSION_EXPIRED" || error.code == "INVALID_SESSION_INFO"
            return isOver ? context.problem(error, (.pageOverTitle, .pageOverAdvice)) : context.problem(error)
        }
        // A stranger's application gets no answer by redirect, so its user starts again there (threats.md, T-F27).
        let isSilent = [.loginRequired, .consentRequired].contains((error as? OAuthError)?.code)
        let advice: PageText = isSilent ? .silentAppAdvice : .unknownAppAdvice
        return context.problem(.oauth("invalid_request", words), (.cannotGoOnTitle, advice)) {
            "<p class=\"code\">\(words)</p>"
        }
    }
}

extension ProviderMetadata.Endpoint {
    /// A route's path: below the project, which the issuer ends with.
    var path: String { "/{project}" + rawValue }
}

extension ConfigurationStore {
    /// The project of a path below its issuer, if it is an OpenID provider.
    ///
    /// Only by ID, because everything must be below exactly the issuer that tokens name. A node that does not know its URL has
    /// none, as it has no discovery document.
    func openIDProvider(of call: Call, at deployment: Deployment) throws -> Project {
        guard let project = ProjectID(rawValue: call.parameter("project")).flatMap(snapshot.project),
            project.settings.oauth.isEnabled, deployment.publicURL(of: project) != nil,
            deployment.shows(project.id, at: call.host)
        else { throw WireError.notFound }
        return project
    }
}

extension Cookie {
    private static let oauthBrowserName = "identity-browser"

    static func oauthBrowser(isSecure: Bool, in headers: HTTPFields) -> Secret? {
        only(oauthBrowserName, isSecure: isSecure, in: headers)
    }

    static func oauthSession(of project: Project, isSecure: Bool, in headers: HTTPFields) -> Secret? {
        only(sessionName(project), isSecure: isSecure, in: headers)
    }

    /// Nil without one, and if there are several: then another site may have set one of them.
    private static func only(_ name: String, isSecure: Bool, in headers: HTTPFields) -> Secret? {
        let values = values(name, isSecure: isSecure, in: headers)
        return values.count == 1 && !values[0].isEmpty ? Secret(values[0]) : nil
    }

    private static func sessionName(_ project: Project) -> String { "identity-session-\(project.number)" }

    /// The cookies of an authorization: the browser's secret, and the user's session.
    ///
    /// A request without the session's cookie says nothing of what the browser has, so only one that came is removed.
    static func oauth(_ browser: AuthorizeApplication.Browser, _ visited: OAuthRoutes.Visited) -> [Cookie] {
        let isSecure = visited.own.isSecure
        var cookies: [Cookie] = []
        if let secret = browser.secret {
            cookies.append(
                Cookie(
                    name: oauthBrowserName,
                    value: secret.reveal(),
                    seconds: 30 * 86_400,
                    isSecure: isSecure,
                    returnsFromOtherSites: false
                )
            )
        }
        if browser.session != nil || visited.browser.session != nil {
            cookies.append(oauthSession(browser.session, of: visited.project, isSecure: isSecure))
        }
        return cookies
    }

    /// - Parameter value: nil to remove it.
    static func oauthSession(_ value: Secret?, of project: Project, isSecure: Bool) -> Cookie {
        Cookie(
            name: sessionName(project),
            value: value?.reveal() ?? "",
            seconds: value == nil ? 0 : 30 * 86_400,
            isSecure: isSecure,
            returnsFromOtherSites: false
        )
    }
}
