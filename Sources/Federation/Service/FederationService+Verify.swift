package import Linking
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
