import Linking
import Projects

extension FederationService {
    /// Signs in with an access token alone, if the provider states for which client it was issued; otherwise it is
    /// refused before any call (T-C3, R-38).
    func verify(
        accessToken: String,
        tokenSecret: String?,
        with configuration: ProviderConfiguration
    ) async throws(FederationError) -> FederatedCredential {
        let definition = try definition(of: configuration)
        let refusal = FederationError.accessTokenNotAccepted(definition.id)
        guard let check = definition.directSignIn.accessToken, TokenAnswer.isToken(accessToken) else { throw refusal }
        guard check.inspector != nil else {
            guard let tokenSecret, TokenAnswer.isToken(tokenSecret) else { throw refusal }
            let token = OAuth1Token(token: accessToken, secret: tokenSecret)
            return try await credential(of: token, at: try await resolve(configuration), subject: nil)
        }
        guard definition.tokenCheckURL != nil else { throw refusal }
        let provider = try await resolve(configuration)
        let facts = try await inspect(accessToken, by: check, of: provider)
        var mapping = IdentityMapping(definition: definition)
        mapping.scopes = facts.scopes ?? []
        mapping.profile = try await profile(of: provider, accessToken: accessToken, subject: nil)
        let identity = try mapping.identity(subject: nil)
        try facts.requireSubject(identity.subject)
        var credential = FederatedCredential(
            identity: identity,
            tokens: ProviderTokens(
                accessToken: accessToken,
                expiresIn: facts.expiresAt.map { Int($0 - seconds) },
                scopes: mapping.scopes
            ),
            rawUserInfo: mapping.rawUserInfo,
            federatedID: definition.federatedID(for: identity.subject)
        )
        mapping.markGaps(of: &credential)
        return credential
    }

    /// Asks the provider for which client a token was issued, and refuses one that is not ours or has expired.
    func inspect(
        _ accessToken: String,
        by check: ProviderDefinition.AccessTokenCheck,
        of provider: ResolvedProvider
    ) async throws(FederationError) -> AccessTokenFacts {
        guard let inspector = check.inspector, let endpoint = provider.definition.tokenCheckURL else {
            throw .misconfigured(InvalidDefinition(member: "definition.endpoints.tokenCheck", problem: "is missing"))
        }
        let answer = try await callAPI(
            inspector.request(accessToken, at: endpoint, client: provider.client),
            of: provider.definition
        )
        let facts = try inspector.facts(answer, now: seconds)
        let ours = [provider.client.clientID] + provider.client.audiences
        guard !facts.clients.isEmpty, facts.clients.allSatisfy({ SafeText.isOne($0, of: ours) }) else {
            throw .accessTokenOfAnotherClient
        }
        if let end = facts.expiresAt, end <= seconds { throw .accessTokenRejected }
        return facts
    }
}

extension ProviderDefinition {
    /// Where an access token is checked; discovery documents do not contain it, so a fallback always applies.
    fileprivate var tokenCheckURL: String? { endpoints.tokenCheck ?? fallbackEndpoints.tokenCheck }
}

extension AccessTokenFacts {
    /// The profile must belong to the user that the check of the token named (T-C12).
    func requireSubject(_ other: String) throws(FederationError) {
        guard let subject else { return }
        guard subject.utf8.elementsEqual(other.utf8) else { throw .subjectMismatch }
    }
}
