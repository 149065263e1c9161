import Federation
import Foundation
package import OAuth
import Projects
package import Secrets
import Storage

extension AccountsService { package var provePossession: ProvePossession { ProvePossession(parts: parts) } }

/// Checks a DPoP proof (RFC 9449 §4.3): whoever sent it has a key, for this request alone.
package struct ProvePossession: Sendable {
    let parts: Parts

    /// - Parameters:
    ///   - proof: the header's value.
    ///   - accessToken: the one that comes with it; nil where there is none.
    /// - Returns: the key's JWK thumbprint.
    /// - Throws: ``OAuthError``.
    package func callAsFunction(
        _ proof: String,
        method: String,
        at endpoint: ProviderMetadata.Endpoint,
        accessToken: Secret? = nil,
        _ caller: Caller
    ) async throws -> String {
        let url = try parts.applicationIssuer(of: caller.project) + endpoint.rawValue
        let expected = ProofOfPossession(method: method, url: url, accessToken: accessToken)
        // A refused one is not stored.
        guard let token = SelfSignedJWT(proof, type: "dpop+jwt"), expected.accepts(token.claims, now: parts.seconds),
            try await parts.stores.oauthClients.use(token.hash, until: end, in: caller.project.id)
        else { throw OAuthError(.invalidDPoPProof, "The DPoP proof is malformed, old, used, or for another request") }
        return token.thumbprint
    }

    /// After the oldest and the most premature one.
    private var end: Date { parts.now().addingTimeInterval(Double(ProofOfPossession.lifetime) * 2) }
}
