import Crypto
import Domain
import Foundation
import Projects
import Secrets
import Sessions
import Testing

@Suite struct IDTokenAttackTests {
    private func verify(_ token: String, cache: VerifiedTokenCache? = nil) throws(IDTokenError) -> VerifiedIDToken {
        guard let project = ProjectID(rawValue: "demo-project"), let keys = try? TestKeys.all() else {
            throw .malformed
        }
        return try IDTokenVerifier(cache: cache)
            .verify(token, project: project, issuers: [TokenParts.issuer], keys: keys, now: TokenParts.now)
    }

    private func header(_ algorithm: String, _ kid: String) -> String {
        #"{"alg":"\#(algorithm)","kid":"\#(kid)","typ":"JWT"}"#
    }

    @Test("T-D2: alg none is refused, signed or not", arguments: ["none", "None", "NONE", "nOnE", "", "null"])
    func algNone(_ name: String) throws {
        for key in try [TestKeys.rs256(), TestKeys.es256()] {
            var parts = try TokenParts(TokenParts.claims(), key: key)
            parts.header = header(name, key.kid)
            #expect(throws: IDTokenError.wrongAlgorithm) { try verify(parts.with(signature: [])) }
            #expect(throws: IDTokenError.wrongAlgorithm) { try verify(parts.signed(by: key)) }
        }
    }

