import Domain
package import Federation
import Projects
package import Secrets
import Storage

extension AccountsService { package var createAuthURI: CreateAuthURI { CreateAuthURI(service: self) } }

/// `createAuthUri`: returns the sign-in methods of an email, or starts a sign-in at a provider.
package struct CreateAuthURI: Sendable {
    let service: AccountsService

    package struct Methods: Sendable {
        package var sessionID: String
        /// Nil, like the lists, with email enumeration protection.
        package var registered: Bool?
        package var allProviders: [String]?
        package var signInMethods: [String]?
    }

    /// - Parameters:
    ///   - email: `identifier`.
    ///   - continueURI: must be present and absolute, but is not used.
    package func lookUpMethods(
        email: String?,
        continueURI: String?,
        sessionID: String?,
        _ caller: Caller
    ) async throws -> Methods {
        guard let email, !email.isEmpty else { throw AccountsError.missingIdentifier }
        guard let continueURI, !continueURI.isEmpty else { throw AccountsError.missingContinueURI }
        guard let address = EmailAddress(email) else { throw AccountsError.invalidIdentifier }
        guard ContinueURI(continueURI) != nil else { throw AccountsError.invalidContinueURI("") }
        var methods = Methods(sessionID: sessionID ?? newSessionID())
        guard !caller.project.settings.emailEnumerationProtection else { return methods }
        let accounts = try await service.accounts.find(
            anyEmail: address,
            within: service.methodQueryLimits(caller),
            in: caller.scope
        )
        methods.registered = !accounts.isEmpty
        guard !accounts.isEmpty else { return methods }
        var providers: [String] = []
        var signIn: [String] = []
        for account in accounts {
            let ownsAddress = account.email?.canonical == address.canonical
            if account.hasPassword, ownsAddress { signIn.append("password") }
            if account.emailLinkSignIn, ownsAddress { signIn.append("emailLink") }
            if account.hasPassword || account.emailLinkSignIn, ownsAddress { providers.append("password") }
            guard !caller.project.settings.allowDuplicateEmails else { continue }
            let federated = account.linked
                .filter { ownsAddress || $0.email == address.canonical }.map(\.provider.rawValue)
            signIn += federated
            providers += federated
        }
        methods.allProviders = providers.uniqued()
        methods.signInMethods = signIn.uniqued()
        return methods
    }

    package struct Request: Sendable {
        package enum Purpose: Sendable { case signIn, link, reauthenticate }

        package var providerID: String
        package var continueURI: String?
        package var scopes: [String] = []
        package var customParameters: [String: String] = [:]
        /// Nil for the first one in the provider's definition.
        package var responseType: String?
        package var sessionID: String?
        package var context: String?
        package var purpose = Purpose.signIn
        package var hostedDomain: String?
        /// Set by the handler page, which ``continueURI`` points to in this case.
        package var visit: HandlerVisit?
        /// Set by the handler page: the secret that the browser presents when it returns.
        package var browser: Secret?
        /// Set for a test, which also works with a disabled provider.
        var isTest = false

        package init(providerID: String) { self.providerID = providerID }
    }

    package struct Started: Sendable {
        package var authURI: String
        /// The secret that the same client presents when it finishes.
        package var sessionID: String
        package var providerID: String
        /// For apps that check `state` and `nonce` themselves.
        package var state: Secret
        package var nonce: Secret?
    }

    /// Stores an authorization request for ten minutes and returns the URL to send the browser to.
    package func startFlow(_ request: Request, _ caller: Caller) async throws -> Started {
        guard let continueURI = request.continueURI, !continueURI.isEmpty else {
            throw AccountsError.missingContinueURI
        }
        let id = ProviderID(request.providerID)
        guard var configuration = service.provider(id, caller) else {
            throw ProviderDefinition.exists(id) ? AccountsError.providerNotFound : .invalidProviderID
        }
        if request.isTest { configuration.enabled = true }
        guard configuration.enabled else { throw AccountsError.providerDisabled }
        if request.visit == nil { try allow(continueURI, configuration, caller) }
        // Anyone with an API key can store it, so its size is limited.
        guard (request.context?.utf8.count ?? 0) <= 4096 else { throw AccountsError.reservedParameter("context") }
        var parameters = request.customParameters
        if let hostedDomain = request.hostedDomain, parameters["hd"] == nil { parameters["hd"] = hostedDomain }
        let options = AuthorizationOptions(
            redirectURI: continueURI,
            scopes: request.scopes,
            customParameters: parameters,
            responseType: request.responseType
        )
        var limits = request.isTest ? .none : service.flowLimits(caller)
        if service.federation.asksBeforeRedirect(configuration, options) {
            // The limit comes before the provider's endpoint, so that a refused request causes no call to the provider.
            try await service.stores.rateLimits.take(limits)
            limits = .none
        }
        var authorization: AuthorizationRequest
        do {
            authorization = try await service.federation.calling(for: caller.project.id) {
                [federation = service.federation] () async throws(FederationError) in
                try await federation.authorizationRequest(for: configuration, options)
            }
        } catch {
            throw AccountsError.federation(error, at: id, caller)
        }
        authorization.flow.visit = request.visit
        let sessionID = request.sessionID.flatMap { $0.isEmpty ? nil : $0 } ?? newSessionID()
        try await service.flows.insert(
            authorization.flow,
            state: authorization.state,
            sessionID: Secret(sessionID),
            browser: request.browser,
            purpose: FlowStore.Purpose(request.purpose),
            context: request.context,
            within: limits,
            in: caller.scope,
            now: service.now(),
            lifetime: 600
        )
        return Started(
            authURI: authorization.url,
            sessionID: sessionID,
            providerID: id.rawValue,
            state: authorization.state,
            nonce: authorization.flow.nonce.map(Secret.init)
        )
    }

    /// A redirect URI must be allowed by the project, or registered in the provider's configuration, byte for byte
    /// (custom schemes of apps).
    private func allow(
        _ text: String,
        _ configuration: ProviderConfiguration,
        _ caller: Caller
    ) throws(AccountsError) {
        let registered = service.federation.redirectURIs(of: configuration)
        if registered.contains(text) { return }
        guard registered.isEmpty, let uri = ContinueURI(text), uri.query == nil || !uri.hasParameter("state"),
            uri.isAllowed(by: caller.project.settings, anyLoopback: service.options.development)
        else { throw .invalidContinueURI("Invalid OAuth request for \(configuration.provider)") }
    }

    private func newSessionID() -> String { service.random.handle() }
}

extension FlowStore.Purpose {
    fileprivate init(_ purpose: CreateAuthURI.Request.Purpose) {
        self =
            switch purpose {
            case .signIn: .signIn
            case .link: .link
            case .reauthenticate: .reauthenticate
            }
    }
}

extension [String] {
    fileprivate func uniqued() -> [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}
