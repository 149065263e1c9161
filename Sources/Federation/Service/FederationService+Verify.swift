package import Domain
package import Projects
import Secrets
import StrictJSON

extension FederationService {
    /// Verifies tokens that an app received from the provider itself.
    ///
    /// An access token alone is accepted if the provider states for which app it was issued (T-C3).
    ///
    /// - Parameter configuration: nil if the project has none for `id`: then only a verifier of the list can handle it,
    ///   otherwise ``FederationError/providerNotFound``.
    package func verify(
        _ credential: DirectCredential,
        id: ProviderID,
        with configuration: ProviderConfiguration?
    ) async throws(FederationError) -> FederatedCredential {
        if configuration?.enabled == false { throw .providerDisabled }
        for verifier in verifiers {
            let definition = configuration.flatMap { try? self.definition(of: $0) } ?? .unconfigured(id)
            if let verified = try await verifier.verify(credential, definition: definition, id: id) { return verified }
        }
        guard let configuration else { throw .providerNotFound }
        guard let idToken = credential.idToken?.reveal() else {
            guard let accessToken = credential.accessToken?.reveal() else { throw .missingCredential }
            return try await verify(
                accessToken: accessToken,
                tokenSecret: credential.tokenSecret?.reveal(),
                with: configuration
            )
        }
        guard try definition(of: configuration).directSignIn.idToken else { throw .idTokenNotAccepted(id) }
        let token = try CompactJWT(idToken)
        let provider = try await resolve(configuration)
        let clients = [configuration.clientID] + configuration.audiences
        let expectation = IDTokenExpectation(
            issuers: provider.definition.issuers,
            audiences: clients,
            authorizedParties: clients,
            nonce: .client(raw: credential.nonce?.reveal(), provider.definition.idToken),
            accessToken: credential.accessToken?.reveal(),
            code: nil,
            maximumAge: provider.definition.idToken.maximumAge,
            maximumAuthenticationAge: nil
        )
        let verified = try await verifyIDToken(token, of: provider, expectation)
        var mapping = IdentityMapping(definition: provider.definition, claims: verified.sentClaims)
        mapping.user = credential.user
        let identity = try mapping.identity(subject: verified.subject)
        var result = FederatedCredential(
            identity: identity,
            tokens: ProviderTokens(
                idToken: idToken,
                accessToken: credential.accessToken?.reveal(),
                clientID: token.claims["aud"]?.string
            ),
            rawUserInfo: mapping.rawUserInfo,
            federatedID: provider.definition.federatedID(for: identity.subject),
            signInAttributes: mapping.signInAttributes
        )
        mapping.markGaps(of: &result)
        if token.claims["nonce"] != nil {
            result.nonce = credential.nonce?.reveal()
            let expires = (token.claims["exp"]?.numericDate ?? seconds) + IDTokenExpectation.skew
            result.oneTimeToken = .init(hash: FederatedCredential.OneTimeToken.hash(of: idToken), expiresAt: expires)
        }
        return result
    }
}

/// An ID token that passed every check.
struct VerifiedIDToken: Sendable {
    let subject: String
    let claims: JSONObject
    /// As in ``CompactJWT``.
    let sentClaims: JSONObject
}

extension ProviderDefinition {
    /// The subject under which a verified token's user is stored: `sub`, unless the definition names another claim.
    func subject(in claims: JSONObject) -> String? {
        self.claims.subject.lazy.compactMap { JSONValue.object(claims)[path: $0]?.string }.first
    }
}

extension FederationService {
    /// Verifies an ID token against the provider's keys and the expectations.
    func verifyIDToken(
        _ token: CompactJWT,
        of provider: ResolvedProvider,
        _ expectation: IDTokenExpectation
    ) async throws(FederationError) -> VerifiedIDToken {
        _ = try algorithm(of: token, by: provider)
        var expectation = expectation
        guard let issuers = provider.definition.issuers(for: token.claims) else {
            let got = token.claims["iss"]?.string ?? ""
            throw .issuerMismatch(got: SafeText.short(got), want: provider.issuer)
        }
        expectation.issuers = issuers
        try expectation.checkIssuer(token.claims)
        let algorithm = try await verifySignature(of: token, by: provider)
        let subject = try expectation.check(token.claims, algorithm: algorithm, now: seconds)
        return VerifiedIDToken(subject: subject, claims: token.claims, sentClaims: token.sentClaims)
    }

    /// Verifies only that the provider signed a token.
    func verifySignature(
        of token: CompactJWT,
        by provider: ResolvedProvider
    ) async throws(FederationError) -> SignatureAlgorithm {
        let algorithm = try algorithm(of: token, by: provider)
        var tried: [ProviderKey] = []
        while true {
            let candidates = try await keys(of: provider, for: token, algorithm, otherThan: tried).filter { key in
                !provider.definition.quirks.contains(.microsoftTenant) || key.isOf(token.claims)
            }
            guard !candidates.isEmpty else { throw .signatureInvalid(.unknownKey) }
            if candidates.contains(where: { $0.verifies(token.signature, over: token.signedBytes, by: algorithm) }) {
                return algorithm
            }
            // A provider may have replaced a key without an ID, or a key with the same ID.
            guard candidates != tried else { throw .signatureInvalid(.signature) }
            tried = candidates
        }
    }

    private func algorithm(
        of token: CompactJWT,
        by provider: ResolvedProvider
    ) throws(FederationError) -> SignatureAlgorithm {
        guard let algorithm = SignatureAlgorithm(name: token.algorithm), provider.algorithms.contains(algorithm)
        else { throw .signatureInvalid(.algorithm) }
        return algorithm
    }
}

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

extension FederationService {
    /// When an email from the provider counts as verified.
    ///
    /// A rule in the configuration takes precedence over both tables; an unreadable configuration trusts nothing.
    ///
    /// - Parameter strict: the project setting ``Projects/ProjectSettings/strictEmailTrust``.
    package func emailTrust(
        for id: ProviderID,
        configuration: ProviderConfiguration?,
        strict: Bool
    ) -> EmailTrust {
        guard let configuration else { return EmailTrustRule.standard(for: id, strict: strict).value }
        do throws(InvalidDefinition) {
            let definition = try definitions.definition(for: configuration)
            return (definition.emailTrust ?? .standard(for: id, strict: strict)).value
        } catch {
            return .never
        }
    }

    /// The trust for one credential: as above, or the provider's claim if the credential requires it.
    package func emailTrust(
        for credential: FederatedCredential,
        configuration: ProviderConfiguration?,
        strict: Bool
    ) -> EmailTrust {
        if credential.believesEmailClaim { return .claim }
        return emailTrust(for: credential.identity.provider, configuration: configuration, strict: strict)
    }
}
