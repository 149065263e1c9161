import Crypto
import CryptoExtras
import Domain
import Foundation
import JWTKit
import Sessions
import SwiftASN1
import SystemCrypto
import Testing
import X509

@Suite struct SigningKeyTests {
    /// jwt-kit as the judge of our tokens: what it has of a key comes from the published set alone.
    @Test(arguments: SigningAlgorithm.allCases) func jwtKitTakesOurTokens(_ algorithm: SigningAlgorithm) async throws {
        let keys = try TestKeys.all()
        let signer = try #require(keys.signer(for: algorithm, at: 0))
        var claims = try TokenParts.claims()
        claims.name = "\"\\\u{1}\u{2028}🧑🏽‍🚀"
        claims.identities = ["google.com": ["1"]]
        let token = try IDTokenMinter.mint(claims, with: signer)
        let judge = JWTKeyCollection()
        for jwk in try JSONDecoder().decode(JWKS.self, from: Data(keys.jwksJSON().utf8)).keys {
            try await judge.add(jwk: jwk, isDefault: false)
        }
        let payload = try await judge.verify(token, as: JudgedPayload.self)
        #expect(payload.sub == claims.account.rawValue)
        #expect(payload.aud.value == ["demo-project"])
        #expect(payload.name == claims.name)
        #expect(payload.firebase.identities == ["google.com": ["1"]])
        let strangers = JWTKeyCollection()
        try await strangers.add(jwksJSON: SigningKeys([TestKeys.otherRS256()]).jwksJSON())
        await #expect(throws: (any Error).self) { try await strangers.verify(token, as: JudgedPayload.self) }
    }

    private struct JudgedPayload: JWTPayload {
        struct Firebase: Codable { let identities: [String: [String]] }
        let sub: String
        let aud: AudienceClaim
        let exp: ExpirationClaim
        let name: String
        let firebase: Firebase

        func verify(using algorithm: some JWTAlgorithm) throws {
            try exp.verifyNotExpired(currentDate: Date(timeIntervalSince1970: TimeInterval(TokenParts.now)))
        }
    }

