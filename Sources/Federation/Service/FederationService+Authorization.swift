package import Projects
import Secrets
import Text

extension FederationService {
    /// Starts a sign-in at the provider: the caller stores the flow and sends the browser to the URL.
    ///
    /// - Throws: ``FederationError/customParameterNotAllowed(name:)``, ``FederationError/responseTypeNotOffered(_:)``,
    ///   ``FederationError/invalidRedirectURI``, ``FederationError/providerDisabled``, ``FederationError/misconfigured(_:)``,
    ///   ``FederationError/issuerUnreachable``.
    package func authorizationRequest(
        for configuration: ProviderConfiguration,
        _ options: AuthorizationOptions
    ) async throws(FederationError) -> AuthorizationRequest {
        let draft = try AuthorizationDraft(options)
        let variables = try draft.variables(of: definition(of: configuration))
        let provider = try await resolve(configuration, choosing: variables)
        let definition = provider.definition
        try draft.check(against: definition)
        let endpoint = try provider.required(\.authorization, "authorization")
        let authentication = provider.clientAuthentication(hasSecret: configuration.clientSecret?.isEmpty == false)
        guard !authentication.needsSecret || configuration.clientSecret?.isEmpty == false else {
            throw .misconfigured(
                InvalidDefinition(member: "clientSecret", problem: "is required to exchange authorization codes")
            )
        }
        let state = random.handle()
        var flow = AuthorizationFlow(
            provider: configuration.provider,
            stateHash: SecureHash.sha256(state),
            clientID: configuration.clientID,
            issuer: provider.issuer,
            tokenEndpoint: try provider.required(\.token, "token"),
            clientAuthentication: authentication,
            callbackURI: options.redirectURI,
            redirectURI: definition.redirect == .omit ? nil : options.redirectURI,
            nonce: definition.sendNonce ? random.handle() : nil,
            pkceVerifier: provider.sendsChallenge ? random.handle() : nil,
            scopes: provider.scopes(asked: options.scopes),
            responseType: try draft.responseType(of: definition),
            variables: variables,
            maxAge: draft.maxAge(definition),
            loginAskedAt: draft.asksForLogin(definition) ? seconds : nil,
            isPosted: definition.responseMode == .formPost && definition.protocolKind != .oauth1,
            requiresIssuerParameter: provider.discovery?.sendsIssuerParameter ?? false
        )
        if definition.protocolKind == .oauth1 {
            flow.requestToken = try await requestToken(
                of: provider,
                callback: options.redirectURI.adding([("state", state)])
            )
        }
        let url = draft.url(endpoint, definition: definition, flow: flow, state: state)
        return AuthorizationRequest(url: url, state: Secret(state), flow: flow)
    }
}

extension FederationService {
    /// Whether the sign-in starts with a call to the provider: for OAuth 1.0a's request token, or for its discovery
    /// document, if there is none or it is too old.
    package func asksBeforeRedirect(_ configuration: ProviderConfiguration, _ options: AuthorizationOptions) -> Bool {
        guard let draft = try? AuthorizationDraft(options),
            let variables = try? draft.variables(of: definition(of: configuration)),
            let definition = try? definition(of: configuration, choosing: variables)
        else { return false }
        if definition.protocolKind == .oauth1 { return true }
        guard definition.discovery != .never, let issuer = definition.issuers.first else { return false }
        return !documents.isFresh(Self.discoveryURL(of: definition, issuer))
    }

    /// The redirect URIs in the provider's configuration, byte for byte; empty if it has none.
    package func redirectURIs(of configuration: ProviderConfiguration) -> [String] {
        (try? ProviderDefinition.make(for: configuration, allowsLoopback: true).redirectURIs) ?? []
    }
}
