import StrictJSON
import Crypto
import Foundation
import Secrets
import SystemCrypto

/// A signing key of the deployment, with its certificate for Admin SDKs.
///
/// RS256 uses libcrypto, which signs in half the time; ES256 uses swift-crypto. A key that no longer signs has only its
/// public half. Its description is its ID, so that logs never contain the key.
package struct SigningKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// 40 lowercase hexadecimal digits of the SHA-256 of the public key, so no two keys share an ID.
    package let kid: String
    package let algorithm: SigningAlgorithm
    /// Self-signed X.509 in PEM.
    ///
    /// Stored with the key, because an ECDSA signature differs each time and every node must publish the same
    /// certificate.
    package let certificatePEM: String
    /// The public key as JSON text of a JWK (RFC 7517 §4), with `alg`, `use` and `kid`.
    package let jwk: String
    /// `SubjectPublicKeyInfo` in DER.
    package let publicKeyDER: [UInt8]
    /// The header of every token that the key signs, in base64url.
    let encodedHeader: [UInt8]
    private let material: Material

    /// The public half, with the private half while the key may sign.
    private enum Material: Sendable {
        case rsa(RSAPublicKey, RSAPrivateKey?)
        case p256(P256.Signing.PublicKey, P256.Signing.PrivateKey?)

        var publicKeyDER: [UInt8] {
            switch self {
            case .rsa(let key, _): key.subjectPublicKeyInfo
            case .p256(let key, _): Array(key.derRepresentation)
            }
        }
    }

    private init(_ material: Material, certificate: (Material) throws -> String) throws(SigningKeyError) {
        self.material = material
        self.publicKeyDER = material.publicKeyDER
        self.kid = Array(SecureHash.sha256(publicKeyDER).prefix(20)).lowercaseHex
        switch material {
        case .rsa(let key, _):
            self.algorithm = .rs256
            self.jwk = JWK.rsa(kid: kid, modulus: key.modulus, exponent: key.exponent)
        case .p256(let key, _):
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

    /// Generates a key.
    ///
    /// RS256 takes 50 to 500 ms of CPU time.
    ///
    /// - Parameters:
    ///   - notBefore: start of the certificate's validity, seconds since 1970.
    ///   - notAfter: its end. Verifiers of tokens use only the key.
    package static func generate(
        _ algorithm: SigningAlgorithm,
        notBefore: Int64,
        notAfter: Int64
    ) throws(SigningKeyError) -> SigningKey {
        let material: Material
        switch algorithm {
        case .rs256:
            guard let key = try? RSAPrivateKey.generate() else { throw .generationFailed }
            material = .rsa(key.publicKey, key)
        case .es256:
            let key = P256.Signing.PrivateKey()
            material = .p256(key.publicKey, key)
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

    /// Loads a stored key.
    ///
    /// - Parameters:
    ///   - kid: the stored ID; refused if it does not match the key.
    ///   - privateKey: PKCS#8 `PrivateKeyInfo` in DER (RFC 5958); nil for a key that no longer signs.
    ///   - certificatePEM: the certificate that was created with the key; refused if it is another key's.
    package init(
        kid: String,
        algorithm: SigningAlgorithm,
        privateKey: [UInt8]?,
        certificatePEM: String
    ) throws(SigningKeyError) {
        let certified = try? SigningCertificate.publicKeyDER(in: certificatePEM)
        let material = try Self.material(algorithm, privateKey: privateKey, publicKey: certified)
        try self.init(material) { material in
            guard certified == material.publicKeyDER else { throw SigningKeyError.invalidCertificate }
            return certificatePEM
        }
        guard self.kid == kid else { throw .invalidKey }
    }

    private static func material(
        _ algorithm: SigningAlgorithm,
        privateKey: [UInt8]?,
        publicKey: [UInt8]?
    ) throws(SigningKeyError) -> Material {
        switch (algorithm, privateKey) {
        case (.rs256, let privateKey?):
            guard let key = try? RSAPrivateKey(pkcs8DER: privateKey) else { throw .invalidKey }
            return .rsa(key.publicKey, key)
        case (.es256, let privateKey?):
            guard case .p256(let key) = PrivateKey(pkcs8DER: privateKey) else { throw .invalidKey }
            return .p256(key.publicKey, key)
        case (.rs256, nil):
            guard let key = publicKey.flatMap({ try? RSAPublicKey(subjectPublicKeyInfo: $0) }) else {
                throw .invalidCertificate
            }
            return .rsa(key, nil)
        case (.es256, nil):
            guard case .p256(let key) = publicKey.flatMap({ PublicKey(subjectPublicKeyInfo: $0) }) else {
                throw .invalidCertificate
            }
            return .p256(key, nil)
        }
    }

    /// In bytes.
    var signatureLength: Int {
        switch material {
        case .rsa(let key, _): key.modulus.count
        case .p256: 64
        }
    }

    /// Whether it has its private half.
    package var signs: Bool {
        switch material {
        case .rsa(_, let key): key != nil
        case .p256(_, let key): key != nil
        }
    }

    /// The private key as PKCS#8 `PrivateKeyInfo` in DER, which the caller seals before storing it.
    package func privateKeyDER() throws(SigningKeyError) -> [UInt8] { try Self.der(of: material) }

    private static func der(of material: Material) throws(SigningKeyError) -> [UInt8] {
        switch material {
        case .rsa(_, let key?):
            guard let der = try? key.pkcs8DER() else { throw .invalidKey }
            return der
        case .p256(_, let key?): return Array(key.derRepresentation)
        case .rsa(_, nil), .p256(_, nil): throw .invalidKey
        }
    }

    package var description: String { "SigningKey(\(kid))" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }

    func sign(_ message: [UInt8]) throws -> [UInt8] {
        switch material {
        case .rsa(_, let key?): try key.sign(message)
        case .p256(_, let key?): Array(try key.signature(for: message).rawRepresentation)
        case .rsa(_, nil), .p256(_, nil): throw SigningKeyError.invalidKey
        }
    }

    func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        switch material {
        case .rsa(let key, _): return key.verifies(signature, of: message)
        case .p256(let key, _):
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
