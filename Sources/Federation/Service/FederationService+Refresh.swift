package import Projects
import Secrets

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
