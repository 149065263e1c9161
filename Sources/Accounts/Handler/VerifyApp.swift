package import Projects
package import Secrets
import Storage

extension AccountsService { package var verifyApp: VerifyApp { VerifyApp(service: self) } }

/// The handler page's check of an app that got no push notification and wants to ask for an SMS.
package struct VerifyApp: Sendable {
    let service: AccountsService

    /// What SDKs get where the project asks for no CAPTCHA; they do not go on without a token.
    private static let unchecked = Secret("not-checked")
    /// No verifier's response begins with it.
    static let prefix = "identity-captcha."
    /// How long a token is valid, in seconds: the user may type the phone number meanwhile.
    private static let lifetime = 600.0

    /// The CAPTCHA that the page has to show; nil if the project asks for none before an SMS.
    ///
    /// - Throws: ``AccountsError/captchaUnchecked`` if there is no verifier; errors of the tenant.
    package func captcha(for request: VisitProvider.Request, _ caller: Caller) throws(AccountsError) -> CaptchaVerifier?
    {
        let settings = try Self.enter(request, caller).project.settings
        guard settings.captchaOperations.contains(.sms) else { return nil }
        guard let verifier = settings.delivery.captcha else { throw .captchaUnchecked }
        return verifier
    }

    /// - Parameter caller: with the CAPTCHA's response, if the project asks for one.
    /// - Returns: the token with which the app asks for one SMS, in any tenant: not every SDK tells the page its tenant.
    /// - Throws: as ``AccountsService/requireVerdict(_:)``.
    package func callAsFunction(_ request: VisitProvider.Request, _ caller: Caller) async throws -> Secret {
        guard try captcha(for: request, caller) != nil else { return Self.unchecked }
        try await service.requireVerdict(Self.enter(request, caller))
        let token = Secret(Self.prefix + service.random.handle())
        try await service.flows.insert(
            [],
            for: .captchaToken,
            secret: token,
            boundTo: CaptchaOperation.sms.rawValue,
            in: Scope(project: caller.project.id),
            now: service.now(),
            lifetime: Self.lifetime
        )
        return token
    }

    private static func enter(_ request: VisitProvider.Request, _ caller: Caller) throws(AccountsError) -> Caller {
        try caller.entering(request.tenantID.map { TenantID(rawValue: $0) } ?? caller.tenant)
    }
}

extension AccountsService {
    /// Ends a token of ``VerifyApp`` in the place of a CAPTCHA's response.
    ///
    /// - Returns: false if the response is no such token.
    /// - Throws: ``AccountsError/captchaRefused`` if it is unknown, used, expired, or for another operation or project.
    func takeToken(for operation: CaptchaOperation, _ caller: Caller) async throws -> Bool {
        guard let token = caller.captchaResponse, token.reveal().hasPrefix(VerifyApp.prefix) else { return false }
        let taken = try await flows.take(
            .captchaToken,
            secret: token,
            boundTo: operation.rawValue,
            in: Scope(project: caller.project.id),
            now: now()
        )
        guard taken != nil else { throw AccountsError.captchaRefused }
        return true
    }
}
