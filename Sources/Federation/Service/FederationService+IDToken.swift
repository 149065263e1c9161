import StrictJSON
import Linking
import Secrets

/// An ID token that passed every check.
struct VerifiedIDToken: Sendable {
    let subject: String
    let claims: JSONObject
}

extension FederationService {
    /// Verifies an ID token against the provider's keys and what is expected of it.
    func verifyIDToken(
        _ token: CompactJWT,
        of provider: ResolvedProvider,
        _ expectation: IDTokenExpectation
    ) async throws(FederationError) -> VerifiedIDToken {
        guard let algorithm = SignatureAlgorithm(rawValue: token.algorithm), provider.algorithms.contains(algorithm)
        else { throw .signatureInvalid(.algorithm) }
        try expectation.checkIssuer(token.claims)
        let candidates = try await keys(of: provider, for: token, algorithm)
        guard !candidates.isEmpty else { throw .signatureInvalid(.unknownKey) }
        guard candidates.contains(where: { $0.verifies(token.signature, over: token.signedBytes, by: algorithm) })
        else { throw .signatureInvalid(.signature) }
        let subject = try expectation.check(token.claims, algorithm: algorithm, now: seconds)
        return VerifiedIDToken(subject: subject, claims: token.claims)
    }
}
