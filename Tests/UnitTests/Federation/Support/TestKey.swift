import Crypto
import CryptoExtras
import Foundation
import Secrets
import StrictJSON
import SwiftASN1
import X509

/// A provider's signing key, which signs whatever a test makes up.
struct TestKey: Sendable {
    enum Material: Sendable {
        case rsa(_RSA.Signing.PrivateKey)
        case p256(P256.Signing.PrivateKey)
        case p384(P384.Signing.PrivateKey)
        case ed25519(Curve25519.Signing.PrivateKey)
    }

    var id: String?
    var material: Material

    /// Making an RSA key takes a while: three are shared by all tests.
    static let rsa: TestKey = make("rsa-1")
    static let otherRSA: TestKey = make("rsa-2")
    static let third: TestKey = make("rsa-3")
    static let ec = TestKey(id: "ec-1", material: .p256(P256.Signing.PrivateKey()))
    static let ec384 = TestKey(id: "ec-384", material: .p384(P384.Signing.PrivateKey()))
    static let ed = TestKey(id: "ed-1", material: .ed25519(Curve25519.Signing.PrivateKey()))

    private static func make(_ id: String) -> TestKey {
        do {
            return TestKey(id: id, material: .rsa(try _RSA.Signing.PrivateKey(keySize: .bits2048)))
        } catch {
            preconditionFailure("no RSA key")
        }
    }

    var publicKeyPEM: String {
        switch material {
        case .rsa(let key): key.publicKey.pemRepresentation
        case .p256(let key): key.publicKey.pemRepresentation
        case .p384(let key): key.publicKey.pemRepresentation
        case .ed25519: ""
        }
    }

    var privateKeyPEM: String {
        switch material {
        case .rsa(let key): key.pemRepresentation
        case .p256(let key): key.pemRepresentation
        case .p384(let key): key.pemRepresentation
        case .ed25519: ""
        }
    }

    /// A certificate for the key, signed by itself.
    func certificatePEM() throws -> String {
        let key = try Certificate.PrivateKey(pemEncoded: privateKeyPEM)
        let name = try DistinguishedName { CommonName("provider.example") }
        let certificate = try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(bytes: [1]),
            publicKey: key.publicKey,
            notValidBefore: Date(timeIntervalSince1970: 0),
            notValidAfter: Date(timeIntervalSince1970: 4_000_000_000),
            issuer: name,
            subject: name,
            extensions: Certificate.Extensions(),
            issuerPrivateKey: key
        )
        return try certificate.serializeAsPEM().pemString
    }

    func named(_ id: String?) -> TestKey { TestKey(id: id, material: material) }

    var algorithm: String {
        switch material {
        case .rsa: "RS256"
        case .p256: "ES256"
        case .p384: "ES384"
        case .ed25519: "EdDSA"
        }
    }

    /// The public half as a JWK; `extra` members replace the usual ones, an empty text removes one.
    func jwk(_ extra: [String: String] = [:]) -> String {
        var members: [String: String] = ["use": "sig", "alg": algorithm]
        if let id { members["kid"] = id }
        switch material {
        case .rsa(let key):
            let numbers = try? key.publicKey.getKeyPrimitives()
            members["kty"] = "RSA"
            members["n"] = Base64URL.encode(numbers?.modulus ?? Data())
            members["e"] = Base64URL.encode(numbers?.publicExponent ?? Data())
        case .p256(let key):
            let raw = Array(key.publicKey.rawRepresentation)
            members["kty"] = "EC"
            members["crv"] = "P-256"
            members["x"] = Base64URL.encode(raw[..<32])
            members["y"] = Base64URL.encode(raw[32...])
        case .p384(let key):
            let raw = Array(key.publicKey.rawRepresentation)
            members["kty"] = "EC"
            members["crv"] = "P-384"
            members["x"] = Base64URL.encode(raw[..<48])
            members["y"] = Base64URL.encode(raw[48...])
        case .ed25519(let key):
            members["kty"] = "OKP"
            members["crv"] = "Ed25519"
            members["x"] = Base64URL.encode(key.publicKey.rawRepresentation)
        }
        members.merge(extra) { $1 }
        let text = members.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
            .map { "\"\($0.key)\":\"\($0.value)\"" }
        return "{" + text.joined(separator: ",") + "}"
    }

    static func jwks(_ keys: [String]) -> String { "{\"keys\":[" + keys.joined(separator: ",") + "]}" }
    static func jwks(_ keys: TestKey...) -> String { jwks(keys.map { $0.jwk() }) }

    func signature(over bytes: [UInt8]) throws -> [UInt8] {
        switch material {
        case .rsa(let key):
            Array(try key.signature(for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5).rawRepresentation)
        case .p256(let key): Array(try key.signature(for: bytes).rawRepresentation)
        case .p384(let key): Array(try key.signature(for: bytes).rawRepresentation)
        case .ed25519(let key): Array(try key.signature(for: Data(bytes)))
        }
    }

    /// A compact JWT over exactly these texts.
    func sign(payload: String, header: String? = nil) throws -> String {
        let header = header ?? #"{"alg":"\#(algorithm)","typ":"JWT"\#(id.map { #","kid":"\#($0)""# } ?? "")}"#
        let signed = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(payload.utf8))
        return signed + "." + Base64URL.encode(try signature(over: Array(signed.utf8)))
    }
}
