import Outbound
package import Projects
package import Secrets
import StrictJSON

extension FederationService {
    /// Renews an access token (RFC 6749 §6, or as the definition states), with at most one request.
    ///
    /// The provider's response may contain the only copy of the next refresh token, so the caller must store it
    /// immediately.
    ///
    /// - Parameters:
    ///   - tokens: as they were stored.
    ///   - subject: their user's.
    /// - Throws: ``FederationError/consentRequired(error:)`` if the user must sign in at the provider again.
    package func refresh(
        _ tokens: ProviderTokens,
        of subject: String,
        with configuration: ProviderConfiguration
    ) async throws(FederationError) -> ProviderTokens {
        try await refresh(tokens, of: subject, at: try await resolve(configuration))
    }

    func refresh(
        _ tokens: ProviderTokens,
        of subject: String,
        at provider: ResolvedProvider
    ) async throws(FederationError) -> ProviderTokens {
        let (definition, configuration) = (provider.definition, provider.client)
        guard var form = definition.refresh.form(for: tokens) else {
            throw .consentRequired(error: "no_refresh_token")
        }
        if definition.refresh.resendScope, !tokens.scopes.isEmpty {
            form.append(("scope", tokens.scopes.joined(separator: definition.scopes.separator)))
        }
        let client = ProviderClient(
            id: configuration.clientID,
            authentication: provider.clientAuthentication(hasSecret: configuration.clientSecret?.isEmpty == false),
            secret: configuration.clientSecret
        )
        let endpoint = try provider.required(\.token, "token")
        let response = try await post(form, to: endpoint, as: client, definition: definition)
        let answer: TokenAnswer
        do {
            answer = try TokenAnswer(response, definition: definition)
        } catch {
            throw error.atRefresh
        }
        return ProviderTokens(
            idToken: try await idToken(in: answer, of: subject, provider, configuration),
            accessToken: answer.accessToken,
            refreshToken: answer.refreshToken ?? (definition.refresh.keepOldIfMissing ? tokens.refreshToken : nil),
            tokenSecret: tokens.tokenSecret,
            expiresIn: answer.expiresIn,
            issuedAt: seconds,
            scopes: answer.scopes ?? tokens.scopes
        )
    }

    /// The new ID token if it is valid and the same user's (OIDC Core §12.2); otherwise nil.
    private func idToken(
        in answer: TokenAnswer,
        of subject: String,
        _ provider: ResolvedProvider,
        _ configuration: ProviderConfiguration
    ) async throws(FederationError) -> String? {
        guard provider.definition.protocolKind == .oidc, let text = answer.idToken else { return nil }
        let expectation = IDTokenExpectation(
            issuers: provider.definition.issuers,
            audiences: [configuration.clientID],
            authorizedParties: [configuration.clientID] + configuration.audiences,
            nonce: .sent(nil),
            accessToken: answer.accessToken,
            code: nil,
            maximumAge: provider.definition.idToken.maximumAge,
            maximumAuthenticationAge: nil
        )
        guard let token = try? CompactJWT(text),
            let verified = try? await verifyIDToken(token, of: provider, expectation)
        else { return nil }
        guard provider.definition.subject(in: verified.claims)?.utf8.elementsEqual(subject.utf8) == true else {
            throw .subjectMismatch
        }
        return text
    }
}

extension ProviderDefinition.RefreshRules {
    /// Nil if there is no token to renew with.
    fileprivate func form(for tokens: ProviderTokens) -> [(name: String, value: String)]? {
        let grant = exchange?.rawValue ?? "refresh_token"
        guard supported, let token = exchange == nil ? tokens.refreshToken : tokens.accessToken else { return nil }
        return [("grant_type", grant), (grant, token)]
    }
}