    @Test(
        "T-D2: an HMAC under anything public is no signature",
        arguments: ["HS256", "HS384", "HS512", "RS256", "ES256"]
    )
    func hmacWithPublicKey(_ name: String) throws {
        for key in try [TestKeys.rs256(), TestKeys.es256()] {
            var parts = try TokenParts(TokenParts.claims(), key: key)
            parts.header = header(name, key.kid)
            for secret in try publicMaterial(of: key) {
                let secret = SymmetricKey(data: secret)
                let codes = [
                    [UInt8](HMAC<SHA256>.authenticationCode(for: parts.signingInput, using: secret)),
                    [UInt8](HMAC<SHA512>.authenticationCode(for: parts.signingInput, using: secret)),
                ]
                for code in codes {
                    let isOwn = name == key.algorithm.rawValue
                    #expect(throws: isOwn ? IDTokenError.badSignature : .wrongAlgorithm) {
                        try verify(parts.with(signature: code))
                    }
                }
            }
        }
    }

    /// PEM, DER, certificate, JWK and its numbers, as an attacker can fetch them.
    private func publicMaterial(of key: SigningKey) throws -> [[UInt8]] {
        let base64 = Data(key.publicKeyDER).base64EncodedString(options: [
            .lineLength64Characters, .endLineWithLineFeed,
        ])
        let pem = "-----BEGIN PUBLIC KEY-----\n\(base64)\n-----END PUBLIC KEY-----"
        let members = try #require(
            try JSONSerialization.jsonObject(with: Data(key.jwk.utf8)) as? [String: String]
        )
        let numbers = ["n", "e", "x", "y"].compactMap { members[$0] }
        return [key.publicKeyDER, Array(pem.utf8), Array((pem + "\n").utf8), Array(key.certificatePEM.utf8)]
            + [Array(key.jwk.utf8), Array(key.kid.utf8), []] + numbers.map { Array($0.utf8) }
            + numbers.compactMap { Base64URL.decode($0) }
    }

    @Test("T-D2: a key verifies its own algorithm alone") func algorithmConfusion() throws {
        let rsa = try TestKeys.rs256()
        let elliptic = try TestKeys.es256()
        for (key, name) in [(rsa, "ES256"), (elliptic, "RS256"), (rsa, "RS384"), (rsa, "PS256"), (elliptic, "ES384")] {
            var parts = try TokenParts(TokenParts.claims(), key: key)
            parts.header = header(name, key.kid)
            #expect(throws: IDTokenError.wrongAlgorithm) { try verify(parts.signed(by: rsa)) }
            #expect(throws: IDTokenError.wrongAlgorithm) { try verify(parts.signed(by: elliptic)) }
        }
        for (key, signer) in [(rsa, elliptic), (elliptic, rsa)] {
            let parts = try TokenParts(TokenParts.claims(), key: key)
            #expect(throws: IDTokenError.badSignature) { try verify(parts.signed(by: signer)) }
        }
    }

    @Test("T-D2: a key that we don't publish verifies nothing") func unknownKeys() throws {
        let stranger = try TestKeys.otherRS256()
        let ours = try TestKeys.rs256()
        let parts = try TokenParts(TokenParts.claims(), key: stranger)
        #expect(throws: IDTokenError.unknownKey) { try verify(parts.signed(by: stranger)) }
        var forged = parts
        forged.header = header("RS256", ours.kid)
        #expect(throws: IDTokenError.badSignature) { try verify(forged.signed(by: stranger)) }
        for kid in ["", "../" + ours.kid, ours.kid + "\\u0000", ours.kid.uppercased(), "' OR 1=1 --"] {
            forged.header = header("RS256", kid)
            #expect(throws: IDTokenError.unknownKey) { try verify(forged.signed(by: ours)) }
        }
    }

    @Test("T-D2: a header with anything but alg, kid and typ is refused") func headers() throws {
        let key = try TestKeys.rs256()
        let (alg, kid, typ) = (#""alg":"RS256""#, #""kid":"\#(key.kid)""#, #""typ":"JWT""#)
        let headers = [
            "", "{}", "[]", "null", "{\(alg),\(kid)}", "{\(kid),\(typ)}", "{\(alg),\(typ)}",
            "{\(alg),\(kid),\(typ),\"crit\":[\"exp\"]}", "{\(alg),\(kid),\(typ),\"b64\":false}",
            "{\(alg),\(kid),\(typ),\"jwk\":\(key.jwk)}", "{\(alg),\(kid),\(typ),\"jku\":\"https://evil.example\"}",
            "{\(alg),\(kid),\(typ),\"x5c\":[]}", "{\(alg),\(kid),\"typ\":\"jwt\"}",
            "{\(alg),\(kid),\"typ\":\"at+jwt\"}",
            "{\(alg),\(kid),\"typ\":null}", "{\"alg\":[\"RS256\"],\(kid),\(typ)}", "{\(alg),\"kid\":1,\(typ)}",
        ]
        var parts = try TokenParts(TokenParts.claims(), key: key)
        for header in headers {
            parts.header = header
            #expect(throws: IDTokenError.malformed, "\(header)") { try verify(parts.signed(by: key)) }
        }
        parts.header = "{\(typ), \(kid), \(alg)}"
        #expect(throws: Never.self) { try verify(parts.signed(by: key)) }
    }

    @Test("T-D4: no token that differs in a bit or a byte is accepted", arguments: SigningAlgorithm.allCases)
    func everyOtherText(_ algorithm: SigningAlgorithm) throws {
        let token = try IDTokenMinter.mint(TokenParts.claims(), with: TestKeys.key(algorithm))
        let cache = VerifiedTokenCache(capacity: 64)
        #expect(throws: Never.self) { try verify(token, cache: cache) }
        let bytes = Array(token.utf8)
        for index in bytes.indices {
            var others = (0..<8).map { bit in
                var other = bytes
                other[index] ^= 1 << bit
                return other
            }
            others.append(Array(bytes.prefix(index)))
            others.append(Array(bytes.dropFirst(index + 1)))
            others.append(Array(bytes[..<index] + bytes[(index + 1)...]))
            others.append(Array(bytes[..<index] + Array("A".utf8) + bytes[index...]))
            others.append(Array(bytes[..<index] + Array(".".utf8) + bytes[index...]))
            for other in others {
                #expect(throws: IDTokenError.self, "byte \(index)") {
                    try verify(String(decoding: other, as: UTF8.self), cache: cache)
                }
            }
        }
        for end in ["=", "==", "A", "AA", "AAAA", ".", ".A", " ", "\n", "\0"] {
            #expect(throws: IDTokenError.self) { try verify(token + end, cache: cache) }
            #expect(throws: IDTokenError.self) { try verify(end + token, cache: cache) }
        }
        #expect(cache.count == 1)
    }

    @Test("T-D2: a refresh token is no ID token, nor is anything else that is no JWT")
    func otherKinds() throws {
        let refresh = RefreshToken(
            projectNumber: ProjectNumber(rawValue: 123_456_789_012),
            tenant: .none,
            account: AccountID("a.b"),
            session: try TokenParts.session(),
            secret: Secret(RandomSource.system.handle()),
            generation: 0,
            under: try KeyRing(keys: [KeyRing.Key(id: "key", bytes: RandomSource.system.bytes(32))])
        )
        let plain = String(decoding: try #require(Base64URL.decode(refresh.text)), as: UTF8.self)
        let texts = ["", ".", "..", "...", "a.b.c", "e30.e30.", "e30.e30.e30", refresh.text, plain]
        for text in texts + [RandomSource.system.handle(), String(repeating: ".", count: 60_000)] {
            #expect(throws: IDTokenError.malformed) { try verify(text) }
        }
    }

    @Test("T-D2: a session cookie has no typ and is no ID token") func sessionCookies() throws {
        let key = try TestKeys.rs256()
        var claims = try TokenParts.claims()
        claims.issuer = "https://session.firebase.google.com/demo-project"
        var parts = try TokenParts(claims, key: key)
        #expect(throws: IDTokenError.wrongIssuer) { try verify(parts.signed(by: key)) }
        parts.header = #"{"alg":"RS256","kid":"\#(key.kid)"}"#
        #expect(throws: IDTokenError.malformed) { try verify(parts.signed(by: key)) }
    }
}
