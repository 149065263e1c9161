package import Domain
import Foundation
package import OAuth
import Projects
package import Secrets
import Sessions
import Storage
package import Text

extension AccountsService {
    package var authorizeApplication: AuthorizeApplication { AuthorizeApplication(service: self) }
}

/// The authorization endpoint: leads a user through the sign-in page and consent, and back to the application with a
/// code.
package struct AuthorizeApplication: Sendable {
    let service: AccountsService

    /// What the browser has of us.
    package struct Browser: Sendable {
        /// The secret to which visits are bound; nil before the first one.
        package var secret: Secret?
        /// The cookie of its session in the project; nil if nobody is signed in.
        package var session: Secret?
        /// Whether it says that its user caused the request, as any program can.
        package var isByUser: Bool

        /// Whether it shows our answer in a part of another page, which no user has opened.
        package var isFramed: Bool

        package init(secret: Secret?, session: Secret?, isByUser: Bool = false, isFramed: Bool = false) {
            (self.secret, self.session, self.isByUser, self.isFramed) = (secret, session, isByUser, isFramed)
        }
    }

    package enum Outcome: Sendable {
        /// To the sign-in page.
        case signIn(Destination)
        /// The user decides.
        case consent(Consent)
        /// Back to the application.
        case leave(Destination)
        /// A page offers the way back, because the user refused and nobody vouches for the application's address.
        case offer(url: String)
        /// Nobody is sent anywhere: the device asks again soon.
        case device(isAllowed: Bool)
    }

    package struct Destination: Sendable {
        package let url: String
        /// Sent to the application without any page between.
        package let isDirect: Bool
    }

    package struct Consent: Sendable {
        package let client: OAuthClient
        package let account: Account
        package let request: AuthorizationRequest
        /// What the device shows that asks; nil for an application in this browser.
        package let userCode: String?
        /// For the form.
        package let visit: String
    }

    /// A step, and what the browser keeps from now on.
    package struct Result: Sendable {
        package let outcome: Outcome
        package var browser: Browser
    }

    // MARK: Steps

    /// A request as the application sent the browser with it.
    ///
    /// - Throws: ``OAuth/AuthorizationRequest/Unredirectable``; ``OAuthError`` for an unknown client, and for what is not
    ///   redirected to a stranger's.
    package func begin(_ parameters: FormFields, _ browser: Browser, _ caller: Caller) async throws -> Result {
        let client = try await service.client(parameters["client_id"], mayBeNew: !browser.isFramed, caller)
        let request: AuthorizationRequest
        do {
            let pushed = PushAuthorization(service: service)
            if let found = try await pushed.take(parameters["request_uri"], of: client, caller) {
                request = found
            } else {
                request = try service.authorizationRequest(parameters, of: client, caller)
            }
        } catch let refused as AuthorizationRequest.Refused {
            return Result(outcome: try refuse(refused, client, isDirect: true, caller), browser: browser)
        }
        return try await begin(request, for: nil, browser, caller)
    }

    /// A user who is not signed in wants to see their grants.
    package func begin(_ browser: Browser, _ caller: Caller) async throws -> Result {
        try await begin(nil, for: nil, browser, caller)
    }

    /// A user typed the code of a device (RFC 8628 §3.3).
    ///
    /// - Throws: ``OAuthError`` if it is unknown, expired or decided; ``Storage/RateLimitReached``.
    package func begin(userCode: String?, _ browser: Browser, _ caller: Caller) async throws -> Result {
        let refused = OAuthError(.expiredToken, "The code is unknown or expired")
        guard let userCode = AuthorizeDevice.canonical(userCode),
            let asked = try await service.stores.deviceCodes.asked(
                userCode: userCode,
                within: service.codeLimits(caller),
                in: caller.project.id,
                now: service.now()
            )
        else { throw refused }
        let client = try await service.client(asked.client, caller)
        let device = AuthorizationVisit.Device(codeHash: asked.codeHash, userCode: AuthorizeDevice.shown(userCode))
        return try await begin(AuthorizationRequest(deviceOf: client, asked.grant), for: device, browser, caller)
    }

    private func begin(
        _ request: AuthorizationRequest?,
        for device: AuthorizationVisit.Device?,
        _ browser: Browser,
        _ caller: Caller
    ) async throws -> Result {
        let secret = browser.secret ?? Secret(service.random.handle())
        var visit = AuthorizationVisit(
            request: request,
            verifier: Secret(service.random.handle()),
            browserHash: SecureHash.sha256Hex(secret.reveal()),
            startedAt: service.seconds
        )
        visit.device = device
        let isByUser = request.map { _ in browser.isByUser }
        let user = try await service.browserUser(browser.session, of: request?.client, isByUser: isByUser, caller)
        return try await goOn(visit, user, secret, isDirect: device == nil, caller)
    }

    /// The sign-in page has led back.
    ///
    /// - Parameter code: of the sign-in page; one that was used before counts as none.
    package func comeBack(_ visit: String?, code: String?, _ browser: Browser, _ caller: Caller) async throws -> Result
    {
        let (visit, secret) = try open(visit, browser, caller)
        let signedIn = if let code { try await redeem(code, visit, browser, caller) } else { RefreshToken?.none }
        let user = try await service.browserUser(
            signedIn.map { Secret($0.text) } ?? browser.session,
            of: visit.request?.client,
            signedIn: signedIn?.session.rawValue,
            caller
        )
        try await takeStep(visit, user, caller)
        return try await goOn(visit, user, secret, isDirect: true, caller)
    }

    package enum Answer: String, Sendable { case allow, deny, changeAccount }

    /// The user has decided.
    package func decide(_ answer: Answer, _ visit: String?, _ browser: Browser, _ caller: Caller) async throws -> Result
    {
        var (visit, secret) = try open(visit, browser, caller)
        switch answer {
        case .deny:
            if let device = visit.device {
                _ = try await decide(device, nil, revokedVersion: nil, caller)
                return Result(outcome: .device(isAllowed: false), browser: browser)
            }
            guard let request = visit.request else { throw AccountsError.invalidSessionInfo }
            let client = try await service.client(request.client, caller)
            guard client.allows(redirectURI: request.redirectURI) else { throw AccountsError.invalidSessionInfo }
            let url = try url(of: request.answer, OAuthError(.accessDenied, "The user refused"), caller)
            let way: Outcome = client.isStrangers ? .offer(url: url) : .leave(Destination(url: url, isDirect: false))
            return Result(outcome: way, browser: browser)
        case .changeAccount:
            visit.shown = nil
            // The next user's session takes the place of this one's.
            var result = try await goOn(visit, nil, secret, isDirect: false, caller)
            result.browser.session = browser.session
            return result
        case .allow:
            let user = try await service.browserUser(
                browser.session,
                of: visit.request?.client,
                signedIn: visit.shown?.signedIn,
                caller
            )
            try await takeStep(visit, user, caller)
            // The page may have shown another account than the one that is signed in now.
            let hasAgreed = user != nil && visit.shown?.account == user?.account.id.rawValue
            return try await goOn(visit, user, secret, hasAgreed: hasAgreed, isDirect: false, caller)
        }
    }

    // MARK: What comes next

    /// A visit's page can be sent again and again, and each time may lead to a code.
    private func takeStep(_ visit: AuthorizationVisit, _ user: BrowserUser?, _ caller: Caller) async throws {
        guard let user, let client = visit.request?.client else { return }
        try await service.stores.rateLimits.take(service.pageGrantLimits(of: user.account.id, to: client, caller))
    }

    private func goOn(
        _ visit: AuthorizationVisit,
        _ user: BrowserUser?,
        _ secret: Secret,
        hasAgreed: Bool = false,
        isDirect: Bool,
        _ caller: Caller
    ) async throws -> Result {
        let browser = Browser(secret: secret, session: user?.cookie)
        guard let begun = visit.request else {
            let outcome: Outcome = try user == nil ? .signIn(signIn(visit, caller)) : .leave(ownGrants(caller))
            return Result(outcome: outcome, browser: browser)
        }
        let client = try await service.client(begun.client, caller)
        do {
            let request = try begun.current(of: client, caller.project.settings.oauth)
            let step = AuthorizationStep.next(
                for: request,
                of: client,
                session: user?.facts(for: request),
                granted: user?.found.granted ?? [],
                hasAgreed: hasAgreed,
                now: service.seconds
            )
            let outcome = try await outcome(of: step, visit, request, client, user, isDirect: isDirect, caller)
            return Result(outcome: outcome, browser: browser)
        } catch let refused as AuthorizationRequest.Refused {
            let outcome = try refuse(refused, client, hasAgreed: hasAgreed, isDirect: isDirect, caller)
            return Result(outcome: outcome, browser: browser)
        }
    }

    private func outcome(
        of step: AuthorizationStep,
        _ visit: AuthorizationVisit,
        _ request: AuthorizationRequest,
        _ client: OAuthClient,
        _ user: BrowserUser?,
        isDirect: Bool,
        _ caller: Caller
    ) async throws -> Outcome {
        switch (step, user) {
        case (.refuse(let error), _): throw AuthorizationRequest.Refused(error: error, answer: request.answer)
        case (.consent, let user?):
            var visit = visit
            visit.request = request
            let account = user.account.id.rawValue
            visit.shown = .init(account: account, signedIn: user.isForThis ? user.session.id.rawValue : nil)
            return .consent(
                Consent(
                    client: client,
                    account: user.account,
                    request: request,
                    userCode: visit.device?.userCode,
                    visit: try visit.sealed(by: service.keyRing, in: caller.project.id)
                )
            )
        case (.grant, let user?):
            guard let device = visit.device else {
                let code = try code(for: request, of: client, user, caller)
                let url = try url(of: request.answer, [("code", code)], caller)
                return .leave(Destination(url: url, isDirect: isDirect))
            }
            let browser = SessionKey(scope: caller.scope, account: user.account.id, session: user.session.id)
            let version = user.account.revokedVersion
            let grant = granted(request, to: client)
            return .device(isAllowed: try await decide(device, (browser, grant), revokedVersion: version, caller))
        case (.signIn, _), (.consent, nil), (.grant, nil): return .signIn(try signIn(visit, caller))
        }
    }

    /// A refusal goes to the application if an admin or the user vouches for its address: anybody can make our host lead
    /// to that of a stranger's client (RFC 9700 §4.11.2).
    private func refuse(
        _ refused: AuthorizationRequest.Refused,
        _ client: OAuthClient,
        hasAgreed: Bool = false,
        isDirect: Bool,
        _ caller: Caller
    ) throws -> Outcome {
        guard hasAgreed || !client.isStrangers else { throw refused.error }
        return .leave(Destination(url: try url(of: refused.answer, refused.error, caller), isDirect: isDirect))
    }

    private func ownGrants(_ caller: Caller) throws -> Destination {
        let url = try service.applicationIssuer(of: caller.project) + ProviderMetadata.Endpoint.grants.rawValue
        return Destination(url: url, isDirect: true)
    }

    /// - Returns: false if the code has expired meanwhile, or was decided.
    private func decide(
        _ device: AuthorizationVisit.Device,
        _ agreed: (browser: SessionKey, grant: ApplicationGrant)?,
        revokedVersion: Int64?,
        _ caller: Caller
    ) async throws -> Bool {
        try await service.stores.deviceCodes.decide(
            device.codeHash,
            agreed,
            revokedVersion: revokedVersion,
            in: caller.project.id,
            now: service.now()
        )
    }

    /// What the user agrees to.
    ///
    /// A client that gets the grant type of refresh tokens later has none of them by this: they need a recent sign-in
    /// (``OAuth/AuthorizationStep``).
    private func granted(_ request: AuthorizationRequest, to client: OAuthClient) -> ApplicationGrant {
        var grant = request.grant
        grant.refreshes = client.mayRefresh(grant)
        return grant
    }

    private func code(
        for request: AuthorizationRequest,
        of client: OAuthClient,
        _ user: BrowserUser,
        _ caller: Caller
    ) throws -> String {
        let code = AuthorizationCode(
            account: user.account.id.rawValue,
            browser: user.session.id.rawValue,
            session: SessionID(random: service.random).rawValue,
            grant: granted(request, to: client),
            expiresAt: service.seconds + AuthorizationCode.lifetime,
            revokedVersion: user.account.revokedVersion
        )
        return try code.sealed(
            for: request.client,
            challenge: request.codeChallenge,
            by: service.keyRing,
            in: caller.project.id
        )
    }

    private func signIn(_ visit: AuthorizationVisit, _ caller: Caller) throws -> Destination {
        guard let url = service.deployment.publicURL(of: caller.project) else { throw NoPublicURL() }
        let back = try service.applicationIssuer(of: caller.project) + ProviderMetadata.Endpoint.goOn.rawValue
        var query = [
            ("apiKey", caller.apiKey ?? ""),
            ("continueUrl", back + "?visit=" + (try visit.sealed(by: service.keyRing, in: caller.project.id))),
            ("codeChallenge", CodeChallenge.of(visit.verifier.reveal()) ?? ""),
        ]
        if let language = visit.request?.language { query.append(("lang", language)) }
        if let hint = visit.request?.loginHint { query.append(("loginHint", hint)) }
        return Destination(url: "\(url)/__/auth/sign-in?" + FormFields(pairs: query).text, isDirect: true)
    }

    // MARK: The browser

    private func open(_ text: String?, _ browser: Browser, _ caller: Caller) throws -> (AuthorizationVisit, Secret) {
        guard let text, let visit = AuthorizationVisit(text, openedBy: service.keyRing, in: caller.project.id),
            let secret = browser.secret,
            ConstantTime.equal(SecureHash.sha256Hex(secret.reveal()), visit.browserHash)
        else { throw AccountsError.invalidSessionInfo }
        guard service.seconds < visit.startedAt + AuthorizationVisit.lifetime else {
            throw AccountsError.sessionExpired
        }
        return (visit, secret)
    }

    /// The session of a code of the sign-in page, which becomes the browser's; nil if the code was used, or is none of
    /// this visit's.
    private func redeem(
        _ code: String,
        _ visit: AuthorizationVisit,
        _ browser: Browser,
        _ caller: Caller
    ) async throws -> RefreshToken? {
        let content: SignInCode.Content
        do {
            content = try await RedeemSignInCode(service: service)
                .content(token: Secret("\(code).\(visit.verifier.reveal())"), caller)
        } catch let error as AccountsError where error.code == "INVALID_CUSTOM_TOKEN" {
            return nil
        }
        guard let token = RefreshToken(content.refreshToken) else { return nil }
        try await service.sessions.give(
            token,
            toBrowserWith: browser.session.flatMap { RefreshToken($0.reveal()) },
            in: caller.scope,
            now: service.now()
        )
        return token
    }

    // MARK: Answers

    private func url(
        of answer: AuthorizationRequest.Answer,
        _ error: OAuthError,
        _ caller: Caller
    ) throws -> String {
        try url(of: answer, [("error", error.code.rawValue), ("error_description", error.description)], caller)
    }

    /// With `iss`, by which a client of several servers tells their answers apart (RFC 9207).
    private func url(
        of answer: AuthorizationRequest.Answer,
        _ values: [(name: String, value: String)],
        _ caller: Caller
    ) throws -> String {
        let state = answer.state.map { [(name: "state", value: $0)] } ?? []
        return answer.redirectURI.adding(values + state + [("iss", try service.applicationIssuer(of: caller.project))])
    }
}

extension AccountsError {
    /// Whether a refresh token leads nowhere any more.
    var endsSession: Bool {
        switch self {
        case .invalidRefreshToken, .projectNumberMismatch, .userNotFound, .userDisabled, .tokenExpired: true
        default: false
        }
    }
}