extension FederationError {
    /// The meaning of a token endpoint's error when a token is renewed.
    fileprivate var atRefresh: FederationError {
        switch self {
        case .codeRejected(let error): return .consentRequired(error: error)
        case .providerError(let error, let description):
            // Yahoo! JAPAN's documents write `Invalid_Token`.
            let name = error.lowercased()
            let isDead =
                [
                    "invalid_token", "bad_refresh_token", "invalid_refresh_token", "expired_token", "token_expired",
                    FacebookFault.deadToken,
                ]
                .contains(name)
            let tells =
                name != "invalid_request"
                && ["invalid_grant", "refresh_token", "refresh token", "token expired"]
                    .contains { description?.lowercased().contains($0) ?? false }
            return isDead || tells ? .consentRequired(error: error) : self
        default: return self
        }
    }
}

extension FederationService {
    /// Revokes a grant at the provider (RFC 7009 §2.1): the token, and everything granted with it.
    ///
    /// - Parameter clientID: the client that the token was issued to; nil for the configured one.
    package func revoke(
        _ token: Secret,
        isRefreshToken: Bool,
        clientID: String?,
        with configuration: ProviderConfiguration
    ) async throws(FederationError) {
        let provider = try await resolve(configuration)
        guard let rules = provider.definition.revocation else { throw .revocationNotSupported }
        let client = client(of: configuration, provider, id: clientID)
        let response =
            switch rules.style {
            case .standard:
                try await post(
                    [
                        ("token", token.reveal()),
                        ("token_type_hint", isRefreshToken ? "refresh_token" : "access_token"),
                    ],
                    to: try provider.required(\.revocation, "revocation"),
                    as: client,
                    definition: provider.definition
                )
            case .githubGrant: try await deleteGitHubGrant(token, provider, client)
            case .facebookPermissions: try await deleteFacebookPermissions(token, provider, client)
            case .lineDeauthorize: try await deauthorizeLINE(token, provider, client)
            }
        if let unavailable = FederationError.Unavailable(status: response.status) { throw .unavailable(unavailable) }
        guard !response.isSuccess else { return }
        throw TokenAnswer.fault(of: response, definition: provider.definition) ?? .invalidAnswer(.refused)
    }

    /// Exchanges a code that a native app received, so that its grant can be revoked.
    ///
    /// - Parameters:
    ///   - subject: who must have got the code, as far as the provider says (T-B4).
    ///   - redirectURI: as the app sent it to the provider; nil for a code from the platform's own dialog.
    ///   - clientID: the client that the code was issued to; nil for the configured one.
    /// - Returns: the refresh token, otherwise the access token.
    package func exchangeForRevocation(
        _ code: Secret,
        of subject: String,
        redirectURI: String?,
        clientID: String?,
        with configuration: ProviderConfiguration
    ) async throws(FederationError) -> (token: Secret, isRefreshToken: Bool) {
        let provider = try await resolve(configuration)
        var form: [(name: String, value: String)] = [("grant_type", "authorization_code"), ("code", code.reveal())]
        if let redirectURI { form.append(("redirect_uri", redirectURI)) }
        let response = try await post(
            form,
            to: try provider.required(\.token, "token"),
            as: client(of: configuration, provider, id: clientID),
            definition: provider.definition
        )
        let answer = try TokenAnswer(response, definition: provider.definition)
        // It comes from the token endpoint itself, which the connection proves (OIDC Core §3.1.3.7).
        if let idToken = answer.idToken, try CompactJWT(idToken).claims["sub"]?.string != subject {
            throw .subjectMismatch
        }
        guard let refreshToken = answer.refreshToken else { return (Secret(answer.accessToken), false) }
        return (Secret(refreshToken), true)
    }

    func client(
        of configuration: ProviderConfiguration,
        _ provider: ResolvedProvider,
        id: String?
    ) -> ProviderClient {
        ProviderClient(
            id: id ?? configuration.clientID,
            authentication: provider.clientAuthentication(hasSecret: configuration.clientSecret?.isEmpty == false),
            secret: configuration.clientSecret
        )
    }
}
