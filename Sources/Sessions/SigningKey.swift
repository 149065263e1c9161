import StrictJSON
import Crypto
import Foundation
import Secrets
import SystemCrypto

/// A key that signs ID tokens, with the certificate under which Admin SDKs know it.
///
/// RS256 goes through libcrypto, which signs in half the time; ES256 through swift-crypto. It prints its id alone.
package struct SigningKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// 40 lower-case hexadecimal digits of the SHA-256 of the public key: no two keys share one.
    package let kid: String
    package let algorithm: SigningAlgorithm
    /// Self-signed X.509 in PEM.
    ///
    /// It is stored with the key, for an ECDSA signature is another one each time, and every node must serve the same.
    package let certificatePEM: String
    /// The public key as JSON text of a JWK (RFC 7517 §4), with `alg`, `use` and `kid`.
    package let jwk: String
    /// `SubjectPublicKeyInfo` in DER.
    package let publicKeyDER: [UInt8]
    /// The header of every token that the key signs, base64url.
    let encodedHeader: [UInt8]
    private let material: Material

    private enum Material: Sendable {
        case rsa(RSAPrivateKey)
        /// With its public half, which takes a third of a signature's time to compute.
        case p256(P256.Signing.PrivateKey, P256.Signing.PublicKey)

        init(_ key: P256.Signing.PrivateKey) { self = .p256(key, key.publicKey) }

        var publicKeyDER: [UInt8] {
            switch self {
            case .rsa(let key): key.publicKey.subjectPublicKeyInfo
            case .p256(_, let key): Array(key.derRepresentation)
            }
        }
    }

    private init(_ material: Material, certificate: (Material) throws -> String) throws(SigningKeyError) {
        self.material = material
        self.publicKeyDER = material.publicKeyDER
        self.kid = Array(SecureHash.sha256(publicKeyDER).prefix(20)).lowercaseHex
        switch material {
        case .rsa(let key):
            self.algorithm = .rs256
            self.jwk = JWK.rsa(kid: kid, modulus: key.publicKey.modulus, exponent: key.publicKey.exponent)
        case .p256(_, let key):
            self.algorithm = .es256
            self.jwk = JWK.p256(kid: kid, point: Array(key.rawRepresentation))
        }
        var header = JSONText(capacity: 96)
        header.openObject()
        header.member("alg", algorithm.rawValue)
        header.member("kid", kid)
        header.member("typ", "JWT")
        header.closeObject()
        var encodedHeader: [UInt8] = []
        Base64URL.append(header.bytes, to: &encodedHeader)
        self.encodedHeader = encodedHeader
        do { self.certificatePEM = try certificate(material) } catch { throw .invalidCertificate }
    }

    /// Makes a key.
    ///
    /// RS256 takes a core for 50 to 500 ms.
    ///
    /// - Parameters:
    ///   - notBefore: begin of the certificate's validity, seconds since 1970.
    ///   - notAfter: its end. Verifiers of tokens look at the key alone.
    package static func generate(
        _ algorithm: SigningAlgorithm,
        notBefore: Int64,
        notAfter: Int64
    ) throws(SigningKeyError) -> SigningKey {
        let material: Material
        switch algorithm {
        case .rs256:
            guard let key = try? RSAPrivateKey.generate() else { throw .generationFailed }
            material = .rsa(key)
        case .es256: material = Material(P256.Signing.PrivateKey())
        }
        return try SigningKey(material) { material in
            try SigningCertificate.make(
                privateKeyDER: try Self.der(of: material),
                publicKeyDER: material.publicKeyDER,
                notBefore: notBefore,
                notAfter: notAfter
            )
        }
    }

    /// A key that was stored.
    ///
    /// - Parameters:
    ///   - kid: the id under which it was stored; another than the key's own is refused.
    ///   - privateKey: PKCS#8 `PrivateKeyInfo` in DER (RFC 5958).
    ///   - certificatePEM: the certificate that was made with the key; one of another key is refused.
    package init(
        kid: String,
        algorithm: SigningAlgorithm,
        privateKey: [UInt8],
        certificatePEM: String
    ) throws(SigningKeyError) {
        let material: Material
        switch algorithm {
        case .rs256:
            guard let key = try? RSAPrivateKey(pkcs8DER: privateKey) else { throw .invalidKey }
            material = .rsa(key)
        case .es256:
            guard let key = try? P256.Signing.PrivateKey(derRepresentation: privateKey) else { throw .invalidKey }
            material = Material(key)
        }
        try self.init(material) { material in
            guard try SigningCertificate.publicKeyDER(in: certificatePEM) == material.publicKeyDER else {
                throw SigningKeyError.invalidCertificate
            }
            return certificatePEM
        }
        guard self.kid == kid else { throw .invalidKey }
    }

    /// The private key as PKCS#8 `PrivateKeyInfo` in DER, to be sealed before it is stored.
    package func privateKeyDER() throws(SigningKeyError) -> [UInt8] { try Self.der(of: material) }

    private static func der(of material: Material) throws(SigningKeyError) -> [UInt8] {
        switch material {
        case .rsa(let key):
            guard let der = try? key.pkcs8DER() else { throw .invalidKey }
            return der
        case .p256(let key, _): return Array(key.derRepresentation)
        }
    }

    package var description: String { "SigningKey(\(kid))" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }

    func sign(_ message: [UInt8]) throws -> [UInt8] {
        switch material {
        case .rsa(let key): try key.sign(message)
        case .p256(let key, _): Array(try key.signature(for: message).rawRepresentation)
        }
    }

    func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        switch material {
        case .rsa(let key): return key.publicKey.verifies(signature, of: message)
        case .p256(_, let key):
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: message)
        }
    }
}

package enum SigningKeyError: Error, Equatable {
    case generationFailed
    case invalidKey
    case invalidCertificate
}
