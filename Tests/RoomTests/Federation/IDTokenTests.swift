import Crypto
import CryptoExtras
import Federation
import Foundation
import Linking
import Secrets
import Testing

/// Changes to a good ID token, and what becomes of it.
struct ClaimCase: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// JSON texts; nil removes the claim.
    var changes: [String: String?]
    /// Nil: the token is taken.
    var expected: FederationError?

    init(_ name: String, _ changes: [String: String?], _ expected: FederationError?) {
        testDescription = name
        self.changes = changes
        self.expected = expected
    }
}

@Suite struct IDTokenTests {
    static let start: Int64 = 1_800_000_000

    private func check(_ item: ClaimCase, audiences: [String] = []) async throws {
        try await FederationWorld.run { world in
            let configuration = world.oidc(audiences: audiences)
            let token = try world.idToken(item.changes)
            if let expected = item.expected {
                await #expect(throws: expected) { try await world.verify(token, with: configuration) }
            } else {
                _ = try await world.verify(token, with: configuration)
            }
        }
    }

    private static func audience(_ got: String...) -> FederationError {
        .audienceMismatch(got: got, want: "client-1")
    }

    @Test(
        "T-C2: the audience must be a client of this project's configuration, and azp too",
        arguments: [
            ClaimCase("ours in a list", ["aud": #"["client-1"]"#], nil),
            ClaimCase("a native client's", ["aud": #""ios-client""#], nil),
            ClaimCase(
                "ours and a foreign one, azp ours",
                ["aud": #"["other","client-1"]"#, "azp": #""ios-client""#],
                nil
            ),
            ClaimCase("azp ours", ["azp": #""client-1""#], nil),
            ClaimCase("missing", ["aud": nil], audienceMissing),
            ClaimCase("another app's", ["aud": #""other""#], audience("other")),
            ClaimCase("another case of letters", ["aud": #""Client-1""#], audience("Client-1")),
            ClaimCase("ours as part of it", ["aud": #""client-1x""#], audience("client-1x")),
            ClaimCase("a look-alike", ["aud": "\"client\\u20101\""], audience("client\u{2010}1")),
            ClaimCase("a number", ["aud": "1"], audience("1")),
            ClaimCase("empty list", ["aud": "[]"], audienceMissing),
            ClaimCase("a list with a number", ["aud": #"["client-1",1]"#], audience("client-1", "1")),
            ClaimCase("an object", ["aud": #"{"client-1":1}"#], audience(#"{"client-1":1}"#)),
            ClaimCase(
                "ours and a foreign one, no azp",
                ["aud": #"["client-1","other"]"#],
                audience("client-1", "other")
            ),
            ClaimCase(
                "ours and a foreign one, foreign azp",
                ["aud": #"["client-1","other"]"#, "azp": #""other""#],
                audience("client-1", "other")
            ),
            ClaimCase("foreign azp", ["azp": #""other""#], audience("client-1")),
            ClaimCase("azp of another type", ["azp": "[\"client-1\"]"], audience("client-1")),
        ]
    )
    func audiences(_ item: ClaimCase) async throws {
        try await check(item, audiences: ["ios-client"])
    }
    private static let audienceMissing = FederationError.audienceMismatch(got: [], want: "client-1")

    private static func stale(_ issued: String = "1800000000") -> FederationError { .staleIDToken(issuedAt: issued) }

    @Test(
        "T-C8: exp and iat are required, and a minute of skew is all",
        arguments: [
            ClaimCase("expired within the skew", ["exp": "\(start - 59)"], nil),
            ClaimCase("expired at the skew", ["exp": "\(start - 60)"], stale()),
            ClaimCase("issued within the skew", ["iat": "\(start + 60)"], nil),
            ClaimCase("issued beyond the skew", ["iat": "\(start + 61)"], stale("1800000061")),
            ClaimCase("no exp", ["exp": nil], stale()),
            ClaimCase("no iat", ["iat": nil], stale("")),
            ClaimCase("exp as text", ["exp": "\"\(start + 3600)\""], stale()),
            ClaimCase("iat as text", ["iat": "\"\(start)\""], stale("\"1800000000\"")),
            ClaimCase("exp with a fraction", ["exp": "\(start + 3600).5"], nil),
            ClaimCase("exp with an exponent", ["exp": "1.9e9"], nil),
            ClaimCase("exp beyond reason", ["exp": "1e300"], stale()),
            ClaimCase("exp negative", ["exp": "-1"], stale()),
            ClaimCase("exp null", ["exp": "null"], stale()),
            ClaimCase("iat in milliseconds", ["iat": "\(start * 1000)"], stale("1800000000000")),
            ClaimCase("nbf in the future is overlooked", ["nbf": "\(start + 9_000)"], nil),
        ]
    )
    func times(_ item: ClaimCase) async throws { try await check(item) }

    @Test("T-C8: a definition may limit the age") func maximumAge() async throws {
        try await FederationWorld.run { world in
            let configuration = world.oidc(definition: #"{"idToken":{"maximumAge":600}}"#)
            let good = try world.idToken(["iat": "\(Self.start - 660)"])
            _ = try await world.verify(good, with: configuration)
            let old = try world.idToken(["iat": "\(Self.start - 661)"])
            await #expect(throws: Self.stale("1799999339")) { try await world.verify(old, with: configuration) }
        }
    }

    @Test("T-C8: a token dies while the clock moves on") func expiry() async throws {
        try await FederationWorld.run { world in
            let token = try world.idToken()
            world.clock.advance(3_659)
            _ = try await world.verify(token)
            world.clock.advance(1)
            await #expect(throws: Self.stale()) { try await world.verify(token) }
        }
    }

    @Test(
        "T-C11: the subject is a string of 1 to 255 bytes without NUL",
        arguments: [
            ("\"\(String(repeating: "a", count: 255))\"", true), ("\"\(String(repeating: "a", count: 256))\"", false),
            ("\"\(String(repeating: "é", count: 128))\"", false), ("\"\"", false), ("1", false), ("null", false),
            ("true", false), ("[\"a\"]", false), ("{\"a\":1}", false), ("\"1\\u0000\"", false), ("\" \"", true),
            (nil, false),
        ] as [(String?, Bool)]
    )
    func subject(_ subject: String?, _ accepted: Bool) async throws {
        try await FederationWorld.run { world in
            let token = try world.idToken(["sub": subject])
            do {
                _ = try await world.verify(token)
                #expect(accepted)
            } catch FederationError.missingSubject(let claims) {
                #expect(!accepted)
                #expect(claims.hasPrefix("{\"aud\":\"client-1\""))
                #expect(claims.count <= 200)
            }
        }
    }

    @Test("T-C11: subjects are told apart byte by byte") func exactSubjects() async throws {
        try await FederationWorld.run { world in
            let composed = try await world.verify(try world.idToken(["sub": "\"caf\\u00e9\""]))
            let decomposed = try await world.verify(try world.idToken(["sub": "\"cafe\\u0301\""]))
            #expect(Array(composed.identity.subject.utf8) != Array(decomposed.identity.subject.utf8))
        }
    }

    /// Header and payload as texts; what is signed is signed well.
    @Test(
        "T-C11: odd JSON is refused",
        arguments: [
            #"{"sub":"a","sub":"b"}"#, #"{"sub":"a","su\u0062":"b"}"#, #"{"a":{"b":1,"b":2}}"#, "[]", "\"x\"", "null",
            "",
            "{", #"{"a":1}x"#, #"{"a":1,}"#, #"{a:1}"#, #"{'a':1}"#, #"{"a":01}"#, #"{"a":+1}"#, #"{"a":NaN}"#,
            #"{"a":"\ud800"}"#, #"{"a":"\x41"}"#, "{\"a\":\"\u{1}\"}", "\u{feff}{}",
            String(repeating: "[", count: 200) + String(repeating: "]", count: 200),
            #"{"a":"# + String(repeating: "[", count: 70) + String(repeating: "]", count: 70) + "}",
        ]
    )
    func oddJSON(_ json: String) async throws {
        try await FederationWorld.run { world in
            let payload = try TestKey.rsa.sign(payload: json)
            await #expect(throws: FederationError.unparsableIDToken) { try await world.verify(payload) }
            let header = try TestKey.rsa.sign(payload: world.claims(), header: json)
            await #expect(throws: FederationError.unparsableIDToken) { try await world.verify(header) }
            #expect(world.server.requests.isEmpty)
        }
    }

    @Test("T-C11: only the canonical base64url of three parts is a token") func encoding() async throws {
        try await FederationWorld.run { world in
            let token = try world.idToken()
            let parts = token.split(separator: ".").map { String($0) }
            let last = try #require(parts[2].last)
            let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
            // 256 bytes leave four unused bits in the last character: the next one decodes to the same bytes.
            let index = try #require(alphabet.firstIndex(of: last))
            let sameBytes = String(parts[2].dropLast()) + String(alphabet[index + 1])
            for broken in [
                "", ".", "..", "a.b", parts[0] + "." + parts[1], token + ".x", token + ".a.b", token + "=",
                token + "\n",
                " " + token, parts[0] + "." + parts[1] + "." + sameBytes,
                parts[0] + "=." + parts[1] + "." + parts[2], token.replacing(".", with: ".."),
                parts[0] + "." + parts[1] + "." + parts[2].replacing("_", with: "/").replacing("-", with: "+") + "+",
                String(repeating: "a", count: 140_000), "{\"sub\":\"a\"}",
            ] {
                await #expect(throws: FederationError.unparsableIDToken) { try await world.verify(broken) }
            }
            #expect(world.server.requests.isEmpty)
        }
    }

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
            await #expect(throws: FederationError.signatureInvalid(.algorithm)) {
                try await world.verify(try world.idToken(), with: configuration)
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
            for id in ["1", "null", "[\"rsa-1\"]", "\"\(String(repeating: "a", count: 257))\""] {
                let token = try TestKey.rsa.sign(payload: world.claims(), header: #"{"alg":"RS256","kid":\#(id)}"#)
                await #expect(throws: FederationError.signatureInvalid(.unknownKey)) { try await world.verify(token) }
            }
            #expect(world.server.requests.isEmpty)
        }
    }

    @Test("T-C1: a token that is perfect for another issuer is refused, and nobody asks that issuer")
    func foreignIssuer() async throws {
        try await FederationWorld.run { world in
            try await FederationWorld.run { evil in
                let token = try evil.idToken(["email": "\"victim@example.com\""])
                _ = try await evil.verify(token)
                let asked = evil.server.requests.count
                for configuration in [world.oidc(), world.google()] {
                    await #expect(throws: FederationError.issuerMismatch(got: evil.issuer, want: world.issuer)) {
                        try await world.verify(token, with: configuration)
                    }
                }
                #expect(evil.server.requests.count == asked)
                #expect(world.server.requests(to: "/keys").isEmpty)
            }
        }
    }

    @Test("T-C1: the issuer is one of the listed ones, byte by byte") func issuers() async throws {
        try await FederationWorld.run { world in
            for claim in [
                "\"\(world.issuer)/\"", "\"\(world.issuer.uppercased())\"", "\"\"", "1", "null",
                "[\"\(world.issuer)\"]",
            ] {
                await #expect(throws: FederationError.self) {
                    try await world.verify(try world.idToken(["iss": claim]))
                }
            }
            await #expect(throws: FederationError.issuerMismatch(got: "", want: world.issuer)) {
                try await world.verify(try world.idToken(["iss": nil]))
            }
            let second = try world.idToken(["iss": "\"accounts.google.com\""])
            let credential = try await world.verify(second, with: world.google())
            #expect(credential.identity.issuer == world.issuer)
            await #expect(throws: FederationError.issuerMismatch(got: "accounts.google.com", want: world.issuer)) {
                try await world.verify(second)
            }
        }
    }

    @Test("T-C9: at_hash and c_hash are checked wherever they are, with the algorithm's own hash") func hashes()
        async throws
    {
        try await FederationWorld.run { world in
            func half(_ hash: some Sequence<UInt8>) -> String {
                let bytes = Array(hash)
                return "\"" + Base64URL.encode(bytes[..<(bytes.count / 2)]) + "\""
            }
            let text = Data("at-1".utf8)
            let right = half(SHA256.hash(data: text))
            let wrong = [
                half(SHA512.hash(data: text)), half(SHA384.hash(data: text)),
                half(SHA256.hash(data: Data("other".utf8))),
                "\"\"", "1", "null", right.replacing("\"", with: "").uppercased().debugDescription,
            ]
            let configuration = world.oidc()
            for (claim, bad) in wrong.flatMap({ [("at_hash", $0), ("c_hash", $0)] }) {
                let request = try await world.start(configuration)
                try world.answerToken(for: request, claims: [claim: bad])
                await #expect(throws: FederationError.hashMismatch) {
                    try await world.finish(
                        request,
                        configuration,
                        query: "code=at-1&state=\(request.state.reveal())"
                    )
                }
            }
            let request = try await world.start(configuration)
            try world.answerToken(
                for: request,
                claims: ["at_hash": right, "c_hash": half(SHA256.hash(data: Data("code-1".utf8)))]
            )
            _ = try await world.finish(request, configuration)
            let native = try world.idToken(["at_hash": right])
            _ = try await world.verify(native)
            _ = try await world.verify(native, accessToken: "at-1")
            await #expect(throws: FederationError.hashMismatch) {
                try await world.verify(native, accessToken: "foreign")
            }
            world.publishKeys(.ec384)
            world.clock.advance(4_000)
            let strong = world.oidc(definition: #"{"idToken":{"algorithms":["ES384"]}}"#)
            let token = try world.idToken(["at_hash": half(SHA384.hash(data: text))], key: .ec384)
            _ = try await world.verify(token, accessToken: "at-1", with: strong)
        }
    }

    @Test("T-C4: a web flow's token carries exactly the flow's nonce") func serverNonce() async throws {
        try await FederationWorld.run { world in
            let configuration = world.oidc()
            let other = try await world.start(configuration)
            for nonce in [
                nil, "\"\"", "\"other\"", "1", "null", other.flow.nonce.map { "\"\($0)\"" },
            ] {
                let request = try await world.start(configuration)
                let token = try world.idToken(["nonce": nonce])
                world.server.on("/token", .json(#"{"access_token":"at-1","id_token":"\#(token)"}"#))
                await #expect(throws: FederationError.nonceMismatch) { try await world.finish(request, configuration) }
            }
            let request = try await world.start(configuration)
            let hashed = SecureHash.sha256Hex(try #require(request.flow.nonce))
            try world.answerToken(for: request, claims: ["nonce": "\"\(hashed)\""])
            await #expect(throws: FederationError.nonceMismatch) { try await world.finish(request, configuration) }
            // Where none was sent, a token with one belongs to somebody else's sign-in.
            let silent = world.oidc(definition: #"{"sendNonce":false}"#)
            let plain = try await world.start(silent)
            #expect(plain.flow.nonce == nil)
            try world.answerToken(for: plain, claims: ["nonce": "\"n\""])
            await #expect(throws: FederationError.nonceMismatch) { try await world.finish(plain, silent) }
            try world.answerToken(for: plain)
            _ = try await world.finish(plain, silent)
        }
    }

    @Test("T-C4: a native token with a nonce needs the raw one, and can be taken once") func clientNonce() async throws
    {
        try await FederationWorld.run { world in
            let hashed = "\"\(SecureHash.sha256Hex("raw"))\""
            let token = try world.idToken(["nonce": hashed])
            await #expect(throws: FederationError.nonceMissingInRequest) { try await world.verify(token) }
            await #expect(throws: FederationError.nonceMismatch) { try await world.verify(token, nonce: "other") }
            let credential = try await world.verify(token, nonce: "raw")
            #expect(credential.nonce == "raw")
            #expect(credential.oneTimeToken?.hash == SecureHash.sha256(token))
            #expect(credential.oneTimeToken?.expiresAt == world.clock.seconds + 3660)
            for claim in ["\"raw\"", hashed.uppercased(), "\"\"", "1", "null"] {
                let bad = try world.idToken(["nonce": claim])
                await #expect(throws: FederationError.nonceMismatch) { try await world.verify(bad, nonce: "raw") }
            }
            // A nonce that the token does not know is no reason to refuse it.
            let plain = try await world.verify(try world.idToken(), nonce: "raw")
            #expect(plain.oneTimeToken == nil)
            #expect(plain.nonce == nil)
        }
    }

    @Test(arguments: [
        ("exact", "raw", true), ("exact", "hash", false), ("either", "raw", true), ("either", "hash", true),
    ])
    func aDefinitionMaySayHowNoncesCompare(_ form: String, _ claim: String, _ accepted: Bool) async throws {
        try await FederationWorld.run { world in
            let configuration = world.oidc(definition: #"{"idToken":{"nonce":"\#(form)"}}"#)
            let token = try world.idToken(["nonce": "\"\(claim == "raw" ? "raw" : SecureHash.sha256Hex("raw"))\""])
            if accepted {
                _ = try await world.verify(token, nonce: "raw", with: configuration)
            } else {
                await #expect(throws: FederationError.nonceMismatch) {
                    try await world.verify(token, nonce: "raw", with: configuration)
                }
            }
        }
    }

    @Test(
        arguments: [
            ("-100", nil), ("-160", nil), ("-161", .authenticationTooOld), (nil, .authenticationTooOld),
            ("100", .authenticationTooOld),
        ] as [(String?, FederationError?)]
    )
    func checksTheAuthenticationTimeThatWasAskedFor(_ offset: String?, _ expected: FederationError?) async throws {
        try await FederationWorld.run { world in
            let configuration = world.oidc()
            let request = try await world.start(configuration, customParameters: ["max_age": "100"])
            let time = offset.flatMap { Int64($0) }.map { "\(world.clock.seconds + $0)" }
            try world.answerToken(for: request, claims: ["auth_time": time])
            if let expected {
                await #expect(throws: expected) { try await world.finish(request, configuration) }
            } else {
                _ = try await world.finish(request, configuration)
            }
        }
    }

    @Test("a logout token or security event is no ID token") func events() async throws {
        try await FederationWorld.run { world in
            await #expect(throws: FederationError.signatureInvalid(.header)) {
                try await world.verify(try world.idToken(["events": "{\"x\":{}}"]))
            }
        }
    }
}
