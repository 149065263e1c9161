import Crypto
import CryptoExtras
import SystemCrypto
import X509

/// A credential's public key, as COSE encodes it (RFC 9052 §7, WebAuthn §6.5.1.1).
package struct COSEKey: Sendable {
    package let algorithm: COSEAlgorithm
    /// The canonical encoding, which is also what is stored.
    package let bytes: [UInt8]
    private let publicKey: SignatureKey

    /// - Throws: `unsupportedAlgorithm`, or `malformedPublicKey` for everything else: parameters that the algorithm does
    ///   not have, a point that is not on the curve, an RSA key with fewer than 2048 or more than 4096 bits.
    package init(_ bytes: [UInt8]) throws(PasskeyError) {
        guard let key = try? CBOR(bytes), let number = key[Label.algorithm]?.integer else { throw .malformedPublicKey }
        guard let algorithm = COSEAlgorithm(rawValue: number) else { throw .unsupportedAlgorithm }
        guard let publicKey = SignatureKey(key, algorithm) else { throw .malformedPublicKey }
        self.algorithm = algorithm
        self.bytes = bytes
        self.publicKey = publicKey
    }

    package func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        publicKey.verifies(signature, of: message)
    }
}

extension COSEKey: Equatable {
    package static func == (one: COSEKey, other: COSEKey) -> Bool { one.bytes == other.bytes }
}

/// COSE's labels of a key's parameters (RFC 9053 §7, RFC 8230 §4).
private enum Label {
    static let keyType = 1
    static let algorithm = 3
    static let curve = -1
    static let x = -2
    static let y = -3
    static let modulus = -1
    static let exponent = -2
}

/// A public key with the one algorithm for which it may be used.
enum SignatureKey: Sendable {
    case es256(P256.Signing.PublicKey)
    case edDSA(Curve25519.Signing.PublicKey)
    case rs256(_RSA.Signing.PublicKey)

    /// Nil unless the map has exactly the parameters that the algorithm requires.
    fileprivate init?(_ key: CBOR, _ algorithm: COSEAlgorithm) {
        let (type, curve) = (key[Label.keyType]?.integer, key[Label.curve]?.integer)
        switch algorithm {
        case .es256:
            guard key.map?.count == 5, type == 2, curve == 1, let x = key[Label.x]?.bytes, x.count == 32,
                let y = key[Label.y]?.bytes, y.count == 32,
                // BoringSSL refuses a point that is not on the curve.
                let point = try? P256.Signing.PublicKey(x963Representation: [4] + x + y)
            else { return nil }
            self = .es256(point)
        case .edDSA:
            guard key.map?.count == 4, type == 1, curve == 6, let x = key[Label.x]?.bytes,
                let point = try? Curve25519.Signing.PublicKey(rawRepresentation: x)
            else { return nil }
            self = .edDSA(point)
        case .rs256:
            guard key.map?.count == 4, type == 3, let modulus = key[Label.modulus]?.bytes, modulus.first != 0,
                let exponent = key[Label.exponent]?.bytes, exponent.first != 0,
                let number = _RSA.Signing.PublicKey(modulus: modulus, exponent: exponent),
                (2048...4096).contains(number.keySizeInBits)
            else { return nil }
            self = .rs256(number)
        }
    }

    /// The key of an attestation certificate; nil if it is not one for the algorithm.
    init?(_ certificate: Certificate, _ algorithm: COSEAlgorithm) {
        let key = certificate.publicKey
        switch algorithm {
        case .es256:
            guard let key = P256.Signing.PublicKey(key) else { return nil }
            self = .es256(key)
        case .edDSA:
            guard let key = Curve25519.Signing.PublicKey(key) else { return nil }
            self = .edDSA(key)
        case .rs256:
            guard let key = _RSA.Signing.PublicKey(key), (2048...4096).contains(key.keySizeInBits) else { return nil }
            self = .rs256(key)
        }
    }

    /// - Parameter signature: in the format of WebAuthn §6.5.5: DER for ES256, otherwise the algorithm's own bytes.
    func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        switch self {
        case .es256(let key):
            guard let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: message)
        case .edDSA(let key): return key.isValidSignature(signature, for: message)
        case .rs256(let key):
            return key.isValidSignature(
                _RSA.Signing.RSASignature(rawRepresentation: signature),
                for: message,
                padding: .insecurePKCS1v1_5
            )
        }
    }
}
