import Secrets
package import StrictJSON

/// A JWT that the key in its own header signed: whoever made it has that key (RFC 9449 §4.2).
package struct SelfSignedJWT: Sendable {
    package let claims: JSONObject
    /// The JWK thumbprint of the key (RFC 7638).
    package let thumbprint: String
    /// SHA-256 of what was signed, which identifies the token.
    package let hash: [UInt8]

    /// Nil for another type, for a symmetric or private key, and if the signature is wrong.
    ///
    /// - Parameter type: the header's `typ`.
    package init?(_ text: String, type: String) {
        func object(_ bytes: [UInt8]) -> JSONObject? { (try? JSONValue(sent: bytes))?.object }
        guard text.utf8.count <= 16_384, let token = CompactJWS(text), let header = token.header.flatMap(object),
            header["typ"]?.string?.lowercased() == type, header["crit"] == nil, header["b64"] == nil,
            let algorithm = header["alg"]?.string.flatMap(SignatureAlgorithm.init(name:)),
            let jwk = header["jwk"]?.object,
            let key = ProviderKey(jwk), key.verifies(token.signature, over: token.signedBytes, by: algorithm),
            let thumbprint = Self.thumbprint(of: jwk), let claims = object(token.payload)
        else { return nil }
        self.claims = claims
        self.thumbprint = thumbprint
        hash = SecureHash.sha256(token.signedBytes)
    }

    /// RFC 7638 §3.2, RFC 8037 §2.
    private static func thumbprint(of jwk: JSONObject) -> String? {
        let names: [String]
        switch jwk["kty"]?.string {
        case "RSA": names = ["e", "kty", "n"]
        case "EC": names = ["crv", "kty", "x", "y"]
        case "OKP": names = ["crv", "kty", "x"]
        default: return nil
        }
        let members = names.map { JSONObject.Member(name: $0, value: jwk[$0] ?? .null) }
        return Base64URL.encode(SecureHash.sha256(JSONObject(members).jsonText))
    }
}

extension SignatureAlgorithm {
    /// The names of all, as metadata lists them.
    package static var names: [String] { allCases.map(\.rawValue) }
}
