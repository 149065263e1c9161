import StrictJSON
import Linking
import Secrets

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
