import Linking
import Projects

extension FederationService {
    /// Signs in with an access token alone, where the provider says for whom it was made; elsewhere it is refused before
    /// anything is sent (T-C3, R-38).
    func verify(
        accessToken: String,
        with configuration: ProviderConfiguration
    ) async throws(FederationError) -> FederatedCredential {
        let definition = try definition(of: configuration)
        guard definition.accessTokenCheck != nil, TokenAnswer.isToken(accessToken) else {
            throw .accessTokenNotAccepted(definition.id)
        }
        let provider = try await resolve(configuration)
        let facts = try await inspect(accessToken, of: provider, client: configuration)
        var mapping = IdentityMapping(definition: definition)
        mapping.scopes = facts.scopes ?? []
        mapping.profile = try await profile(of: provider, accessToken: accessToken, subject: nil)
        let identity = try mapping.identity(subject: nil)
        try facts.requireSubject(identity.subject)
        return FederatedCredential(
            identity: identity,
            tokens: ProviderTokens(
                accessToken: accessToken,
                expiresIn: facts.expiresAt.map { Int($0 - seconds) },
                scopes: mapping.scopes
            ),
            rawUserInfo: mapping.rawUserInfo,
            federatedID: definition.federatedID(for: identity.subject)
        )
    }

    /// Asks the provider for whom a token was made, and refuses one that is not ours or has ended.
    private func inspect(
        _ accessToken: String,
        of provider: ResolvedProvider,
        client: ProviderConfiguration
    ) async throws(FederationError) -> AccessTokenFacts {
        guard let (check, endpoint) = provider.definition.accessTokenCheck else {
            throw .accessTokenNotAccepted(provider.definition.id)
        }
        let inspector = check.inspector
        let answer = try await callAPI(inspector.request(accessToken, at: endpoint, client: client))
        let facts = try inspector.facts(answer, now: seconds)
        let ours = [client.clientID] + client.audiences
        guard !facts.clients.isEmpty, facts.clients.allSatisfy({ SafeText.isOne($0, of: ours) }) else {
            throw .accessTokenOfAnotherClient
        }
        if let end = facts.expiresAt, end <= seconds { throw .accessTokenRejected }
        return facts
    }
}

extension ProviderDefinition {
    /// How an access token alone is checked, and where; nil when it is refused.
    var accessTokenCheck: (check: AccessTokenCheck, endpoint: String)? {
        // No discovery document names the endpoint, so that a fallback always steps in.
        guard let check = directSignIn.accessToken,
            let endpoint = endpoints.tokenCheck ?? fallbackEndpoints.tokenCheck
        else { return nil }
        return (check, endpoint)
    }
}

extension AccessTokenFacts {
    /// The profile that a token opens must be of the person whom the check names (T-C12).
    func requireSubject(_ other: String) throws(FederationError) {
        guard let subject else { return }
        guard subject.utf8.elementsEqual(other.utf8) else { throw .subjectMismatch }
    }
}
