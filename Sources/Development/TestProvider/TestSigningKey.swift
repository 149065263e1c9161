import Crypto
import CryptoExtras
import Foundation
import Secrets
package import StrictJSON
import Synchronization

/// A key that a tenant signs ID tokens with.
package struct TestSigningKey: Sendable {
    package enum Kind: String, Sendable, Hashable {
        case rs256 = "RS256"
        case es256 = "ES256"
        /// For tests with a key on another curve than the algorithm's.
        case es384 = "ES384"
    }

    private enum Material: Sendable {
        case rsa(_RSA.Signing.PrivateKey)
        case p256(P256.Signing.PrivateKey)
        case p384(P384.Signing.PrivateKey)
    }

    package let kid: String
    package let kind: Kind
    private let material: Material

    /// - Parameter number: which RSA key of this process to take; making one costs a tenth of a second, so tenants
    ///   share them. Keys of the other kinds are always new.
    package init(kid: String, kind: Kind, number: Int = 0) throws {
        self.kid = kid
        self.kind = kind
        self.material =
            switch kind {
            case .rs256: .rsa(try RSAKeys.key(number))
            case .es256: .p256(P256.Signing.PrivateKey())
            case .es384: .p384(P384.Signing.PrivateKey())
            }
    }

    /// The signature in the form that JWS has (RFC 7518 §3.3, §3.4: ECDSA as r ‖ s).
    package func sign(_ bytes: [UInt8]) throws -> [UInt8] {
        switch material {
        case .rsa(let key): [UInt8](try key.signature(for: bytes, padding: .insecurePKCS1v1_5).rawRepresentation)
        case .p256(let key): [UInt8](try key.signature(for: bytes).rawRepresentation)
        case .p384(let key): [UInt8](try key.signature(for: bytes).rawRepresentation)
        }
    }

    /// The signature in DER, which JWS forbids for ECDSA.
    package func signDER(_ bytes: [UInt8]) throws -> [UInt8] {
        switch material {
        case .rsa: try sign(bytes)
        case .p256(let key): [UInt8](try key.signature(for: bytes).derRepresentation)
        case .p384(let key): [UInt8](try key.signature(for: bytes).derRepresentation)
        }
    }

    /// The public half as a JSON Web Key with `kid`, `use` and `alg` (RFC 7517 §4).
    package func jwk() throws -> JSONObject {
        switch material {
        case .rsa(let key):
            let numbers = try key.publicKey.getKeyPrimitives()
            return [
                "kty": "RSA", "kid": .string(kid), "use": "sig", "alg": "RS256",
                "n": .string(Base64URL.encode(numbers.modulus)), "e": .string(Base64URL.encode(numbers.publicExponent)),
            ]
        case .p256(let key): return curveKey("P-256", [UInt8](key.publicKey.rawRepresentation))
        case .p384(let key): return curveKey("P-384", [UInt8](key.publicKey.rawRepresentation))
        }
    }

    private func curveKey(_ curve: String, _ point: [UInt8]) -> JSONObject {
        [
            "kty": "EC", "kid": .string(kid), "use": "sig", "alg": .string(kind.rawValue), "crv": .string(curve),
            "x": .string(Base64URL.encode(point[..<(point.count / 2)])),
            "y": .string(Base64URL.encode(point[(point.count / 2)...])),
        ]
    }

    /// The public half as `SubjectPublicKeyInfo` in PEM, which an HMAC forger would use as the key.
    package var publicKeyPEM: String {
        switch material {
        case .rsa(let key): key.publicKey.pemRepresentation
        case .p256(let key): key.publicKey.pemRepresentation
        case .p384(let key): key.publicKey.pemRepresentation
        }
    }
}

/// RSA keys of 2048 bits, each generated at most once per process.
private enum RSAKeys {
    private static let keys = Mutex<[Int: _RSA.Signing.PrivateKey]>([:])

    static func key(_ number: Int) throws -> _RSA.Signing.PrivateKey {
        try keys.withLock { keys in
            if let key = keys[number] { return key }
            let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
            keys[number] = key
            return key
        }
    }
}
