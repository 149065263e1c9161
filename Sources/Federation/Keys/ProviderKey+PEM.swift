import SwiftASN1
import SystemCrypto
import X509

extension ProviderKey {
    /// A public key in PEM (RFC 7468 §13), or, where it is accepted, the key of a certificate (§5).
    ///
    /// The certificate's dates and issuer are ignored, because the source of the document vouches for it.
    ///
    /// Nil for everything else, and for short RSA keys.
    init?(id: String, pem: String, acceptsCertificate: Bool) {
        guard (1...256).contains(id.utf8.count), pem.utf8.count <= 65_536,
            let document = try? PEMDocument(pemString: pem)
        else { return nil }
        let bytes: [UInt8]
        switch document.discriminator {
        case "PUBLIC KEY": bytes = document.derBytes
        case "CERTIFICATE" where acceptsCertificate:
            guard let certificate = Certificate(der: document.derBytes),
                let key = try? certificate.publicKey.serializeAsPEM()
            else { return nil }
            bytes = key.derBytes
        default: return nil
        }
        self.id = id
        self.issuer = nil
        switch PublicKey(subjectPublicKeyInfo: bytes) {
        case .rsa(let key):
            material = .rsa(key)
            algorithms = [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]
        case .p256(let key):
            material = .p256(key)
            algorithms = [.es256]
        case .p384(let key):
            material = .p384(key)
            algorithms = [.es384]
        case .p521(let key):
            material = .p521(key)
            algorithms = [.es512]
        case .ed25519, nil: return nil
        }
    }
}
