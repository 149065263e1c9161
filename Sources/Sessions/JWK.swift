import StrictJSON
import Secrets

/// Public keys as JWKs (RFC 7517, RFC 7518 §6).
enum JWK {
    static func rsa(kid: String, modulus: [UInt8], exponent: [UInt8]) -> String {
        text(kid: kid, algorithm: .rs256, type: "RSA", [("n", modulus), ("e", exponent)])
    }

    /// - Parameter point: x and y, 32 bytes each.
    static func p256(kid: String, point: [UInt8]) -> String {
        let numbers = [("x", Array(point.prefix(32))), ("y", Array(point.dropFirst(32)))]
        return text(kid: kid, algorithm: .es256, type: "EC", numbers)
    }

    private static func text(
        kid: String,
        algorithm: SigningAlgorithm,
        type: String,
        _ numbers: [(String, [UInt8])]
    ) -> String {
        var json = JSONText()
        json.openObject()
        json.member("kty", type)
        json.member("use", "sig")
        json.member("alg", algorithm.rawValue)
        json.member("kid", kid)
        if algorithm == .es256 { json.member("crv", "P-256") }
        for (name, bytes) in numbers { json.member(name, Base64URL.encode(bytes)) }
        json.closeObject()
        return json.text
    }
}
