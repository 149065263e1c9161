import Crypto
import CryptoExtras
import Domain
import Federation
import Foundation
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
                .authorizedPartyMismatch("")
            ),
            ClaimCase(
                "ours and a foreign one, foreign azp",
                ["aud": #"["client-1","other"]"#, "azp": #""other""#],
                .authorizedPartyMismatch("other")
            ),
            ClaimCase("foreign azp", ["azp": #""other""#], .authorizedPartyMismatch("other")),
            ClaimCase("azp of another type", ["azp": "[\"client-1\"]"], .authorizedPartyMismatch("")),
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

    @Test("T-C1: a token that is valid for another issuer is refused, without a request to that issuer")
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
                "\"\"", "1", right.replacing("\"", with: "").uppercased().debugDescription,
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
