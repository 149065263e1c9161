import Crypto
import CryptoExtras
import Domain
import Federation
import Foundation
import Secrets
import Testing

/// Which key may have signed an ID token, and how.
@Suite struct IDTokenSignatureTests {
    @Test("T-C5: a token without a signature, or with an unlisted algorithm, is refused before any request")
    func algorithms() async throws {
        try await FederationWorld.run { world in
            let configuration = world.google()
            let payload = world.claims()
            let encoded = Base64URL.encode(Array(payload.utf8))
            for name in [
                "none", "None", "NONE", "nOnE", "", "HS256", "HS512", "ES256", "RS512", "PS256", "rs256", "RS256 ",
            ] {
                let header = Base64URL.encode(Array(#"{"alg":"\#(name)","kid":"rsa-1"}"#.utf8))
                let signed = try TestKey.rsa.sign(payload: payload, header: #"{"alg":"\#(name)","kid":"rsa-1"}"#)
                for token in [header + "." + encoded + ".", signed] {
                    await #expect(throws: FederationError.signatureInvalid(.algorithm)) {
                        try await world.verify(token, with: configuration)
                    }
                }
            }
            for alg in [#"["RS256"]"#, "null", "1", "{}"] {
                let token = try TestKey.rsa.sign(payload: payload, header: #"{"alg":\#(alg),"kid":"rsa-1"}"#)
                await #expect(throws: FederationError.signatureInvalid(.algorithm)) {
                    try await world.verify(token, with: configuration)
                }
            }
            #expect(world.server.requests(to: "/keys").isEmpty)
        }
    }

    @Test("T-C5: a MAC made with the public key in any of its forms is refused, even with HS256 in the key set")
    func publicKeyAsSecret() async throws {
        try await FederationWorld.run { world in
            guard case .rsa(let key) = TestKey.rsa.material else { return }
            let numbers = try key.publicKey.getKeyPrimitives()
            let secrets = [
                Data(key.publicKey.pemRepresentation.utf8), Data((key.publicKey.pemRepresentation + "\n").utf8),
                key.publicKey.derRepresentation, key.publicKey.pkcs1DERRepresentation, numbers.modulus,
            ]
            let symmetric = secrets.map {
                #"{"kty":"oct","kid":"rsa-1","alg":"HS256","k":"\#(Base64URL.encode($0))"}"#
            }
            world.server.on("/keys", .json(TestKey.jwks(symmetric + [TestKey.rsa.jwk()])))
            for secret in secrets {
                for algorithm in ["HS256", "RS256"] {
                    let header = Base64URL.encode(Array(#"{"alg":"\#(algorithm)","kid":"rsa-1"}"#.utf8))
                    let signed = header + "." + Base64URL.encode(Array(world.claims().utf8))
                    let mac = HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: SymmetricKey(data: secret))
                    await #expect(throws: FederationError.self) {
                        try await world.verify(signed + "." + Base64URL.encode(Array(mac)))
                    }
                }
            }
            _ = try await world.verify(try world.idToken())
        }
    }

    @Test("T-C5: key and algorithm must belong together") func keyTypes() async throws {
        try await FederationWorld.run { world in
            world.publishKeys(.rsa, .ec, .ec384, .ed)
            let invalid = FederationError.signatureInvalid(.unknownKey)
            // An RSA key named for ES256, and the other way round.
            let forms: [(key: TestKey, header: String)] = [
                (.rsa, #"{"alg":"ES256","kid":"rsa-1"}"#), (.ec, #"{"alg":"RS256","kid":"ec-1"}"#),
                (.ec384, #"{"alg":"ES256","kid":"ec-384"}"#),
            ]
            for form in forms {
                let token = try form.key.sign(payload: world.claims(), header: form.header)
                await #expect(throws: invalid) { try await world.verify(token) }
            }
            _ = try await world.verify(try world.idToken(key: .ec))
            // Ed25519 is fine, but not for a provider that doesn't list it.
            await #expect(throws: FederationError.signatureInvalid(.algorithm)) {
                try await world.verify(try world.idToken(key: .ed))
            }
            let configuration = world.oidc(definition: #"{"idToken":{"algorithms":["EdDSA","ES384"]}}"#)
            _ = try await world.verify(try world.idToken(key: .ed), with: configuration)
            _ = try await world.verify(try world.idToken(key: .ec384), with: configuration)
            // The names of RFC 9864, in keys and in tokens.
            world.server.on(
                "/keys",
                .json(TestKey.jwks([TestKey.ed.jwk(["alg": "Ed25519"]), TestKey.ec.jwk(["alg": "ESP256"])]))
            )
            let ed = try TestKey.ed.sign(payload: world.claims(), header: #"{"alg":"Ed25519","kid":"ed-1"}"#)
            _ = try await world.verify(ed, with: configuration)
            _ = try await world.verify(
                TestKey.ec.sign(payload: world.claims(), header: #"{"alg":"ESP256","kid":"ec-1"}"#)
            )
            for name in ["Ed448", "ESP512", "ed25519", "ES256K"] {
                let other = try TestKey.ed.sign(
                    payload: world.claims(),
                    header: "{\"alg\":\"\(name)\",\"kid\":\"ed-1\"}"
                )
                await #expect(throws: FederationError.self) { try await world.verify(other, with: configuration) }
            }
            await #expect(throws: FederationError.signatureInvalid(.algorithm)) {
                try await world.verify(try world.idToken(), with: configuration)
            }
        }
    }

    @Test("T-C5: a key that names its algorithm verifies no other of its kind, though the provider may use that")
    func keyNamesItsAlgorithm() async throws {
        for (name, isGood) in [("RS256", false), ("", true)] {
            try await FederationWorld.run { world in
                world.server.on("/keys", .json(TestKey.jwks([TestKey.rsa.jwk(["alg": name])])))
                let configuration = world.oidc(definition: #"{"idToken":{"algorithms":["RS256","RS512"]}}"#)
                let signed =
                    Base64URL.encode(Array(#"{"alg":"RS512","kid":"rsa-1"}"#.utf8)) + "."
                    + Base64URL.encode(Array(world.claims().utf8))
                guard case .rsa(let key) = TestKey.rsa.material else { return }
                let signature = try key.signature(
                    for: SHA512.hash(data: Data(signed.utf8)),
                    padding: .insecurePKCS1v1_5
                )
                let token = signed + "." + Base64URL.encode(Array(signature.rawRepresentation))
                if isGood {
                    _ = try await world.verify(token, with: configuration)
                } else {
                    await #expect(throws: FederationError.signatureInvalid(.unknownKey)) {
                        try await world.verify(token, with: configuration)
                    }
                }
                _ = try await world.verify(try world.idToken(), with: configuration)
            }
        }
    }

    @Test("T-C5: a signature that is empty, changed, DER instead of raw, zero or another key's is refused")
    func signatures() async throws {
        try await FederationWorld.run { world in
            world.publishKeys(.rsa, .ec)
            func token(_ key: TestKey, _ signature: [UInt8]) -> String {
                let header = #"{"alg":"\#(key.algorithm)","kid":"\#(key.id ?? "")"}"#
                let signed = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(world.claims().utf8))
                return signed + "." + Base64URL.encode(signature)
            }
            let ecHeader = #"{"alg":"ES256","kid":"ec-1"}"#
            let signed = Base64URL.encode(Array(ecHeader.utf8)) + "." + Base64URL.encode(Array(world.claims().utf8))
            guard case .p256(let key) = TestKey.ec.material else { return }
            let der = Array(try key.signature(for: Data(signed.utf8)).derRepresentation)
            for bad in [
                token(.rsa, []), token(.rsa, [UInt8](repeating: 0, count: 256)), token(.ec, []),
                token(.ec, [UInt8](repeating: 0, count: 64)), token(.ec, [UInt8](repeating: 0xff, count: 64)),
                signed + "." + Base64URL.encode(der),
                try TestKey.otherRSA.named("rsa-1").sign(payload: world.claims()),
            ] {
                await #expect(throws: FederationError.signatureInvalid(.signature)) { try await world.verify(bad) }
            }
            let good = try world.idToken()
            let parts = good.split(separator: ".").map { String($0) }
            let others = Base64URL.encode(Array(world.claims(["sub": "\"victim\""]).utf8))
            await #expect(throws: FederationError.signatureInvalid(.signature)) {
                try await world.verify(parts[0] + "." + others + "." + parts[2])
            }
        }
    }

    @Test(
        "T-C6: no header chooses a key, and none causes a request",
        arguments: [
            #""jku":"BASE/evil""#, #""x5u":"BASE/evil""#, #""jwk":EVIL"#, #""x5c":["MIIB"]"#,
            #""jku":1,"x5u":[],"jwk":"x""#,
        ]
    )
    func headersAreOverlooked(_ members: String) async throws {
        try await FederationWorld.run { world in
            world.server.on("/evil", .json(TestKey.jwks(TestKey.otherRSA.named("rsa-1"))))
            let members = members.replacing("BASE", with: world.issuer)
                .replacing("EVIL", with: TestKey.otherRSA.named("rsa-1").jwk())
            let header = #"{"alg":"RS256","kid":"rsa-1",\#(members)}"#
            await #expect(throws: FederationError.signatureInvalid(.signature)) {
                try await world.verify(try TestKey.otherRSA.sign(payload: world.claims(), header: header))
            }
            _ = try await world.verify(try TestKey.rsa.sign(payload: world.claims(), header: header))
            #expect(world.server.requests(to: "/evil").isEmpty)
        }
    }

    @Test(
        "T-C6: critical extensions, unencoded payloads and other kinds of tokens are refused",
        arguments: [
            #""crit":["exp"]"#, #""crit":[]"#, #""crit":["b64"],"b64":false"#, #""b64":false"#, #""zip":"DEF""#,
            #""typ":"at+jwt""#, #""typ":"logout+jwt""#, #""typ":"application/secevent+JWT""#, #""typ":1"#,
        ]
    )
    func criticalHeaders(_ members: String) async throws {
        try await FederationWorld.run { world in
            let token = try TestKey.rsa.sign(
                payload: world.claims(),
                header: #"{"alg":"RS256","kid":"rsa-1",\#(members)}"#
            )
            await #expect(throws: FederationError.signatureInvalid(.header)) { try await world.verify(token) }
            #expect(world.server.requests.isEmpty)
        }
    }

    @Test(
        "T-C6: a key id is a name in the key set and nothing else",
        arguments: [
            "../../etc/passwd", "' OR 1=1 --", "rsa-1\\u0000", "RSA-1", "", "http://evil.example/keys", "r\\u0073a-1x",
        ]
    )
    func keyIDs(_ id: String) async throws {
        try await FederationWorld.run { world in
            let token = try TestKey.rsa.sign(payload: world.claims(), header: #"{"alg":"RS256","kid":"\#(id)"}"#)
            await #expect(throws: FederationError.signatureInvalid(.unknownKey)) { try await world.verify(token) }
            let asked = Set(world.server.requests.map(\.path))
            #expect(asked.isSubset(of: ["/keys", "/.well-known/openid-configuration"]))
        }
    }

    @Test("T-C6: a key id that is too long or no text is refused") func oddKeyIDs() async throws {
        try await FederationWorld.run { world in
            for id in ["1", "[\"rsa-1\"]", "\"\(String(repeating: "a", count: 257))\""] {
                let token = try TestKey.rsa.sign(payload: world.claims(), header: #"{"alg":"RS256","kid":\#(id)}"#)
                await #expect(throws: FederationError.signatureInvalid(.unknownKey)) { try await world.verify(token) }
            }
            #expect(world.server.requests.isEmpty)
        }
    }
}
