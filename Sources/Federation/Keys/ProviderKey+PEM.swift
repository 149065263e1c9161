import Crypto
import CryptoExtras
import SwiftASN1
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
            guard let certificate = try? Certificate(derEncoded: document.derBytes),
                let key = try? certificate.publicKey.serializeAsPEM()
            else { return nil }
            bytes = key.derBytes
        default: return nil
        }
        self.id = id
        self.issuer = nil
        if let key = try? _RSA.Signing.PublicKey(derRepresentation: bytes), key.keySizeInBits <= 8_192 {
            material = .rsa(key)
            algorithms = [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]
        } else if let key = try? P256.Signing.PublicKey(derRepresentation: bytes) {
            material = .p256(key)
            algorithms = [.es256]
        } else if let key = try? P384.Signing.PublicKey(derRepresentation: bytes) {
            material = .p384(key)
            algorithms = [.es384]
        } else if let key = try? P521.Signing.PublicKey(derRepresentation: bytes) {
            material = .p521(key)
            algorithms = [.es512]
        } else {
            return nil
        }
    }
}
