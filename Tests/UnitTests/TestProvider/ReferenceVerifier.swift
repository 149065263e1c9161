import Crypto
import CryptoExtras
import Foundation
import Secrets

/// Checks a signature with a key of a JWKS, and reads the claims.
enum ReferenceVerifier {
    struct Token {
        var header: [String: Any]
        var claims: [String: Any]
        var isSigned: Bool
    }

    static func read(_ token: String, keys: [String: Any]) throws -> Token {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = object(parts[0]), let claims = object(parts[1]) else { throw NotAToken() }
        let list = keys["keys"] as? [[String: Any]] ?? []
        let key = list.first { $0["kid"] as? String == header["kid"] as? String }
        let input = Array((parts[0] + "." + parts[1]).utf8)
        let signature = Base64URL.decode(parts[2]) ?? []
        return Token(
            header: header,
            claims: claims,
            isSigned: try key.map { try verify(input, signature, $0) } ?? false
        )
    }

    private static func verify(_ input: [UInt8], _ signature: [UInt8], _ key: [String: Any]) throws -> Bool {
        func number(_ name: String) -> [UInt8] { (key[name] as? String).flatMap { Base64URL.decode($0) } ?? [] }
        switch key["kty"] as? String {
        case "RSA":
            let key = try _RSA.Signing.PublicKey(n: number("n"), e: number("e"))
            return key.isValidSignature(.init(rawRepresentation: signature), for: input, padding: .insecurePKCS1v1_5)
        case "EC":
            let key = try P256.Signing.PublicKey(rawRepresentation: number("x") + number("y"))
            return key.isValidSignature(try .init(rawRepresentation: signature), for: input)
        default: return false
        }
    }

    static func object(_ part: some StringProtocol) -> [String: Any]? {
        guard let bytes = Base64URL.decode(part) else { return nil }
        return try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
    }

    struct NotAToken: Error {}
}
