import Linking
package import Projects
import Secrets

extension FederationService {
    /// Finishes a sign-in: checks the callback against the flow, exchanges the code, verifies the response.
    ///
    /// The caller has found the flow by the callback's ``ProviderCallback/state``, has consumed it, and has compared
    /// the client's `sessionId`. The code is sent to the provider at most once.
    ///
    /// - Parameter keepName: receives what the provider sends only once about the user, before the code is exchanged,
    ///   so that
    ///   later failures cannot lose it. Only called if the callback itself proves the user.
    package func redeem(
        _ callback: ProviderCallback,
        flow: AuthorizationFlow,
        with configuration: ProviderConfiguration,
        keepName: (_ subject: String, _ user: String) async -> Void = { _, _ in }
    ) async throws(FederationError) -> FederatedCredential {
        guard configuration.provider == flow.provider else { throw .issuerParameterMismatch }
        try checkOrigin(of: callback, flow)
        let provider = try await resolve(configuration, choosing: flow.variables)
        guard provider.issuer.utf8.elementsEqual(flow.issuer.utf8) else { throw .issuerParameterMismatch }
        if provider.definition.protocolKind == .oauth1 {
            return try await redeemVerifier(in: callback, flow: flow, provider: provider)
        }
        let code = try code(in: callback, flow, provider)
        let front = try await frontChannel(of: callback, code: code, flow, provider, configuration)
        if provider.definition.quirks.contains(.appleUser), let subject = front.idToken?.subject,
            let user = callback["user"], AppleUser.name(user) != nil
        {
            await keepName(subject, user)
        }
        let (definition, secret) = (provider.definition, configuration.clientSecret)
        let answer = try await exchange(code, flow: flow, definition: definition, secret: secret)
        var facts: AccessTokenFacts?
        if let check = provider.definition.token.check {
            facts = try await inspect(answer.accessToken, by: check, of: provider)
        }
        var mapping = IdentityMapping(definition: provider.definition)
        mapping.scopes = answer.scopes ?? facts?.scopes ?? flow.scopes
        mapping.user = callback["user"]
        let idToken = try await verifiedIDToken(of: answer, code: code, flow, provider, configuration)
        let subject = idToken?.subject
        if let idToken {
            try front.requireSamePerson(as: idToken)
            mapping.claims = idToken.sentClaims
        }
        mapping.profile = try await profile(of: provider, accessToken: answer.accessToken, subject: subject)
        try await requireSameOwner(of: front, as: mapping.profile, subject: subject, at: provider)
        let identity = try mapping.identity(subject: subject)
        try facts?.requireSubject(identity.subject)
        let tokens = ProviderTokens(
            idToken: subject == nil ? nil : answer.idToken,
            accessToken: answer.accessToken,
            refreshToken: answer.refreshToken,
            expiresIn: answer.expiresIn,
            issuedAt: seconds,
            scopes: mapping.scopes
        )
        var credential = FederatedCredential(
            identity: identity,
            tokens: await longLived(tokens, of: identity.subject, at: provider),
            rawUserInfo: mapping.rawUserInfo,
            federatedID: provider.definition.federatedID(for: identity.subject),
            signInAttributes: mapping.signInAttributes
        )
        mapping.markGaps(of: &credential)
        return credential
    }

    /// The tokens to store: only a valid token can be exchanged for one that lives longer, so this cannot wait.
    private func longLived(
        _ tokens: ProviderTokens,
        of subject: String,
        at provider: ResolvedProvider
    ) async -> ProviderTokens {
        guard provider.definition.keepTokens, provider.definition.refresh.exchange != nil else { return tokens }
        let exchanged = try? await refresh(tokens, of: subject, at: provider)
        return exchanged ?? tokens
    }

    /// The response's ID token, verified; nil for a provider without ID tokens.
    private func verifiedIDToken(
        of answer: TokenAnswer,
        code: String,
        _ flow: AuthorizationFlow,
        _ provider: ResolvedProvider,
        _ configuration: ProviderConfiguration
    ) async throws(FederationError) -> VerifiedIDToken? {
        guard provider.definition.protocolKind == .oidc else { return nil }
        guard let idToken = answer.idToken else { throw .invalidAnswer(.missingIDToken) }
        let expectation = IDTokenExpectation(
            flow,
            provider.definition,
            configuration,
            accessToken: answer.accessToken,
            code: code
        )
        return try await verifyIDToken(CompactJWT(idToken), of: provider, expectation)
    }

    private func checkOrigin(of callback: ProviderCallback, _ flow: AuthorizationFlow) throws(FederationError) {
        guard let state = callback.state,
            ConstantTime.equal(SecureHash.sha256(state.reveal()), flow.stateHash)
        else { throw .stateMismatch }
        guard callback.came(to: flow.callbackURI) else { throw .callbackMismatch }
    }

    private func code(
        in callback: ProviderCallback,
        _ flow: AuthorizationFlow,
        _ provider: ResolvedProvider
    ) throws(FederationError) -> String {
        let issuer = callback["iss"]
        if let issuer, !SafeText.isOne(issuer, of: provider.definition.issuers) { throw .issuerParameterMismatch }
        if let fault = callback.fault { throw fault }
        guard let code = callback["code"] else { throw .cancelled }
        guard issuer != nil || !flow.requiresIssuerParameter else { throw .issuerParameterMismatch }
        guard code.utf8.count <= 8_192, !code.utf8.contains(where: { $0 < 32 || $0 == 127 }) else {
            throw .codeRejected(error: "malformed")
        }
        return code
    }
}
