import Secrets
import StrictJSON

/// A strictly parsed signed JWT (RFC 7515 §7.1); nothing in it is verified yet.
package struct CompactJWT: Sendable {
    /// The header's `alg`, as text.
    let algorithm: String
    let keyID: String?
    let claims: JSONObject
    /// With those that are null, for those to whom the provider's words are passed on.
    let sentClaims: JSONObject
    private let token: CompactJWS
    package var signedBytes: [UInt8] { token.signedBytes }
    package var signature: [UInt8] { token.signature }

    /// At most 128 KiB: three parts of canonical base64url, two of them JSON objects without duplicate members.
    ///
    /// The header's `jku`, `jwk`, `x5u` and `x5c` are ignored; `crit`, `zip`, unencoded payloads and a `typ` of another
    /// kind of token are refused.
    ///
    /// - Parameter isSecurityEvent: accepts the type of security event tokens (RFC 8417 §2.3), which ID tokens must not
    ///   have.
    package init(_ text: String, isSecurityEvent: Bool = false) throws(FederationError) {
        guard text.utf8.count <= 131_072 else { throw .unparsableIDToken }
        guard let token = CompactJWS(text), let header = token.header.flatMap(Self.object)?.withoutNulls,
            let claims = Self.object(token.payload)
        else { throw .unparsableIDToken }
        guard header["crit"] == nil, header["zip"] == nil, header["b64"] == nil || header["b64"] == .bool(true),
            isSecurityEvent && Self.isSecurityEventType(header["typ"]) || Self.isIDTokenType(header["typ"])
        else { throw .signatureInvalid(.header) }
        guard let algorithm = header["alg"]?.string else { throw .signatureInvalid(.algorithm) }
        switch header["kid"] {
        case nil: keyID = nil
        case .string(let id) where (1...256).contains(id.utf8.count): keyID = id
        default: throw .signatureInvalid(.unknownKey)
        }
        self.algorithm = algorithm
        self.claims = claims.withoutNulls
        sentClaims = claims
        self.token = token
    }

    private static func object(_ bytes: [UInt8]) -> JSONObject? {
        (try? JSONValue(parsing: bytes, allowsNUL: true))?.object
    }

    /// `at+jwt`, `logout+jwt` and `secevent+jwt` are not ID tokens (T-C10).
    private static func isSecurityEventType(_ type: JSONValue?) -> Bool {
        ["secevent+jwt", "application/secevent+jwt"].contains(type?.string?.lowercased())
    }

    private static func isIDTokenType(_ type: JSONValue?) -> Bool {
        guard let type else { return true }
        guard let name = type.string?.lowercased() else { return false }
        return !name.hasSuffix("+jwt")
    }
}
