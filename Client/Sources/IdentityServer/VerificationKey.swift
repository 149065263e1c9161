import Crypto
import CryptoExtras
import Foundation
import IdentityCore

/// A signature algorithm of the service's tokens (RFC 7518 §3.1).
public enum SignatureAlgorithm: String, Sendable, Hashable, CaseIterable {
    case rs256 = "RS256"
    case es256 = "ES256"
}

/// A public key of a JWK set (RFC 7517 §4), for one algorithm only.
enum VerificationKey: Sendable {
    case rsa(_RSA.Signing.PublicKey)
    case p256(P256.Signing.PublicKey)

    var algorithm: SignatureAlgorithm {
        switch self {
        case .rsa: .rs256
        case .p256: .es256
        }
    }

    /// Verifies a signature over the token's first two parts.
    func isValidSignature(_ signature: [UInt8], for input: ArraySlice<UInt8>) -> Bool {
        let digest = input.withUnsafeBytes {
            var hash = SHA256()
            hash.update(bufferPointer: $0)
            return hash.finalize()
        }
        switch self {
        case .rsa(let key):
            return key.isValidSignature(
                _RSA.Signing.RSASignature(rawRepresentation: signature),
                for: digest,
                padding: .insecurePKCS1v1_5
            )
        case .p256(let key):
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: digest)
        }
    }

    /// Reads a key set; leaves out keys that are for something else.
    static func readSet(_ json: [UInt8]) -> [String: VerificationKey]? {
        guard let keys = Claims(json)?["keys"]?.arrayValue else { return nil }
        var set: [String: VerificationKey] = [:]
        for key in keys {
            guard let id = key["kid"]?.stringValue, key["use"]?.stringValue ?? "sig" == "sig",
                let verifier = VerificationKey(key)
            else { continue }
            set[id] = verifier
        }
        return set.isEmpty ? nil : set
    }

    private init?(_ key: ClaimValue) {
        func bytes(_ name: String) -> [UInt8]? { key[name]?.stringValue.flatMap { Base64URL.decode($0) } }
        switch (key["kty"]?.stringValue, key["alg"]?.stringValue) {
        case ("RSA", "RS256"), ("RSA", nil):
            // RFC 7518 §3.3: at least 2048 bits.
            guard let n = bytes("n"), n.count >= 256, let e = bytes("e"),
                let key = try? _RSA.Signing.PublicKey(n: n, e: e)
            else { return nil }
            self = .rsa(key)
        case ("EC", "ES256"), ("EC", nil):
            guard key["crv"]?.stringValue == "P-256", let x = bytes("x"), let y = bytes("y"),
                let key = try? P256.Signing.PublicKey(rawRepresentation: x + y)
            else { return nil }
            self = .p256(key)
        default: return nil
        }
    }
}
