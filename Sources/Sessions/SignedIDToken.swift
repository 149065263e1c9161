import Domain
import Projects
import Secrets
import StrictJSON

/// An ID token with verified form and signature, before issuer, audience and times are checked.
struct SignedIDToken: Sendable {
    let content: IDTokenContent

    /// Reads a JWS in compact form (RFC 7515 §3.1) and verifies it with the key that its header names, using only that
    /// key's own algorithm (RFC 8725 §3.1).
    ///
    /// - Parameter isKnown: the signature was verified earlier.
    init(_ text: [UInt8], keys: SigningKeys, isKnown: Bool) throws(IDTokenError) {
        guard let token = CompactJWS(text), let payload = JSONObject(ours: token.payload) else { throw .malformed }
        // Compares the whole header with the one that each key writes, and parses it only if none matches.
        let key = if let key = keys.key(header: token.encodedHeader) { key } else { try Self.key(for: token, in: keys) }
        guard isKnown || key.verifies(token.signature, of: token.signedBytes) else { throw .badSignature }
        guard let content = IDTokenContent(payload, kid: key.kid) else { throw .malformed }
        self.content = content
    }

    /// The header is ours if it has `alg`, `kid` and `typ` and nothing else: no `crit`, no embedded key.
    private static func key(for token: CompactJWS, in keys: SigningKeys) throws(IDTokenError) -> SigningKey {
        guard let header = token.header.flatMap(JSONObject.init(ours:)), header.members.count == 3,
            let name = header["alg"]?.string, let kid = header["kid"]?.string,
            header["typ"]?.string == "JWT"
        else { throw .malformed }
        guard let algorithm = SigningAlgorithm(rawValue: name) else { throw .wrongAlgorithm }
        guard let key = keys.key(kid) else { throw .unknownKey }
        guard key.algorithm == algorithm else { throw .wrongAlgorithm }
        return key
    }
}
