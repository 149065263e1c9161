package import Crypto
package import CryptoExtras
import Foundation
import SwiftASN1
package import X509

/// A public key from outside, for swift-crypto.
package enum PublicKey: Sendable {
    case rsa(_RSA.Signing.PublicKey)
    case p256(P256.Signing.PublicKey)
    case p384(P384.Signing.PublicKey)
    case p521(P521.Signing.PublicKey)
    case ed25519(Curve25519.Signing.PublicKey)

    /// Reads `SubjectPublicKeyInfo` in DER (RFC 5280 §4.1).
    ///
    /// Nil for other bytes, other types and curves, and RSA keys that are not of 2,048 to 8,192 bits or whose modulus or
    /// exponent is even.
    package init?(subjectPublicKeyInfo bytes: [UInt8]) {
        guard let key = InspectedKey(subjectPublicKeyInfo: bytes), let der = key.subjectPublicKeyInfo() else {
            return nil
        }
        do {
            switch key.kind {
            case .rsa: self = .rsa(try _RSA.Signing.PublicKey(derRepresentation: der))
            case .p256: self = .p256(try P256.Signing.PublicKey(derRepresentation: der))
            case .p384: self = .p384(try P384.Signing.PublicKey(derRepresentation: der))
            case .p521: self = .p521(try P521.Signing.PublicKey(derRepresentation: der))
            // The key is the last 32 bytes (RFC 8410 §4).
            case .ed25519: self = .ed25519(try Curve25519.Signing.PublicKey(rawRepresentation: der.suffix(32)))
            }
        } catch {
            return nil
        }
    }
}

extension _RSA.Signing.PublicKey {
    /// A key by its numbers, big-endian, as in a JWK (RFC 7518 §6.3.1) or a COSE key (RFC 8230 §4); nil as in ``PublicKey``.
    package init?(modulus: [UInt8], exponent: [UInt8]) {
        guard RSALimits.accept(modulus: modulus, exponent: exponent), let key = try? Self(n: modulus, e: exponent)
        else {
            return nil
        }
        self = key
    }
}

/// A private key from outside, for swift-crypto.
package enum PrivateKey: Sendable {
    case rsa(_RSA.Signing.PrivateKey)
    case p256(P256.Signing.PrivateKey)

    /// Reads a key without passphrase in PEM: PKCS#8, PKCS#1 or SEC 1.
    ///
    /// Nil for other text, other types and curves, and RSA keys outside the limits of ``PublicKey``.
    package init?(pem: String) {
        guard pem.utf8.count <= 65_536, let key = InspectedKey(privateKeyPEM: pem) else { return nil }
        self.init(key)
    }

    /// Reads PKCS#8 `PrivateKeyInfo` in DER (RFC 5958); nil as for PEM.
    package init?(pkcs8DER bytes: [UInt8]) {
        guard let key = InspectedKey(pkcs8DER: bytes) else { return nil }
        self.init(key)
    }

    private init?(_ key: borrowing InspectedKey) {
        guard let der = key.pkcs8DER() else { return nil }
        do {
            switch key.kind {
            case .rsa: self = .rsa(try _RSA.Signing.PrivateKey(derRepresentation: der))
            case .p256: self = .p256(try P256.Signing.PrivateKey(derRepresentation: der))
            case .p384, .p521, .ed25519: return nil
            }
        } catch {
            return nil
        }
    }
}

extension Certificate {
    /// Reads a certificate in DER (RFC 5280 §4.1); nil also if its key is not one that ``PublicKey`` accepts.
    package init?(der: [UInt8]) {
        guard InspectedKey(certificate: der) != nil, let certificate = try? Certificate(derEncoded: der) else {
            return nil
        }
        self = certificate
    }

    /// Whether a text is a certificate as providers hand it out: in base64, in one line or more, with or without the lines of
    /// PEM; its key may be of any kind and length.
    package static func isIn(_ text: String) -> Bool {
        var base64 = text.filter { !$0.isWhitespace }[...]
        let (begin, end) = ("-----BEGINCERTIFICATE-----", "-----ENDCERTIFICATE-----")
        if base64.hasPrefix(begin), base64.hasSuffix(end) { base64 = base64.dropFirst(begin.count).dropLast(end.count) }
        return Data(base64Encoded: String(base64)).map { InspectedKey.isCertificate(Array($0)) } ?? false
    }

    /// Reads the first certificate of a text in PEM (RFC 7468 §5); nil as for DER.
    package init?(pem: String) {
        guard let document = try? PEMDocument(pemString: pem), document.discriminator == Self.defaultPEMDiscriminator
        else { return nil }
        self.init(der: document.derBytes)
    }
}
