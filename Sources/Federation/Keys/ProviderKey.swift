import StrictJSON
import JWTKit
import Secrets

/// One public key of a provider (RFC 7517 §4), fit to verify signatures.
struct ProviderKey: Sendable, Hashable {
    enum Material: Sendable, Hashable {
        /// Modulus and exponent, base64url.
        case rsa(n: String, e: String)
        case ec(curve: String, x: String, y: String)
        case ed25519(x: String)
    }

    let id: String?
    let material: Material
    /// What the key may be used for.
    let algorithms: Set<SignatureAlgorithm>

    /// Nil for everything that is of no use here: symmetric and private keys, keys for encryption, unknown kinds, short
    /// RSA keys, broken numbers.
    ///
    /// The set that it stands in stays good.
    init?(_ jwk: JSONObject) {
        guard jwk["d"] == nil, jwk["k"] == nil, jwk["use"] == nil || jwk["use"] == .string("sig") else { return nil }
        if let operations = jwk["key_ops"] {
            guard operations.array?.contains(.string("verify")) == true else { return nil }
        }
        switch jwk["kid"] {
        case nil: id = nil
        case .string(let text) where (1...256).contains(text.utf8.count): id = text
        default: return nil
        }
        func number(_ name: String) -> [UInt8]? { jwk[name]?.string.flatMap { Base64URL.decode($0) } }
        func text(_ name: String) -> String { jwk[name]?.string ?? "" }
        let possible: Set<SignatureAlgorithm>
        switch jwk["kty"]?.string {
        case "RSA":
            guard let modulus = number("n"), let exponent = number("e"), (256...1024).contains(modulus.count),
                (1...8).contains(exponent.count)
            else { return nil }
            material = .rsa(n: text("n"), e: text("e"))
            possible = [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]
        case "EC":
            let curves: [String: (algorithm: SignatureAlgorithm, size: Int)] = [
                "P-256": (.es256, 32), "P-384": (.es384, 48), "P-521": (.es512, 66),
            ]
            guard let curve = curves[text("crv")], number("x")?.count == curve.size, number("y")?.count == curve.size
            else { return nil }
            material = .ec(curve: text("crv"), x: text("x"), y: text("y"))
            possible = [curve.algorithm]
        case "OKP":
            guard text("crv") == "Ed25519", number("x")?.count == 32 else { return nil }
            material = .ed25519(x: text("x"))
            possible = [.edDSA]
        default: return nil
        }
        switch jwk["alg"] {
        case nil: algorithms = possible
        case .string(let name):
            guard let algorithm = SignatureAlgorithm(rawValue: name), possible.contains(algorithm) else { return nil }
            algorithms = [algorithm]
        default: return nil
        }
    }

    /// Whether the signature over the bytes is this key's, by exactly this algorithm.
    ///
    /// A collection of one key, made for one algorithm, leaves the library nothing to choose.
    func verifies(_ signature: [UInt8], over bytes: [UInt8], by algorithm: SignatureAlgorithm) async -> Bool {
        guard algorithms.contains(algorithm) else { return false }
        let keys = JWTKeyCollection()
        do {
            switch (material, algorithm) {
            case (.rsa(let n, let e), .rs256), (.rsa(let n, let e), .rs384), (.rsa(let n, let e), .rs512):
                let key = try Insecure.RSA.PublicKey(modulus: n, exponent: e)
                await keys.add(rsa: key, digestAlgorithm: algorithm.digest)
            case (.rsa(let n, let e), .ps256), (.rsa(let n, let e), .ps384), (.rsa(let n, let e), .ps512):
                let key = try Insecure.RSA.PublicKey(modulus: n, exponent: e)
                await keys.add(pss: key, digestAlgorithm: algorithm.digest)
            case (.ec(_, let x, let y), .es256):
                await keys.add(ecdsa: try ES256PublicKey(parameters: (x: x, y: y)))
            case (.ec(_, let x, let y), .es384):
                await keys.add(ecdsa: try ES384PublicKey(parameters: (x: x, y: y)))
            case (.ec(_, let x, let y), .es512):
                await keys.add(ecdsa: try ES512PublicKey(parameters: (x: x, y: y)))
            case (.ed25519(let x), .edDSA):
                await keys.add(eddsa: try EdDSA.PublicKey(x: x, curve: .ed25519))
            default: return false
            }
            return try await keys.getKey().verify(signature, signs: bytes)
        } catch {
            return false
        }
    }
}

extension SignatureAlgorithm {
    fileprivate var digest: DigestAlgorithm {
        switch self {
        case .rs256, .ps256, .es256: .sha256
        case .rs384, .ps384, .es384: .sha384
        case .rs512, .ps512, .es512, .edDSA: .sha512
        }
    }
}
