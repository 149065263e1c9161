import Foundation
import Secrets
import SwiftASN1
import SystemCrypto
import X509

/// The self-signed certificates in which Admin SDKs expect our public keys.
enum SigningCertificate {
    private static let commonName = "securetoken.system.identity"

    /// A certificate in PEM whose serial number is derived from the key and the dates.
    static func make(
        privateKeyDER: [UInt8],
        publicKeyDER: [UInt8],
        notBefore: Int64,
        notAfter: Int64
    ) throws -> String {
        let key: Certificate.PrivateKey
        switch PrivateKey(pkcs8DER: privateKeyDER) {
        case .rsa(let rsa): key = Certificate.PrivateKey(rsa)
        case .p256(let p256): key = Certificate.PrivateKey(p256)
        case nil: throw SigningKeyError.invalidKey
        }
        let name = try DistinguishedName { CommonName(commonName) }
        var serial = Array(SecureHash.sha256(publicKeyDER + Array("\(notBefore)-\(notAfter)".utf8)).prefix(16))
        serial[0] = serial[0] & 0x7f | 0x40  // positive and of one length (RFC 5280 §4.1.2.2)
        let certificate = try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(bytes: serial),
            publicKey: key.publicKey,
            notValidBefore: Date(timeIntervalSince1970: TimeInterval(notBefore)),
            notValidAfter: Date(timeIntervalSince1970: TimeInterval(notAfter)),
            issuer: name,
            subject: name,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
            },
            issuerPrivateKey: key
        )
        return try certificate.serializeAsPEM().pemString + "\n"
    }

    /// The `SubjectPublicKeyInfo` of a certificate's key, in DER.
    static func publicKeyDER(in pem: String) throws -> [UInt8] {
        guard let certificate = Certificate(pem: pem) else { throw SigningKeyError.invalidCertificate }
        return try certificate.publicKey.serializeAsPEM().derBytes
    }
}
