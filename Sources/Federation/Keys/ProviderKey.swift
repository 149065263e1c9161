import Crypto
import CryptoExtras
import StrictJSON
import Secrets
import SystemCrypto
import struct Foundation.Data

/// One public key of a provider (RFC 7517 §4) that can verify signatures.
struct ProviderKey: Sendable, Equatable {
    enum Material: Sendable, Equatable {
        case rsa(_RSA.Signing.PublicKey)
        case p256(P256.Signing.PublicKey)
        case p384(P384.Signing.PublicKey)
        case p521(P521.Signing.PublicKey)
        case ed25519(Curve25519.Signing.PublicKey)

        static func == (one: Material, other: Material) -> Bool { one.bytes == other.bytes }

        private var bytes: Data {
            switch self {
            case .rsa(let key): key.derRepresentation
            case .p256(let key): key.derRepresentation
            case .p384(let key): key.derRepresentation
            case .p521(let key): key.derRepresentation
            case .ed25519(let key): key.rawRepresentation
            }
        }
    }

    let id: String?
    /// The issuer whose tokens the key signs, as in Microsoft's keys; nil for all of the provider's.
    let issuer: String?
    let material: Material
    /// The algorithms for which the key may be used.
    let algorithms: Set<SignatureAlgorithm>

    /// Nil for keys that cannot be used: symmetric and private keys, keys for encryption, unknown types, short RSA
    /// keys, malformed numbers.
    ///
    /// The set that contains it stays usable.
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
        issuer = jwk["issuer"]?.string
        func number(_ name: String) -> [UInt8]? { jwk[name]?.string.flatMap { Base64URL.decode($0) } }
        /// An uncompressed point (SEC 1 §2.3.3) with coordinates of that size.
        func point(_ size: Int) -> [UInt8]? {
            guard let x = number("x"), let y = number("y"), x.count == size, y.count == size else { return nil }
            return [4] + x + y
        }
        let possible: Set<SignatureAlgorithm>
        switch (jwk["kty"]?.string, jwk["crv"]?.string) {
        case ("RSA", _):
            guard let modulus = number("n"), let exponent = number("e"),
                let key = _RSA.Signing.PublicKey(modulus: modulus, exponent: exponent)
            else { return nil }
            material = .rsa(key)
            possible = [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]
        case ("EC", "P-256"):
            guard let point = point(32), let key = try? P256.Signing.PublicKey(x963Representation: point) else {
                return nil
            }
            material = .p256(key)
            possible = [.es256]
        case ("EC", "P-384"):
            guard let point = point(48), let key = try? P384.Signing.PublicKey(x963Representation: point) else {
                return nil
            }
            material = .p384(key)
            possible = [.es384]
        case ("EC", "P-521"):
            guard let point = point(66), let key = try? P521.Signing.PublicKey(x963Representation: point) else {
                return nil
            }
            material = .p521(key)
            possible = [.es512]
        case ("OKP", "Ed25519"):
            guard let x = number("x"), let key = try? Curve25519.Signing.PublicKey(rawRepresentation: x) else {
                return nil
            }
            material = .ed25519(key)
            possible = [.edDSA]
        default: return nil
        }
        switch jwk["alg"] {
        case nil: algorithms = possible
        case .string(let name):
            guard let algorithm = SignatureAlgorithm(name: name), possible.contains(algorithm) else { return nil }
            algorithms = [algorithm]
        default: return nil
        }
    }

    /// Whether the key signs tokens of these claims' issuer; `{tenantid}` stands for any directory.
    func isOf(_ claims: JSONObject) -> Bool {
        guard let issuer else { return true }
        return claims["iss"] == .string(issuer.replacing("{tenantid}", with: claims["tid"]?.string ?? ""))
    }

    /// Whether the signature over the bytes is this key's, with exactly this algorithm.
    func verifies(_ signature: [UInt8], over bytes: [UInt8], by algorithm: SignatureAlgorithm) -> Bool {
        guard algorithms.contains(algorithm) else { return false }
        switch (material, algorithm) {
        case (.rsa(let key), .rs256), (.rsa(let key), .ps256):
            return verifies(signature, over: SHA256.hash(data: bytes), by: algorithm, key)
        case (.rsa(let key), .rs384), (.rsa(let key), .ps384):
            return verifies(signature, over: SHA384.hash(data: bytes), by: algorithm, key)
        case (.rsa(let key), .rs512), (.rsa(let key), .ps512):
            return verifies(signature, over: SHA512.hash(data: bytes), by: algorithm, key)
        case (.p256(let key), .es256):
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
            return signature.map { key.isValidSignature($0, for: SHA256.hash(data: bytes)) } ?? false
        case (.p384(let key), .es384):
            let signature = try? P384.Signing.ECDSASignature(rawRepresentation: signature)
            return signature.map { key.isValidSignature($0, for: SHA384.hash(data: bytes)) } ?? false
        case (.p521(let key), .es512):
            let signature = try? P521.Signing.ECDSASignature(rawRepresentation: signature)
            return signature.map { key.isValidSignature($0, for: SHA512.hash(data: bytes)) } ?? false
        case (.ed25519(let key), .edDSA): return key.isValidSignature(signature, for: bytes)
        default: return false
        }
    }

    private func verifies(
        _ signature: [UInt8],
        over digest: some Digest,
        by algorithm: SignatureAlgorithm,
        _ key: _RSA.Signing.PublicKey
    ) -> Bool {
        let padding: _RSA.Signing.Padding = algorithm.isPSS ? .PSS : .insecurePKCS1v1_5
        return key.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: signature),
            for: digest,
            padding: padding
        )
    }
}

extension SignatureAlgorithm {
    /// RSASSA-PSS, not RSASSA-PKCS1-v1_5 (RFC 8017 §8).
    fileprivate var isPSS: Bool {
        switch self {
        case .ps256, .ps384, .ps512: true
        default: false
        }
    }
}
