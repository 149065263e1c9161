import Domain
import Federation
import OAuth
package import Projects
package import Secrets
import Storage

extension AccountsService { package var signInPage: SignInPage { SignInPage(service: self) } }

/// The hosted sign-in page: leads a user through the use cases, and back to the app with a code.
///
/// It reveals and allows no more than they do.
package struct SignInPage: Sendable {
    let service: AccountsService

    /// The result of a step.
    package enum Outcome: Sendable {
        /// More steps are needed, as the visit shows.
        case goOn(PageVisit)
        /// The user is signed in, and sees the passkeys of the account.
        case ownPasskeys(PageVisit, OwnPasskeys)
        /// The app's URL, with a code in its query.
        case signedIn(String)
    }

    /// An app's request, unchecked.
    package struct Request: Sendable {
        package var continueURL: String?
        package var codeChallenge: String?
        /// Absent, or `S256`.
        package var codeChallengeMethod: String?
        package var language: String?
        /// Shows the user's passkeys after the sign-in.
        package var showsPasskeys = false

        package init() {}
    }

    // MARK: The visit

    /// - Returns: the visit, and the secret for the browser's cookie.
    package func begin(_ request: Request, _ caller: Caller) throws -> (visit: PageVisit, browser: Secret) {
        guard let url = try service.returnURL(request.continueURL, caller) else {
            throw AccountsError.missingContinueURI
        }
        try requireOffered(caller, for: url)
        guard let challenge = request.codeChallenge, CodeChallenge.isValid(challenge),
            (request.codeChallengeMethod ?? "S256") == "S256"
        else { throw AccountsError.invalidCodeChallenge }
        let browser = Secret(service.random.handle())
        var visit = PageVisit(
            apiKey: caller.apiKey ?? "",
            tenant: caller.tenant == .none ? nil : caller.tenant.rawValue,
            continueURL: url,
            codeChallenge: challenge,
            language: request.language,
            browserHash: SecureHash.sha256Hex(browser.reveal()),
            startedAt: service.seconds
        )
        visit.showsPasskeys = request.showsPasskeys
        return (visit, browser)
    }

    package func seal(_ visit: PageVisit) throws -> String { try visit.sealed(by: service.keyRing) }

    /// The visit in a form; its browser and age are not checked yet.
    package func open(_ text: String?) throws -> PageVisit {
        guard let text, let visit = PageVisit(text, openedBy: service.keyRing) else {
            throw AccountsError.invalidSessionInfo
        }
        return visit
    }

    /// - Parameter browsers: the secrets in the browser's cookies.
    package func check(_ visit: PageVisit, browsers: [String], _ caller: Caller) throws {
        try requireOffered(caller, for: visit.continueURL)
        guard browsers.contains(where: { ConstantTime.equal(SecureHash.sha256Hex($0), visit.browserHash) }) else {
            throw AccountsError.invalidSessionInfo
        }
        guard service.seconds < visit.startedAt + PageVisit.lifetime else { throw AccountsError.sessionExpired }
        guard try service.returnURL(visit.continueURL, caller) != nil else { throw AccountsError.missingContinueURI }
    }

    /// The page is offered to the project's apps by a setting, and to the service's own authorization page.
    private func requireOffered(_ caller: Caller, for url: String) throws {
        guard caller.project.settings.signInPage || service.isAuthorizationPage(url, caller) else {
            throw AccountsError.operationNotAllowed
        }
    }

    /// The available sign-in methods.
    package struct Ways: Sendable {
        package var password: Bool
        package var signUp: Bool
        /// The code of an email.
        package var emailCode: Bool
        /// Verifies the CAPTCHA of ``captchaOperations``.
        package var captcha: CaptchaVerifier?
        package var captchaOperations: [CaptchaOperation]
        package var providers: [ProviderConfiguration]
        /// The provider of a conflict.
        package var added: ProviderConfiguration?
    }

    /// The enabled methods; in a conflict, those that the user may be told.
    package func ways(_ visit: PageVisit, _ caller: Caller) -> Ways {
        let settings = caller.project.settings
        var providers = service.configuration.snapshot.providers(in: caller.scope)
            .filter(\.enabled)
        if let conflict = visit.conflict {
            let named = conflict.accountProviders
            providers.removeAll { provider in
                let id = provider.provider.rawValue
                return named.isEmpty ? id == conflict.provider : !named.contains(id)
            }
        }
        return Ways(
            password: settings.passwordSignIn,
            signUp: settings.passwordSignIn && !settings.disabledUserSignup && visit.conflict == nil,
            emailCode: settings.emailLinkSignIn && settings.emailCodes,
            captcha: settings.delivery.captcha,
            captchaOperations: settings.captchaOperations,
            providers: providers,
            added: visit.conflict.flatMap { service.provider(ProviderID($0.provider), caller) }
        )
    }

    // MARK: By password

    /// - Parameter hasPasskeys: whether the browser can create one, as its script says.
    package func signIn(
        email: String?,
        password: Secret?,
        hasPasskeys: Bool,
        _ visit: PageVisit,
        _ caller: Caller
    ) async throws -> Outcome {
        var visit = visit
        visit.offersPasskey = hasPasskeys
        let signIn = SignInWithPassword(service: service)
        let result = try await signIn(email: email, password: password, caller).result
        return try await finish(result, visit, caller)
    }

    package func signUp(
        email: String?,
        password: Secret?,
        hasPasskeys: Bool,
        _ visit: PageVisit,
        _ caller: Caller
    ) async throws -> Outcome {
        var visit = visit
        visit.offersPasskey = hasPasskeys
        var request = SignUp.Request()
        (request.email, request.password) = (email ?? "", password ?? Secret(""))
        let result = try await SignUp(service: service)(request, caller)
        return try await finish(.signedIn(result.tokens), visit, isNewUser: true, caller)
    }

    /// Sends the password reset email; does not reveal whether the email has an account.
    ///
    /// - Parameter continueURL: the app's page to continue to afterwards.
    package func sendPasswordReset(
        to email: String?,
        continueURL: String? = nil,
        _ caller: Caller
    ) async throws {
        guard caller.project.settings.passwordSignIn else { throw AccountsError.passwordSignInDisabled }
        var request = SendOOBCode.Request(type: .passwordReset)
        request.email = email
        request.continueURL = continueURL
        do {
            _ = try await SendOOBCode(service: service)(request, as: .app, caller)
        } catch AccountsError.emailNotFound {}
    }

    // MARK: By the code of an email

    /// Sends a sign-in email, whose code only this visit can use; does not reveal whether the email has an account.
    ///
    /// The link beside it leads to the app, as any sign-in link does.
    package func sendEmailCode(to email: String?, _ visit: PageVisit, _ caller: Caller) async throws -> PageVisit {
        var request = SendOOBCode.Request(type: .emailSignIn)
        request.email = email
        request.continueURL = visit.continueURL
        let sent = try await SendOOBCode(service: service)(request, as: .app, caller)
        guard let session = sent.codeSession else { throw AccountsError.operationNotAllowed }
        var visit = visit
        visit.sentCode = PageVisit.SentCode(email: sent.email.original, session: session.reveal())
        return visit
    }

    /// - Parameter code: six digits, as typed.
    package func signIn(emailCode code: String?, _ visit: PageVisit, _ caller: Caller) async throws -> Outcome {
        guard let sent = visit.sentCode else { throw AccountsError.invalidSessionInfo }
        var request = SignInWithEmailLink.Request()
        request.email = sent.email
        request.code = "\(sent.session).\(code ?? "")"
        let result = try await SignInWithEmailLink(service: service)(request, caller)
        return try await finish(result.end, visit, isNewUser: result.isNewUser, caller)
    }

    // MARK: At a provider

    /// - Parameter callback: the redirect URI.
    package func visitProvider(
        _ provider: String,
        callback: String,
        _ visit: PageVisit,
        _ caller: Caller
    ) async throws -> VisitProvider.Started {
        var request = VisitProvider.Request(apiKey: visit.apiKey)
        request.providerID = provider
        let visit = HandlerVisit(
            authType: "signInViaRedirect",
            eventID: nil,
            destination: .signInPage(try visit.sealed(by: service.keyRing)),
            language: visit.language
        )
        return try await VisitProvider(service: service).start(visit, request, callback: callback, caller)
    }

    /// Continues after the provider redirected back and the handler page recognized the browser.
    package func comeBack(
        _ returned: ReturnFromProvider.Returned,
        requestURI: String,
        postBody: String?,
        _ visit: PageVisit,
        _ caller: Caller
    ) async throws -> Outcome {
        try requireOffered(caller, for: visit.continueURL)
        if let fault = returned.fault { throw fault }
        var request = SignInWithIdP.Request()
        request.requestURI = requestURI
        request.postBody = postBody
        request.sessionID = returned.sessionID.map { Secret($0) }
        let result = try await SignInWithIdP(service: service)(request, caller)
        switch result.outcome {
        case .signedIn(_, let end, let isNewUser, _):
            return try await finish(end, visit, isNewUser: isNewUser, caller)
        case .needsConfirmation(_, let providers):
            guard let pendingToken = result.pendingToken else { throw AccountsError.contended }
            var visit = visit
            visit.conflict = PageVisit.Conflict(
                email: result.credential.identity.email?.original,
                provider: result.credential.identity.provider.rawValue,
                accountProviders: (providers ?? []).map(\.rawValue),
                pendingToken: pendingToken.reveal()
            )
            return .goOn(visit)
        case .linkRefused(let refusal): throw AccountsError.linking(refusal)
        }
    }

    // MARK: The second factor

    /// Sends a code to a phone of the account.
    package func sendCode(to factor: String?, _ visit: PageVisit, _ caller: Caller) async throws -> PageVisit {
        guard let challenge = visit.challenge, let factor else { throw AccountsError.invalidSessionInfo }
        let sessionInfo = try await SignInWithSecondFactor(service: service).sendCode(
            pendingCredential: challenge.pendingCredential,
            enrollment: factor,
            appHash: nil,
            caller
        )
        var visit = visit
        visit.challenge?.sent = PageVisit.Challenge.Sent(factor: factor, sessionInfo: sessionInfo.reveal())
        return visit
    }

    /// Accepts the code of an SMS that was sent to the phone, or of an app.
    package func prove(
        _ factor: String?,
        code: String?,
        _ visit: PageVisit,
        _ caller: Caller
    ) async throws -> Outcome {
        guard let challenge = visit.challenge else { throw AccountsError.invalidSessionInfo }
        let signIn = SignInWithSecondFactor(service: service)
        let tokens =
            if let sent = challenge.sent, sent.factor == factor {
                try await signIn.withPhone(
                    pendingCredential: challenge.pendingCredential,
                    sessionInfo: sent.sessionInfo,
                    code: code,
                    caller
                )
            } else {
                try await signIn.withApp(
                    pendingCredential: challenge.pendingCredential,
                    enrollment: factor,
                    code: code,
                    caller
                )
            }
        return try await finish(.signedIn(tokens), visit, caller)
    }

    /// The visit from its start, for a user who leaves a second factor or a conflict and uses another method.
    package func startAgain(_ visit: PageVisit) -> PageVisit {
        var visit = visit
        (visit.conflict, visit.challenge, visit.sentCode, visit.signedIn) = (nil, nil, nil, nil)
        return visit
    }

    // MARK: The end

    func finish(
        _ end: FirstFactorResult,
        _ visit: PageVisit,
        isNewUser: Bool = false,
        _ caller: Caller
    ) async throws -> Outcome {
        switch end {
        case .needsSecondFactor(let challenge):
            var visit = visit
            visit.challenge = PageVisit.Challenge(
                pendingCredential: challenge.pendingCredential.reveal(),
                factors: challenge.factors.map { factor in
                    let number = factor.phoneNumber.flatMap { PhoneNumber(stored: $0) }?.masked
                    return PageVisit.Challenge.Factor(id: factor.id, number: number)
                },
                offersPasskey: challenge.offersPasskey
            )
            return .goOn(visit)
        case .signedIn(let tokens):
            let linked = try await link(visit.conflict, to: tokens, caller)
            return try await enter(linked, isNewUser: isNewUser, visit, caller)
        }
    }

    /// Resolves a conflict: links the pending identity to the account that signed in.
    private func link(
        _ conflict: PageVisit.Conflict?,
        to tokens: IssuedTokens,
        _ caller: Caller
    ) async throws -> IssuedTokens {
        guard let conflict else { return tokens }
        var request = SignInWithIdP.Request()
        request.requestURI = "http://localhost"
        request.pendingToken = Secret(conflict.pendingToken)
        request.idToken = tokens.idToken
        do {
            guard
                case .signedIn(_, .signedIn(let linked), _, _) = try await SignInWithIdP(service: service)(
                    request,
                    caller
                )
                .outcome
            else { throw AccountsError.contended }
            return linked
        } catch {
            // The session is not returned to any client, so it is ended.
            let signOut = SignOut(service: service)
            try await signOut(idToken: tokens.idToken, scope: .current, sessionID: nil, caller)
            throw error
        }
    }
}
