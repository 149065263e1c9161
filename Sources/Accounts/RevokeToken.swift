package import Domain
import Federation
import Projects
package import Secrets
import Storage

extension AccountsService { package var revokeToken: RevokeToken { RevokeToken(service: self) } }

/// `accounts:revokeToken`: revokes the signed-in account's grant at a provider (Apple requires it before an account is
/// deleted).
package struct RevokeToken: Sendable {
    let service: AccountsService

    package enum TokenType: Int, Sendable { case refreshToken = 1, accessToken, code }

    package struct Request: Sendable {
        package var idToken: String?
        package var provider: ProviderID
        package var type: TokenType
        package var token: Secret
        /// With a code of a web flow, as it was sent to the provider.
        package var redirectURI: String?
        /// The calling iOS app, as Firebase's SDK sends it.
        package var bundleID: String?

        package init(
            idToken: String?,
            provider: ProviderID,
            type: TokenType,
            token: Secret,
            redirectURI: String?,
            bundleID: String?
        ) {
            self.idToken = idToken
            self.provider = provider
            self.type = type
            self.token = token
            self.redirectURI = redirectURI
            self.bundleID = bundleID
        }
    }

    /// A code is first exchanged, once; the credential stays linked and counts as revoked until the next sign-in with
    /// it.
    package func callAsFunction(_ request: Request, _ caller: Caller) async throws {
        let user = try await service.authenticate(request.idToken, caller: caller)
        let (account, provider) = (user.account.id, request.provider)
        guard let linked = user.account.linked.first(where: { $0.provider == provider }) else {
            throw AccountsError.providerNotLinked
        }
        guard let configuration = service.provider(provider, caller) else {
            throw AccountsError.providerNotFound
        }
        guard service.federation.revokesGrants(of: configuration) else {
            throw AccountsError.federation(.revocationNotSupported)
        }
        let known = try await service.accounts.tokenClient(of: account, at: provider, in: caller.scope)
        let clientID = try client(of: request, known: known, configuration)
        try await service.stores.rateLimits.take(service.accessTokenLimits(caller))
        do {
            try await service.federation.calling(for: caller.project.id) {
                [federation = service.federation] () async throws(FederationError) in
                var (token, isRefreshToken) = (request.token, request.type == .refreshToken)
                if request.type == .code {
                    (token, isRefreshToken) = try await federation.exchangeForRevocation(
                        token,
                        of: linked.subject,
                        redirectURI: request.redirectURI,
                        clientID: clientID,
                        with: configuration
                    )
                }
                try await federation.revoke(
                    token,
                    isRefreshToken: isRefreshToken,
                    clientID: clientID,
                    with: configuration
                )
            }
        } catch {
            throw AccountsError.federation(error, at: provider, caller)
        }
        let now = service.now()
        _ = try await service.change(account, session: nil, caller) { _, _ in
            var changes = AccountChanges()
            changes.grants = [.init(provider: provider, kind: .withdrawn(at: now, endsSessions: false))]
            return changes
        }
        AccountEvent.grantRevoked.log(account, provider: provider, caller)
    }

    /// The client that received the token or code, the only one that can use it; nil for the configured one.
    private func client(
        of request: Request,
        known: String?,
        _ configuration: ProviderConfiguration
    ) throws(AccountsError) -> String? {
        guard request.type == .code else { return known }
        // A code of a web flow belongs to the configured client, whatever tokens are stored.
        guard request.redirectURI == nil else { return nil }
        // A code without a redirect URI came from a native app.
        let apps = configuration.audiences
        if let bundleID = request.bundleID, apps.contains(bundleID) { return bundleID }
        guard known == nil, apps.count > 1 else { return known ?? apps.first }
        throw .unknownCodeClient
    }
}
