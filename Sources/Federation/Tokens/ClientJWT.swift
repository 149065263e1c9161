import Domain
import Projects
package import Secrets
package import StrictJSON

/// A JWT with which an application authenticates at this service (RFC 7523 §2.2), parsed; nothing is verified yet.
package struct ClientJWT: Sendable {
    package let claims: JSONObject
    /// SHA-256 of what was signed, which identifies the token.
    package let hash: [UInt8]
    let token: CompactJWT

    package init(_ text: Secret) throws(FederationError) {
        token = try CompactJWT(text.reveal())
        claims = token.claims
        hash = SecureHash.sha256(token.signedBytes)
    }
}

extension FederationService {
    /// Verifies that one of a client's keys signed a token.
    ///
    /// - Parameters:
    ///   - keys: a JWK set; nil if there is a URL.
    ///   - url: of a JWK set, of at most 16 KB and ten keys.
    ///   - isVouchedFor: whether an admin chose the client, which may then be where providers may be.
    package func verify(
        _ token: ClientJWT,
        keys: String?,
        at url: String?,
        isVouchedFor: Bool
    ) async throws(FederationError) {
        var definition = ProviderDefinition("client", "client", .oidc)
        definition.jwks = keys
        definition.endpoints.keys = url
        definition.idToken.algorithms = Set(SignatureAlgorithm.allCases)
        let client = ProviderConfiguration(provider: "client", enabled: true, clientID: "")
        let provider = ResolvedProvider(
            definition: definition,
            discovery: nil,
            client: client,
            kind: .application(isVouchedFor: isVouchedFor)
        )
        _ = try await verifySignature(of: token.token, by: provider)
    }
}
