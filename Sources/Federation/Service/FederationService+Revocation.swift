import Outbound
package import Projects
package import Secrets
import StrictJSON

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
