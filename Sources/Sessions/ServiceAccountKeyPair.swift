import Foundation
package import Secrets
import SystemCrypto

/// A new key of a service account: only the file that Admin SDKs load contains the private half.
package struct ServiceAccountKeyPair: Sendable {
    /// 40 hexadecimal digits of the SHA-256 of the public key.
    package let id: String
    /// `SubjectPublicKeyInfo` in DER.
    package let publicKey: [UInt8]
    /// PKCS#8 in PEM (RFC 7468 §10).
    package let privateKeyPEM: Secret

    /// Takes 50 to 500 ms of CPU time.
    package static func generate() throws(SigningKeyError) -> ServiceAccountKeyPair {
        guard let key = try? RSAPrivateKey.generate(), let der = try? key.pkcs8DER() else { throw .generationFailed }
        return ServiceAccountKeyPair(publicKey: key.publicKey.subjectPublicKeyInfo, privateKey: der)
    }

    private init(publicKey: [UInt8], privateKey: [UInt8]) {
        self.publicKey = publicKey
        self.id = Array(SecureHash.sha256(publicKey).prefix(20)).lowercaseHex
        let lines = Data(privateKey).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        self.privateKeyPEM = Secret("-----BEGIN PRIVATE KEY-----\n\(lines)\n-----END PRIVATE KEY-----\n")
    }
}
