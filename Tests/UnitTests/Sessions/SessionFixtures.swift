import Crypto
import Domain
import Foundation
import Projects
import Secrets
import Sessions
import SystemCrypto
import Testing

/// Keys are made once for all suites, for an RSA key takes its time.
enum TestKeys {
    static let notBefore: Int64 = 1_790_000_000
    static let notAfter: Int64 = 1_792_000_000

    private static let rsa = Result { try make(.rs256) }
    private static let otherRSA = Result { try make(.rs256) }
    private static let elliptic = Result { try make(.es256) }

    static func rs256() throws -> SigningKey { try rsa.get() }
    static func otherRS256() throws -> SigningKey { try otherRSA.get() }
    static func es256() throws -> SigningKey { try elliptic.get() }

    static func key(_ algorithm: SigningAlgorithm) throws -> SigningKey {
        switch algorithm {
        case .rs256: try rs256()
        case .es256: try es256()
        }
    }

    static func all() throws -> SigningKeys { SigningKeys([try rs256(), try es256()]) }

    private static func make(_ algorithm: SigningAlgorithm) throws -> SigningKey {
        try SigningKey.generate(algorithm, notBefore: notBefore, notAfter: notAfter)
    }
}

/// A token taken apart, to be put together again in other ways.
struct TokenParts {
    var header: String
    var payload: String

    static let now: Int64 = 1_790_000_100
    static let issuer = "https://securetoken.google.com/demo-project"

    static func project() throws -> ProjectID { try #require(ProjectID(rawValue: "demo-project")) }
    static func session() throws -> SessionID { try #require(SessionID(rawValue: "AAECAwQFBgcICQoLDA0ODw")) }

    static func claims(provider: ProviderID = .google) throws -> IDTokenClaims {
        IDTokenClaims(
            issuer: issuer,
            project: try project(),
            account: AccountID("abcdefghijklmnopqrstuvwxyz01"),
            session: try session(),
            id: "AAECAwQFBgcICQoL",
            authTime: now - 50,
            issuedAt: now,
            signInProvider: provider
        )
    }

    /// What ``IDTokenMinter`` writes.
    init(_ claims: IDTokenClaims, key: SigningKey) throws {
        let parts = try IDTokenMinter.mint(claims, with: key).split(separator: ".")
        self.header = String(decoding: try #require(Base64URL.decode(parts[0])), as: UTF8.self)
        self.payload = String(decoding: try #require(Base64URL.decode(parts[1])), as: UTF8.self)
    }

    var signingInput: [UInt8] {
        Array("\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(Array(payload.utf8)))".utf8)
    }

    /// The token, signed properly by a key of ours.
    func signed(by key: SigningKey) throws -> String {
        let der = try key.privateKeyDER()
        switch key.algorithm {
        case .rs256: return with(signature: try RSAPrivateKey(pkcs8DER: der).sign(signingInput))
        case .es256:
            let key = try P256.Signing.PrivateKey(derRepresentation: der)
            return with(signature: [UInt8](try key.signature(for: signingInput).rawRepresentation))
        }
    }

    func with(signature: [UInt8]) -> String {
        "\(String(decoding: signingInput, as: UTF8.self)).\(Base64URL.encode(signature))"
    }
}
