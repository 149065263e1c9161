package import Projects
import Secrets
package import Sessions
import StrictJSON

/// ID tokens as Firebase's emulator issues them, with `alg` none and no signature.
///
/// For Admin SDKs that accept nothing else from an emulator (`identity dev --unsigned-tokens`). Anyone who can reach
/// the service can sign in as anyone with these: only `identity dev` uses this, and nothing else imports this module.
package struct UnsignedIDTokens: TokenSigner, TokenVerifier {
    /// Verifies tokens that are signed.
    private let next: any TokenVerifier

    package init(next: any TokenVerifier) { self.next = next }

    private static let header = Base64URL.encode(#"{"alg":"none","typ":"JWT"}"#.utf8)

    /// An empty key id.
    private static let kid = ""

    package func token(of payload: [UInt8]) throws(IDTokenMintingError) -> String {
        "\(Self.header).\(Base64URL.encode(payload))."
    }

    package func length(ofPayload count: Int) -> Int { Self.header.utf8.count + 2 + Base64URL.length(of: count) }

    package func verify(
        _ token: String,
        project: ProjectID,
        issuers: [String],
        tenant: TenantID?,
        keys: SigningKeys,
        now: Int64
    ) throws(IDTokenError) -> VerifiedIDToken {
        guard token.hasPrefix(Self.header + "."), token.hasSuffix("."),
            token.utf8.count <= IDTokenVerifier.maximumLength
        else {
            return try next.verify(token, project: project, issuers: issuers, tenant: tenant, keys: keys, now: now)
        }
        guard let payload = CompactJWS(token).flatMap({ try? JSONValue(parsing: $0.payload).object }),
            let content = IDTokenContent(payload, kid: Self.kid)
        else { throw .malformed }
        return try content.checked(project: project, issuers: issuers, tenant: tenant, now: now)
    }

    package func remember(_ token: String) {}
}
