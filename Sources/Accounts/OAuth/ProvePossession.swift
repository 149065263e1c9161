import Federation
import Foundation
package import OAuth
import Projects
package import Secrets
import Storage

extension AccountsService { package var provePossession: ProvePossession { ProvePossession(service: self) } }

/// Checks a DPoP proof (RFC 9449 §4.3): whoever sent it has a key, for this request alone.
package struct ProvePossession: Sendable {
    let service: AccountsService

    /// A proof that fits its request; whether it is new, ``use(_:_:)`` says.
    package struct Proof: Sendable {
        /// The key's JWK thumbprint.
        package var thumbprint: String
        fileprivate var hash: [UInt8]
    }

    /// - Parameters:
    ///   - proof: the header's value.
    ///   - accessToken: the one that comes with it; nil where there is none.
    /// - Throws: ``OAuthError``.
    package func callAsFunction(
        _ proof: String,
        method: String,
        at endpoint: ProviderMetadata.Endpoint,
        accessToken: Secret? = nil,
        _ caller: Caller
    ) throws -> Proof {
        let url = try service.applicationIssuer(of: caller.project) + endpoint.rawValue
        let expected = ProofOfPossession(method: method, url: url, accessToken: accessToken)
        guard let token = SelfSignedJWT(proof, type: "dpop+jwt"), expected.accepts(token.claims, now: service.seconds)
        else { throw Self.refused }
        return Proof(thumbprint: token.thumbprint, hash: token.hash)
    }

    /// Refuses a proof that was used before, while what the request brings is still good; ``use(_:_:)`` decides.
    package func requireUnused(_ proof: Proof, _ caller: Caller) async throws {
        guard try await !service.stores.oauthClients.isUsed(proof.hash, in: caller.project.id) else {
            throw Self.refused
        }
    }

    /// Uses a proof up, once the request has succeeded and before it is answered: whoever has no code and no token stores
    /// nothing (T-F18).
    ///
    /// - Throws: ``OAuthError`` if it was used before.
    package func use(_ proof: Proof, _ caller: Caller) async throws {
        guard try await service.stores.oauthClients.use(proof.hash, until: end, in: caller.project.id) else {
            throw Self.refused
        }
    }

    private static let refused = OAuthError(
        .invalidDPoPProof,
        "The DPoP proof is malformed, old, used, or for another request"
    )

    /// After the oldest and the most premature one.
    private var end: Date { service.now().addingTimeInterval(Double(ProofOfPossession.lifetime) * 2) }
}
