import Domain
package import OAuth
import Projects
package import Secrets
import Storage

extension AccountsService { package var exchangeIDToken: ExchangeIDToken { ExchangeIDToken(service: self) } }

/// Exchanges an ID token of the project's own app for an access token for a resource (RFC 8693): a back end or an agent
/// acts for the app's user.
///
/// Nothing is stored. The access token names the app's session and ends with it.
package struct ExchangeIDToken: Sendable {
    let service: AccountsService

    /// - Parameters:
    ///   - idToken: as the app has it.
    ///   - resources: the audience, one.
    ///   - keyThumbprint: of the key that the client has proved to have; nil for a bearer token.
    /// - Throws: ``OAuthError``.
    package func callAsFunction(
        _ idToken: Secret,
        scope: String?,
        resources: [String],
        key keyThumbprint: String?,
        by client: OAuthClient,
        _ caller: Caller
    ) async throws -> GrantApplicationTokens.Result {
        guard !client.isPublic, client.origin == .admin else {
            throw OAuthError(
                .unauthorizedClient,
                "Only confidential clients that an admin registered may exchange tokens"
            )
        }
        let settings = caller.project.settings.oauth
        let resources = try settings.resources(resources)
        guard resources.count == 1 else { throw OAuthError(.invalidTarget, "resource must name one") }
        let user: SignedInAccount
        do {
            user = try await service.authenticate(idToken.reveal(), caller: caller)
        } catch is AccountsError {
            throw OAuthError(.invalidRequest, "The subject token is not accepted")
        }
        // Only an application that the user sees and ends may act while the user is away.
        let scopes = client.scopes(of: scope, settings).filter { $0 != Scopes.offlineAccess && $0 != Scopes.openID }
        let grant = ApplicationGrant(scopes: scopes, resources: resources, redirectURI: "")
        var tokens = try service.applicationTokens(of: client, user.account, user.session, grant, caller)
        tokens.isExchanged = true
        tokens.keyThumbprint = keyThumbprint
        let lifetime = settings.accessTokenSeconds
        let accessToken = try service.sign(
            tokens.accessToken(for: resources[0], id: service.random.handle(), lifetime: lifetime),
            type: ApplicationTokens.accessTokenType,
            of: caller.project
        )
        return GrantApplicationTokens.Result(
            accessToken: Secret(accessToken),
            expiresIn: lifetime,
            isBoundToKey: keyThumbprint != nil,
            scopes: scopes
        )
    }
}