    @Test func publishesEveryKeyWithUseAndAlgorithm() throws {
        let keys = SigningKeys([try TestKeys.rs256(), try TestKeys.es256(), try TestKeys.otherRS256()])
        let set = try #require(
            try JSONSerialization.jsonObject(with: Data(keys.jwksJSON().utf8)) as? [String: [[String: String]]]
        )
        let published = try #require(set["keys"])
        #expect(published.map { $0["kid"] } == keys.keys.map(\.kid))
        #expect(published.map { $0["alg"] } == ["RS256", "ES256", "RS256"])
        #expect(published.allSatisfy { $0["use"] == "sig" })
        #expect(Set(published[0].keys) == ["kty", "use", "alg", "kid", "n", "e"])
        #expect(Set(published[1].keys) == ["kty", "use", "alg", "kid", "crv", "x", "y"])
        #expect(published[0]["e"] == "AQAB")
        #expect(published[1]["x"]?.utf8.count == 43 && published[1]["y"]?.utf8.count == 43)
    }

    @Test(arguments: SigningAlgorithm.allCases) func certificateIsSelfSignedForTheKey(
        _ algorithm: SigningAlgorithm
    ) throws {
        let key = try TestKeys.key(algorithm)
        let certificate = try Certificate(pemEncoded: key.certificatePEM)
        #expect(certificate.publicKey.isValidSignature(certificate.signature, for: certificate))
        #expect(try [UInt8](certificate.publicKey.serializeAsPEM().derBytes) == key.publicKeyDER)
        #expect(certificate.issuer == certificate.subject)
        #expect("\(certificate.subject)" == "CN=securetoken.system.identity")
        #expect(certificate.notValidBefore == Date(timeIntervalSince1970: TimeInterval(TestKeys.notBefore)))
        #expect(certificate.notValidAfter == Date(timeIntervalSince1970: TimeInterval(TestKeys.notAfter)))
        #expect(certificate.version == .v3)
        #expect(certificate.serialNumber.bytes.count == 16)
        #expect(certificate.signatureAlgorithm == (algorithm == .rs256 ? .sha256WithRSAEncryption : .ecdsaWithSHA256))
        #expect(try certificate.extensions.basicConstraints == .notCertificateAuthority)
        #expect(try certificate.extensions.keyUsage == KeyUsage(digitalSignature: true))
    }

    /// What Admin SDKs do: PEM, key, signature.
    @Test func certificateVerifiesOurTokens() throws {
        let keys = try TestKeys.all()
        let token = try IDTokenMinter.mint(TokenParts.claims(), with: TestKeys.rs256())
        let certificates = try JSONDecoder().decode([String: String].self, from: Data(keys.certificatesJSON.utf8))
        let pem = try #require(certificates[TestKeys.rs256().kid])
        let publicKey = try #require(_RSA.Signing.PublicKey(Certificate(pemEncoded: pem).publicKey))
        let dot = try #require(token.lastIndex(of: "."))
        let signature = try #require(Data(base64URL: token[token.index(after: dot)...]))
        #expect(
            publicKey.isValidSignature(
                _RSA.Signing.RSASignature(rawRepresentation: signature),
                for: Data(token[..<dot].utf8),
                padding: .insecurePKCS1v1_5
            )
        )
    }

    @Test func certificatesAreThoseOfRS256Alone() throws {
        let keys = SigningKeys([try TestKeys.es256(), try TestKeys.rs256(), try TestKeys.otherRS256()])
        let certificates = try JSONDecoder().decode([String: String].self, from: Data(keys.certificatesJSON.utf8))
        #expect(Set(certificates.keys) == [try TestKeys.rs256().kid, try TestKeys.otherRS256().kid])
        #expect(try certificates[TestKeys.rs256().kid] == TestKeys.rs256().certificatePEM)
    }

    @Test(arguments: SigningAlgorithm.allCases) func storedKeysServeTheSame(_ algorithm: SigningAlgorithm) throws {
        let key = try TestKeys.key(algorithm)
        let stored = try SigningKey(
            kid: key.kid,
            algorithm: algorithm,
            privateKey: key.privateKeyDER(),
            certificatePEM: key.certificatePEM
        )
        #expect(SigningKeys([stored]).jwksJSON() == SigningKeys([key]).jwksJSON())
        #expect(SigningKeys([stored]).certificatesJSON == SigningKeys([key]).certificatesJSON)
        let token = try IDTokenMinter.mint(TokenParts.claims(), with: stored)
        #expect(throws: Never.self) {
            try IDTokenVerifier().verify(
                token,
                project: TokenParts.project(),
                issuers: [TokenParts.issuer],
                keys: SigningKeys([key]),
                now: TokenParts.now
            )
        }
    }

    @Test func refusesRowsThatWereMixedUp() throws {
        let rsa = try TestKeys.rs256()
        let other = try TestKeys.otherRS256()
        let elliptic = try TestKeys.es256()
        func load(_ kid: SigningKey, _ algorithm: SigningAlgorithm, _ key: SigningKey, _ certificate: String) throws {
            _ = try SigningKey(
                kid: kid.kid,
                algorithm: algorithm,
                privateKey: key.privateKeyDER(),
                certificatePEM: certificate
            )
        }
        #expect(throws: SigningKeyError.invalidKey) { try load(other, .rs256, rsa, rsa.certificatePEM) }
        #expect(throws: SigningKeyError.invalidKey) { try load(rsa, .es256, rsa, rsa.certificatePEM) }
        #expect(throws: SigningKeyError.invalidKey) { try load(elliptic, .rs256, elliptic, elliptic.certificatePEM) }
        for pem in [other.certificatePEM, elliptic.certificatePEM, "", "-----BEGIN CERTIFICATE-----"] {
            #expect(throws: SigningKeyError.invalidCertificate) { try load(rsa, .rs256, rsa, pem) }
        }
        #expect(throws: SigningKeyError.invalidKey) {
            _ = try SigningKey(kid: rsa.kid, algorithm: .rs256, privateKey: [], certificatePEM: rsa.certificatePEM)
        }
    }

    @Test func theLastKeyWhoseTurnHasComeSigns() throws {
        let (first, second) = (try TestKeys.otherRS256(), try TestKeys.rs256())
        let keys = SigningKeys([
            SigningKeys.Entry(first, activeFrom: 100), SigningKeys.Entry(try TestKeys.es256(), activeFrom: 100),
            SigningKeys.Entry(second, activeFrom: 200), SigningKeys.Entry(first, activeFrom: 300),
        ])
        #expect(keys.keys.count == 3)
        #expect([0, 100, 199].map { keys.signer(for: .rs256, at: $0)?.kid } == [first.kid, first.kid, first.kid])
        #expect([200, 300].map { keys.signer(for: .rs256, at: $0)?.kid } == [second.kid, second.kid])
        #expect(try keys.signer(for: .es256, at: 300)?.kid == TestKeys.es256().kid)
        #expect(try SigningKeys([TestKeys.es256()]).signer(for: .rs256, at: 300) == nil)
        #expect(keys.key(second.kid) != nil)
        #expect(SigningKeys([SigningKey]()).jwksJSON() == #"{"keys":[]}"#)
        #expect(SigningKeys([SigningKey]()).certificatesJSON == "{}")
    }

    @Test(
        "T-D8: a key without its private half verifies, is published, and signs nothing",
        arguments: SigningAlgorithm.allCases
    )
    func publicHalf(_ algorithm: SigningAlgorithm) throws {
        let key = try TestKeys.key(algorithm)
        let half = try SigningKey(
            kid: key.kid,
            algorithm: algorithm,
            privateKey: nil,
            certificatePEM: key.certificatePEM
        )
        let keys = SigningKeys([half])
        #expect(keys.jwksJSON() == SigningKeys([key]).jwksJSON())
        #expect(!half.signs && !keys.sign(with: algorithm) && keys.signer(for: algorithm, at: 1) == nil)
        #expect(throws: SigningKeyError.invalidKey) { try half.privateKeyDER() }
        #expect(throws: IDTokenMintingError.signingFailed) { try half.token(of: [1]) }
        let token = try IDTokenMinter.mint(TokenParts.claims(), with: key)
        _ = try IDTokenVerifier().verify(
            token,
            project: TokenParts.project(),
            issuers: [TokenParts.issuer],
            keys: keys,
            now: TokenParts.now
        )
        #expect(throws: SigningKeyError.invalidCertificate) {
            try SigningKey(kid: key.kid, algorithm: algorithm, privateKey: nil, certificatePEM: "")
        }
        let other = try TestKeys.otherRS256().certificatePEM
        #expect(throws: SigningKeyError.self) {
            try SigningKey(kid: key.kid, algorithm: algorithm, privateKey: nil, certificatePEM: other)
        }
    }

    @Test func idsAre40HexadecimalDigits() throws {
        for key in try [TestKeys.rs256(), TestKeys.otherRS256(), TestKeys.es256()] {
            #expect(key.kid.utf8.count == 40)
            #expect(key.kid.allSatisfy { "0123456789abcdef".contains($0) })
        }
        #expect(try TestKeys.rs256().kid != TestKeys.otherRS256().kid)
    }

    @Test func printsItsIDAlone() throws {
        for key in try [TestKeys.rs256(), TestKeys.es256()] {
            var dumped = ""
            dump(key, to: &dumped)
            #expect("\(key)" == "SigningKey(\(key.kid))")
            #expect(String(reflecting: key) == "\(key)")
            #expect(dumped == "- \(key)\n")
        }
    }
}

extension Data {
    /// Foundation's decoder, not ours.
    fileprivate init?(base64URL text: some StringProtocol) {
        let base64 = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        self.init(base64Encoded: base64 + String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4))
    }
}
