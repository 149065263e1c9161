import Foundation
package import Linking
package import OAuth
import Projects
package import Secrets
import Sessions
import Storage
package import Text

extension AccountsService {
    package var authorizeApplication: AuthorizeApplication { AuthorizeApplication(parts: parts) }
}

/// The authorization endpoint: leads a user through the sign-in page and consent, and back to the application with a
/// code.
package struct AuthorizeApplication: Sendable {
    let parts: Parts

    /// What the browser has of us.
    package struct Browser: Sendable {
        /// The secret to which visits are bound; nil before the first one.
        package var secret: Secret?
        /// The refresh token of its session in the project; nil if nobody is signed in.
        package var session: Secret?

        package init(secret: Secret?, session: Secret?) { (self.secret, self.session) = (secret, session) }
    }

    package enum Outcome: Sendable {
        /// To the sign-in page.
        case signIn(Destination)
        /// The user decides.
        case consent(Consent)
        /// Back to the application.
        case leave(Destination)
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
        package let browser: Browser
    }

    /// A user of the browser.
    private struct SignedIn {
        var used: Refresh.Used
        /// Whether the user signed in for this request.
        var isForThis: Bool

        func facts(for request: AuthorizationRequest) -> AuthorizationStep.SignedIn {
            AuthorizationStep.SignedIn(
                authTime: used.session.authTime,
                isNamed: request.subject.map { $0 == used.account.id.rawValue } ?? true,
                isForThis: isForThis
            )
        }
    }

    // MARK: Steps

    /// A request as the application sent the browser with it.
    ///
    /// - Throws: ``OAuth/AuthorizationRequest/Unredirectable``, ``OAuthError`` for an unknown client.
    package func begin(_ parameters: FormFields, _ browser: Browser, _ caller: Caller) async throws -> Result {
        let client = try await parts.client(parameters["client_id"], caller)
        let request: AuthorizationRequest
        do {
            let pushed = PushAuthorization(parts: parts)
            if let found = try await pushed.take(parameters["request_uri"], of: client, caller) {
                request = found
            } else {
                request = try parts.authorizationRequest(parameters, of: client, caller)
            }
        } catch let refused as AuthorizationRequest.Refused {
            let url = try url(of: refused.answer, refused.error, caller)
            return Result(outcome: .leave(Destination(url: url, isDirect: true)), browser: browser)
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
            let asked = try await parts.stores.deviceCodes.asked(
                userCode: userCode,
                within: parts.codeLimits(caller),
                in: caller.project.id,
                now: parts.now()
            )
        else { throw refused }
        let client = try await parts.client(asked.client, caller)
        let device = AuthorizationVisit.Device(codeHash: asked.codeHash, userCode: AuthorizeDevice.shown(userCode))
        return try await begin(AuthorizationRequest(deviceOf: client, asked.grant), for: device, browser, caller)
    }

    private func begin(
        _ request: AuthorizationRequest?,
        for device: AuthorizationVisit.Device?,
        _ browser: Browser,
        _ caller: Caller
    ) async throws -> Result {
        let secret = browser.secret ?? Secret(parts.random.handle())
        var visit = AuthorizationVisit(
            request: request,
            verifier: Secret(parts.random.handle()),
            browserHash: SecureHash.sha256Hex(secret.reveal()),
            startedAt: parts.seconds
        )
        visit.device = device
        let user = try await user(of: browser.session, caller).map { SignedIn(used: $0, isForThis: false) }
        return try await goOn(visit, user, secret, isDirect: device == nil, caller)
    }

    /// The sign-in page has led back.
    ///
    /// - Parameter code: of the sign-in page; one that was used before counts as none.
    package func comeBack(_ visit: String?, code: String?, _ browser: Browser, _ caller: Caller) async throws -> Result
    {
        let (visit, secret) = try open(visit, browser, caller)
        var user: SignedIn?
        if let code, let session = try await redeem(code, visit, caller) {
            user = try await self.user(of: session, caller).map { SignedIn(used: $0, isForThis: true) }
        } else {
            user = try await self.user(of: browser.session, caller).map { SignedIn(used: $0, isForThis: false) }
        }
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
                _ = try await parts.stores.deviceCodes.decide(
                    device.codeHash,
                    nil,
                    in: caller.project.id,
                    now: parts.now()
                )
                return Result(outcome: .device(isAllowed: false), browser: browser)
            }
            guard let request = visit.request else { throw AccountsError.invalidSessionInfo }
            let error = OAuthError(.accessDenied, "The user refused")
            let url = try url(of: request.answer, error, caller)
            return Result(outcome: .leave(Destination(url: url, isDirect: false)), browser: browser)
        case .changeAccount:
            visit.shown = nil
            return try await goOn(visit, nil, secret, isDirect: false, caller)
        case .allow:
            guard let used = try await user(of: browser.session, caller) else {
                return try await goOn(visit, nil, secret, isDirect: false, caller)
            }
            // The page showed another account than the one that is signed in now.
            let hasAgreed = visit.shown?.account == used.account.id.rawValue
            let isForThis = hasAgreed && visit.shown?.isForThis == true
            let user = SignedIn(used: used, isForThis: isForThis)
            return try await goOn(visit, user, secret, hasAgreed: hasAgreed, isDirect: false, caller)
        }
    }

    // MARK: What comes next

    private func goOn(
        _ visit: AuthorizationVisit,
        _ user: SignedIn?,
        _ secret: Secret,
        hasAgreed: Bool = false,
        isDirect: Bool,
        _ caller: Caller
    ) async throws -> Result {
        guard let request = visit.request else { return try ownGrants(visit, user, secret, caller) }
        let client = try await parts.client(request.client, caller)
        var granted: [ApplicationGrant] = []
        if let user, !client.isTrusted, !hasAgreed {
            granted = try await parts.sessions.grants(of: user.used.account.id, to: client.id, in: caller.scope)
        }
        let step = AuthorizationStep.next(
            for: request,
            of: client,
            session: user?.facts(for: request),
            granted: granted,
            hasAgreed: hasAgreed,
            now: parts.seconds
        )
        let browser = Browser(secret: secret, session: user?.used.refreshToken)
        switch (step, user) {
        case (.refuse(let error), _):
            let url = try url(of: request.answer, error, caller)
            return Result(outcome: .leave(Destination(url: url, isDirect: isDirect)), browser: browser)
        case (.consent, let user?):
            var visit = visit
            visit.shown = .init(account: user.used.account.id.rawValue, isForThis: user.isForThis)
            let consent = Consent(
                client: client,
                account: user.used.account,
                request: request,
                userCode: visit.device?.userCode,
                visit: try visit.sealed(by: parts.keyRing, in: caller.project.id)
            )
            return Result(outcome: .consent(consent), browser: browser)
        case (.grant, let user?) where visit.device != nil:
            let isAllowed = try await allow(visit, client, user.used, caller)
            return Result(outcome: .device(isAllowed: isAllowed), browser: browser)
        case (.grant, let user?):
            guard let code = try await grant(request, to: client, user.used, caller) else { break }
            let url = try self.url(of: request.answer, [("code", code.text)], caller)
            return Result(outcome: .leave(Destination(url: url, isDirect: isDirect)), browser: browser)
        case (.signIn, _), (.consent, nil), (.grant, nil): break
        }
        return Result(outcome: .signIn(try signIn(visit, caller)), browser: browser)
    }

    private func ownGrants(
        _ visit: AuthorizationVisit,
        _ user: SignedIn?,
        _ secret: Secret,
        _ caller: Caller
    ) throws -> Result {
        let browser = Browser(secret: secret, session: user?.used.refreshToken)
        guard user != nil else { return Result(outcome: .signIn(try signIn(visit, caller)), browser: browser) }
        let url = try parts.applicationIssuer(of: caller.project) + ProviderMetadata.Endpoint.grants.rawValue
        return Result(outcome: .leave(Destination(url: url, isDirect: true)), browser: browser)
    }

    /// - Returns: false if the code has expired meanwhile, or the browser's session has just ended.
    private func allow(
        _ visit: AuthorizationVisit,
        _ client: OAuthClient,
        _ user: Refresh.Used,
        _ caller: Caller
    ) async throws -> Bool {
        guard let device = visit.device, let request = visit.request else { return false }
        let session = SessionID(random: parts.random)
        let new = NewApplicationSession(
            id: session,
            client: client.id,
            grant: request.grant,
            codeHash: device.codeHash,
            codeUntil: parts.now().addingTimeInterval(Double(AuthorizeDevice.lifetime)),
            secretHash: parts.random.bytes(32)
        )
        let browser = SessionKey(project: caller.project.id, account: user.account.id, session: user.session.id)
        guard try await open(new, from: browser, caller) else { return false }
        let granted = SessionKey(project: caller.project.id, account: user.account.id, session: session)
        return try await parts.stores.deviceCodes.decide(
            device.codeHash,
            granted,
            in: caller.project.id,
            now: parts.now()
        )
    }

    /// Nil if the browser's session has just ended.
    private func grant(
        _ request: AuthorizationRequest,
        to client: OAuthClient,
        _ user: Refresh.Used,
        _ caller: Caller
    ) async throws -> AuthorizationCode? {
        let session = SessionID(random: parts.random)
        let code = AuthorizationCode(
            RefreshToken(
                projectNumber: caller.project.number,
                account: user.account.id,
                session: session,
                secret: Secret(parts.random.handle())
            )
        )
        let new = NewApplicationSession(
            id: session,
            client: client.id,
            grant: request.grant,
            codeHash: code.hash(challenge: request.codeChallenge),
            codeUntil: parts.now().addingTimeInterval(AuthorizationCode.lifetime),
            secretHash: parts.random.bytes(32)
        )
        let browser = SessionKey(project: caller.project.id, account: user.account.id, session: user.session.id)
        return try await open(new, from: browser, caller) ? code : nil
    }

    private func open(_ new: NewApplicationSession, from browser: SessionKey, _ caller: Caller) async throws -> Bool {
        try await parts.sessions.open(
            new,
            from: browser,
            isTold: caller.project.settings.delivery.takes(.grantCreated),
            in: caller.scope,
            now: parts.now()
        )
    }

    private func signIn(_ visit: AuthorizationVisit, _ caller: Caller) throws -> Destination {
        guard let url = parts.deployment.publicURL(of: caller.project) else { throw NoPublicURL() }
        let back = try parts.applicationIssuer(of: caller.project) + ProviderMetadata.Endpoint.goOn.rawValue
        var query = [
            ("apiKey", caller.apiKey ?? ""),
            ("continueUrl", back + "?visit=" + (try visit.sealed(by: parts.keyRing, in: caller.project.id))),
            ("codeChallenge", CodeChallenge.of(visit.verifier.reveal()) ?? ""),
        ]
        if let language = visit.request?.language { query.append(("lang", language)) }
        if let hint = visit.request?.loginHint { query.append(("loginHint", hint)) }
        return Destination(url: "\(url)/__/auth/sign-in?" + FormFields(pairs: query).text, isDirect: true)
    }

    // MARK: The browser

    private func open(_ text: String?, _ browser: Browser, _ caller: Caller) throws -> (AuthorizationVisit, Secret) {
        guard let text, let visit = AuthorizationVisit(text, openedBy: parts.keyRing, in: caller.project.id),
            let secret = browser.secret,
            ConstantTime.equal(SecureHash.sha256Hex(secret.reveal()), visit.browserHash)
        else { throw AccountsError.invalidSessionInfo }
        guard parts.seconds < visit.startedAt + AuthorizationVisit.lifetime else { throw AccountsError.sessionExpired }
        return (visit, secret)
    }

    /// The session of a code of the sign-in page; nil if it was used, or is none of this visit's.
    private func redeem(_ code: String, _ visit: AuthorizationVisit, _ caller: Caller) async throws -> Secret? {
        let redeem = RedeemSignInCode(parts: parts)
        do {
            let result = try await redeem(token: Secret("\(code).\(visit.verifier.reveal())"), caller)
            guard case .signedIn(let tokens) = result.end else { return nil }
            return tokens.refreshToken
        } catch AccountsError.invalidCustomToken {
            return nil
        }
    }

    /// Nil if the session has ended.
    func user(of session: Secret?, _ caller: Caller) async throws -> Refresh.Used? {
        guard let session else { return nil }
        let rotates = caller.project.settings.rotateRefreshTokens
        do {
            return try await Refresh(parts: parts).use(session, rotates: rotates, caller)
        } catch let error as AccountsError where error.endsSession {
            return nil
        }
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
        return answer.redirectURI.adding(values + state + [("iss", try parts.applicationIssuer(of: caller.project))])
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
