import Federation
package import Linking
import Projects
package import Secrets
import Storage

/// `accounts:revokeToken`: ends the signed-in account's grant at a provider (Apple asks for it before an account is
/// deleted).
package struct RevokeToken: Sendable {
    let parts: Parts

    package enum TokenType: Int, Sendable { case refreshToken = 1, accessToken, code }

    package struct Request: Sendable {
        package var idToken: String?
        package var provider: ProviderID
        package var type: TokenType
        package var token: Secret
        /// With a code of a web flow, as it was sent to the provider.
        package var redirectURI: String?

        package init(idToken: String?, provider: ProviderID, type: TokenType, token: Secret, redirectURI: String?) {
            self.idToken = idToken
            self.provider = provider
            self.type = type
            self.token = token
            self.redirectURI = redirectURI
        }
    }

    /// A code is exchanged first, once; the credential stays linked and counts as revoked until the next sign-in with it.
    package func callAsFunction(_ request: Request, _ caller: Caller) async throws {
        let user = try await parts.authenticate(request.idToken, caller: caller)
        let (account, provider) = (user.account.id, request.provider)
        guard user.account.linked.contains(where: { $0.provider == provider }) else {
            throw AccountsError.providerNotLinked
        }
        guard let configuration = parts.provider(provider, caller) else {
            throw AccountsError.providerNotFound
        }
        guard parts.federation.revokesGrants(of: configuration) else {
            throw AccountsError.federation(.revocationNotSupported)
        }
        let known = try await parts.accounts.tokenClient(of: account, at: provider, in: caller.scope)
        // A code without a redirect URI came from a native app.
        let native = request.type == .code && request.redirectURI == nil ? configuration.audiences.first : nil
        do throws(FederationError) {
            var (token, isRefreshToken) = (request.token, request.type == .refreshToken)
            // A code of a web flow is the configured client's, whatever tokens are kept.
            let clientID = request.type == .code && request.redirectURI != nil ? nil : known ?? native
            if request.type == .code {
                (token, isRefreshToken) = try await parts.federation.exchangeForRevocation(
                    token,
                    redirectURI: request.redirectURI,
                    clientID: clientID,
                    with: configuration
                )
            }
            try await parts.federation.revoke(
                token,
                isRefreshToken: isRefreshToken,
                clientID: clientID,
                with: configuration
            )
        } catch {
            throw AccountsError.federation(error)
        }
        let now = parts.now()
        _ = try await parts.change(account, session: nil, caller) { _, _ in
            var changes = AccountChanges()
            changes.grant = .init(provider: provider, kind: .withdrawn(at: now, endsSessions: false))
            return changes
        }
        AccountEvent.grantRevoked.log(account, provider: provider, caller)
    }
}
