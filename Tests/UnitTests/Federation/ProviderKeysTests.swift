import Domain
import Federation
import Foundation
import Projects
import Secrets
import Testing

@Suite struct ProviderKeysTests {
    @Test("T-C7: ten thousand unknown key ids cause one load of the keys in an interval") func flood() async throws {
        try await FederationWorld.run { world in
            _ = try await world.verify(try world.idToken())
            #expect(world.server.requests(to: "/keys").count == 1)
            let signed = try world.idToken().split(separator: ".").map { String($0) }
            func flood(_ count: Int, _ prefix: String) async throws {
                var refused = 0
                for number in 0..<count {
                    let header = Base64URL.encode(Array(#"{"alg":"RS256","kid":"\#(prefix)-\#(number)"}"#.utf8))
                    do {
                        _ = try await world.verify(header + "." + signed[1] + "." + signed[2])
                    } catch FederationError.signatureInvalid(.unknownKey) {
                        refused += 1
                    }
                }
                #expect(refused == count)
            }
            try await flood(10_000, "a")
            #expect(world.server.requests(to: "/keys").count == 2)
            world.clock.advance(59)
            try await flood(10, "b")
            #expect(world.server.requests(to: "/keys").count == 2)
            world.clock.advance(1)
            try await flood(10, "c")
            #expect(world.server.requests(to: "/keys").count == 3)
        }
    }

    @Test("T-F19: however many keys applications publish, those of providers stay, and so do other projects'")
    func applications() async throws {
        try await FederationWorld.run { world in
            _ = try await world.verify(try world.idToken())
            #expect(world.server.requests(to: "/keys").count == 1)
            let token = try ClientJWT(Secret(try world.idToken(key: .otherRSA)))
            func verify(_ set: String?, at url: String?, for project: String) async throws {
                let project = try #require(ProjectID(rawValue: project))
                await #expect(throws: FederationError.self) {
                    try await world.service.calling(for: project) {
                        try await world.service.verify(token, keys: set, at: url, isVouchedFor: true)
                    }
                }
            }
            let keys = TestKey.jwks([TestKey.rsa.jwk()])
            world.server.on("/client", .json(keys))
            try await verify(nil, at: world.issuer + "/client", for: "tea-room")
            for number in 0..<2_000 {
                try await verify("{\"n\":\(number)," + keys.dropFirst(), at: nil, for: "coffee-house")
            }
            let large = "{\"keys\":[" + Array(repeating: "{}", count: 1_001).joined(separator: ",") + "]}"
            world.server.on("/large", .json(large))
            for _ in 0..<3 { try await verify(nil, at: world.issuer + "/large", for: "coffee-house") }
            #expect(world.server.requests(to: "/large").count == 1)
            try await verify(nil, at: world.issuer + "/client", for: "tea-room")
            #expect(world.server.requests(to: "/client").count == 1)
            _ = try await world.verify(try world.idToken())
            #expect(world.server.requests(to: "/keys").count == 1)
        }
    }

    @Test("T-F19: strangers' keys, however many and however long they may be kept, push out no admin's")
    func strangers() async throws {
        try await FederationWorld.run { world in
            let project = try #require(ProjectID(rawValue: "tea-room"))
            let token = try ClientJWT(Secret(try world.idToken(key: .otherRSA)))
            func verify(_ path: String, isVouchedFor: Bool) async throws {
                await #expect(throws: FederationError.self) {
                    try await world.service.calling(for: project) {
                        try await world.service.verify(
                            token,
                            keys: nil,
                            at: world.issuer + path,
                            isVouchedFor: isVouchedFor
                        )
                    }
                }
            }
            let keys = TestKey.jwks([TestKey.rsa.jwk()])
            world.server.on("/admin", .json(keys, headers: [("Cache-Control", "max-age=60")]))
            for number in 0..<32 {
                let reply = ScriptedServer.Reply.json(keys, headers: [("Cache-Control", "max-age=86400")])
                world.server.on("/stranger-\(number)", reply)
            }
            try await verify("/admin", isVouchedFor: true)
            for number in 0..<32 {
                try await verify("/stranger-\(number)", isVouchedFor: false)
                world.clock.advance(1)
            }
            try await verify("/admin", isVouchedFor: true)
            #expect(world.server.requests(to: "/admin").count == 1)
            // A stranger that names the same URL has an answer of its own.
            try await verify("/admin", isVouchedFor: false)
            #expect(world.server.requests(to: "/admin").count == 2)
            // No answer keeps a stranger's keys longer than an hour.
            try await verify("/stranger-31", isVouchedFor: false)
            #expect(world.server.requests(to: "/stranger-31").count == 1)
            world.clock.advance(3_601)
            try await verify("/stranger-31", isVouchedFor: false)
            #expect(world.server.requests(to: "/stranger-31").count == 2)
        }
    }

    @Test("configured keys are the only ones, and no further keys are fetched")
    func pinnedKeys() async throws {
        try await FederationWorld.run { world in
            let keys = TestKey.jwks([TestKey.rsa.jwk()])
            let configuration = world.oidc(
                definition: """
                    {"discovery":"never","endpoints":{"authorization":"\(world.issuer)/a","token":"\(world.issuer)/t"},
                     "jwks":\(keys)}
                    """
            )
            _ = try await world.verify(try world.idToken(), with: configuration)
            await #expect(throws: FederationError.signatureInvalid(.unknownKey)) {
                try await world.verify(try world.idToken(key: .otherRSA), with: configuration)
            }
            #expect(world.server.requests.isEmpty)
            for text in ["{}", #"{"keys":[]}"#, #"{"keys":[{"kty":"oct","k":"AA"}]}"#, "1"] {
                await #expect(throws: FederationError.self) {
                    try await world.verify(
                        try world.idToken(),
                        with: world.oidc(definition: #"{"jwks":\#(text)}"#)
                    )
                }
            }
        }
    }

    @Test("keys in PEM: public keys of any kind and any line ends; certificates only where they are accepted")
    func keysInPEM() async throws {
        try await FederationWorld.run { world in
            let certificate = try TestKey.otherRSA.certificatePEM()
            let map = [
                "rsa-1": TestKey.rsa.publicKeyPEM.replacing("\n", with: "\r\n"), "ec-1": TestKey.ec.publicKeyPEM,
                "rsa-2": certificate, "broken": "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
                "private": TestKey.rsa.privateKeyPEM, "": TestKey.rsa.publicKeyPEM,
            ]
            let text = try JSONEncoder().encode(map)
            world.server.on("/keys", .json(String(decoding: text, as: UTF8.self)))
            func verify(_ key: TestKey, _ format: String) async throws {
                let definition = #"{"idToken":{"keyFormat":"\#(format)"}}"#
                _ = try await world.verify(try world.idToken(key: key), with: world.oidc(definition: definition))
            }
            for format in ["pem_map", "certificate_map"] {
                try await verify(.rsa, format)
                try await verify(.ec, format)
                for unknown in [TestKey.rsa.named("private"), .rsa.named("broken"), .rsa.named("missing")] {
                    await #expect(throws: FederationError.signatureInvalid(.unknownKey)) {
                        try await verify(unknown, format)
                    }
                }
                await #expect(throws: FederationError.signatureInvalid(.signature)) {
                    try await verify(.otherRSA.named("rsa-1"), format)
                }
            }
            try await verify(.otherRSA, "certificate_map")
            await #expect(throws: FederationError.signatureInvalid(.unknownKey)) {
                try await verify(.otherRSA, "pem_map")
            }
            // The same address is read in its own format for each configuration.
            await #expect(throws: FederationError.issuerUnreachable) { try await verify(.rsa, "jwks") }
        }
    }

    @Test("T-C7: a flood at a cold cache causes one load too, also from many at once") func coldFlood() async throws {
        try await FederationWorld.run { world in
            let tokens = try (0..<64).map { try TestKey.otherRSA.named("x-\($0)").sign(payload: world.claims()) }
            await withTaskGroup(of: Void.self) { group in
                for token in tokens { group.addTask { _ = try? await world.verify(token) } }
            }
            for token in tokens { _ = try? await world.verify(token) }
            #expect(world.server.requests(to: "/keys").count == 1)
            #expect(world.server.requests(to: "/.well-known/openid-configuration").count == 1)
        }
    }

    @Test("T-C7: a rotated key is taken at once, a removed one is refused") func rotation() async throws {
        try await FederationWorld.run { world in
            _ = try await world.verify(try world.idToken())
            world.publishKeys(.otherRSA)
            _ = try await world.verify(try world.idToken(key: .otherRSA))
            #expect(world.server.requests(to: "/keys").count == 2)
            await #expect(throws: FederationError.signatureInvalid(.unknownKey)) {
                try await world.verify(try world.idToken())
            }
        }
    }

    @Test("T-C7: a key that changes without a new id is found by one fetch an interval", arguments: [nil, "same"])
    func rotationWithoutID(_ id: String?) async throws {
        try await FederationWorld.run { world in
            let (old, new, foreign) = (TestKey.rsa.named(id), TestKey.otherRSA.named(id), TestKey.third.named(id))
            world.publishKeys(old)
            _ = try await world.verify(try world.idToken(key: old))
            world.publishKeys(new)
            _ = try await world.verify(try world.idToken(key: new))
            #expect(world.server.requests(to: "/keys").count == 2)
            for _ in 0..<10 {
                await #expect(throws: FederationError.signatureInvalid(.signature)) {
                    try await world.verify(try world.idToken(key: foreign))
                }
            }
            #expect(world.server.requests(to: "/keys").count == 2, "forged tokens ask no more often")
            world.clock.advance(60)
            await #expect(throws: FederationError.signatureInvalid(.signature)) {
                try await world.verify(try world.idToken(key: old))
            }
            #expect(world.server.requests(to: "/keys").count == 3)
        }
    }

    @Test("T-C7: a token sent before its key is published is accepted after the interval") func lateKey()
        async throws
    {
        try await FederationWorld.run { world in
            _ = try await world.verify(try world.idToken())
            let early = try world.idToken(key: .otherRSA)
            await #expect(throws: FederationError.signatureInvalid(.unknownKey)) { try await world.verify(early) }
            world.publishKeys(.rsa, .otherRSA)
            await #expect(throws: FederationError.signatureInvalid(.unknownKey)) { try await world.verify(early) }
            world.clock.advance(60)
            _ = try await world.verify(early)
            #expect(world.server.requests(to: "/keys").count == 3)
        }
    }

    @Test(
        "T-C7: a key that vanished is dropped when the keys' life is over",
        arguments: [
            ("max-age=600", 600.0), ("public, max-age=3600, must-revalidate", 3_600), ("no-store", 60),
            ("max-age=1", 60),
            ("max-age=99999999", 86_400), (nil, 3_600),
        ] as [(String?, TimeInterval)]
    )
    func lifetime(_ cacheControl: String?, _ seconds: TimeInterval) async throws {
        try await FederationWorld.run { world in
            let headers = cacheControl.map { [("cache-control", $0)] } ?? []
            world.server.on("/keys", .json(TestKey.jwks(.rsa), headers: headers), .json(TestKey.jwks(.otherRSA)))
            let lasting = try world.idToken(["exp": "\(world.clock.seconds + 200_000)"])
            _ = try await world.verify(lasting)
            world.clock.advance(seconds - 1)
            _ = try await world.verify(lasting)
            #expect(world.server.requests(to: "/keys").count == 1)
            world.clock.advance(1)
            await #expect(throws: FederationError.signatureInvalid(.unknownKey)) { try await world.verify(lasting) }
            #expect(world.server.requests(to: "/keys").count == 2)
        }
    }

    @Test("T-C7: while the provider is down the last keys serve for a day, and it is asked once in an interval")
    func stale() async throws {
        try await FederationWorld.run { world in
            let lasting = try world.idToken(["exp": "\(world.clock.seconds + 900_000)"])
            _ = try await world.verify(lasting)
            world.server.on("/keys", .status(503))
            world.server.on("/.well-known/openid-configuration", .hangUp)
            world.clock.advance(3_600)
            for _ in 0..<20 { _ = try await world.verify(lasting) }
            #expect(world.server.requests(to: "/keys").count == 2)
            #expect(world.server.requests(to: "/.well-known/openid-configuration").count == 2)
            world.clock.advance(60)
            _ = try await world.verify(lasting)
            #expect(world.server.requests(to: "/keys").count == 3)
            world.clock.advance(86_400)
            await #expect(throws: FederationError.issuerUnreachable) { try await world.verify(lasting) }
            world.publishDiscovery()
            world.publishKeys(.rsa)
            _ = try await world.verify(lasting)
        }
    }

    @Test(arguments: [
        "status", "hang up", "HTML", "no keys", "a list", "redirect", "too large", "duplicate members",
    ])
    func keysThatCannotBeHadAreTheProvidersFault(_ fault: String) async throws {
        let replies: [String: ScriptedServer.Reply] = [
            "status": .status(500), "hang up": .hangUp, "HTML": .text("<html>", type: "text/html"),
            "no keys": .json("{}"),
            "a list": .json("[]"), "redirect": .status(302, headers: [("location", "/keys2")]),
            "too large": .json("{\"keys\":[]," + String(repeating: " ", count: 600_000) + "}"),
            "duplicate members": .json("{\"keys\":[],\"keys\":[\(TestKey.rsa.jwk())]}"),
        ]
        let reply = try #require(replies[fault])
        try await FederationWorld.run { world in
            world.server.on("/keys2", .json(TestKey.jwks(.rsa)))
            world.server.on("/keys", reply)
            await #expect(throws: FederationError.issuerUnreachable) { try await world.verify(try world.idToken()) }
            #expect(world.server.requests(to: "/keys2").isEmpty)
            world.publishKeys(.rsa)
            _ = try await world.verify(try world.idToken())
        }
    }

    /// Keys that must neither be used nor spoil the set; each stands before the good one.
    static let useless: [(name: String, jwk: String)] = [
        ("unknown kind", #"{"kty":"XYZ","kid":"rsa-1"}"#), ("symmetric", #"{"kty":"oct","kid":"rsa-1","k":"AAAA"}"#),
        ("for encryption", TestKey.otherRSA.named("rsa-1").jwk(["use": "enc"])),
        ("private", TestKey.otherRSA.named("rsa-1").jwk(["d": "AAAA"])),
        ("another algorithm", TestKey.otherRSA.named("rsa-1").jwk(["alg": "ES256K"])),
        ("algorithm of another kind", TestKey.otherRSA.named("rsa-1").jwk(["alg": "ES256"])),
        ("short", TestKey.otherRSA.named("rsa-1").jwk(["n": Base64URL.encode([UInt8](repeating: 0xc5, count: 128))])),
        ("broken number", TestKey.otherRSA.named("rsa-1").jwk(["n": "!!!"])),
        ("no number", TestKey.otherRSA.named("rsa-1").jwk(["n": ""])),
        ("unknown curve", TestKey.ec.named("rsa-1").jwk(["crv": "P-999"])),
        (
            "point off the curve",
            TestKey.ec.named("rsa-1").jwk(["x": Base64URL.encode([UInt8](repeating: 1, count: 32))])
        ),
        ("no object", "7"), ("null", "null"), ("id is a number", #"{"kty":"RSA","kid":1,"n":"AQ","e":"AQAB"}"#),
    ]

    @Test(arguments: useless.map(\.name)) func aUselessKeyDoesNotSpoilTheSet(_ name: String) async throws {
        let jwk = try #require(Self.useless.first { $0.name == name }?.jwk)
        try await FederationWorld.run { world in
            world.server.on("/keys", .json(TestKey.jwks([jwk, TestKey.rsa.jwk()])))
            _ = try await world.verify(try world.idToken())
            await #expect(throws: FederationError.signatureInvalid(.signature)) {
                try await world.verify(try TestKey.otherRSA.named("rsa-1").sign(payload: world.claims()))
            }
        }
    }

    @Test func aKeyMayLackAlgorithmAndUse() async throws {
        try await FederationWorld.run { world in
            world.server.on("/keys", .json(TestKey.jwks([TestKey.rsa.jwk(["alg": "", "use": ""])])))
            _ = try await world.verify(try world.idToken())
        }
    }

    @Test func aKeyForOtherOperationsIsNotUsed() async throws {
        try await FederationWorld.run { world in
            let jwk = TestKey.rsa.jwk()
            let other = jwk.dropLast() + #","key_ops":["encrypt"]}"#
            world.server.on("/keys", .json(TestKey.jwks([String(other)])))
            await #expect(throws: FederationError.signatureInvalid(.unknownKey)) {
                try await world.verify(try world.idToken())
            }
        }
    }

    @Test func findsItsKeyAmongTwoHundred() async throws {
        try await FederationWorld.run { world in
            let many = (0..<200).map { TestKey.otherRSA.named("other-\($0)").jwk() }
            world.server.on("/keys", .json(TestKey.jwks(many + [TestKey.rsa.jwk()])))
            _ = try await world.verify(try world.idToken())
        }
    }

    @Test func anIDThatIsPublishedTwiceMeansEither() async throws {
        try await FederationWorld.run { world in
            world.publishKeys(.otherRSA.named("rsa-1"), .rsa)
            _ = try await world.verify(try world.idToken())
        }
    }

    @Test func aTokenWithoutKeyIDNeedsTheOnlyFittingKey() async throws {
        try await FederationWorld.run { world in
            world.publishKeys(.rsa, .ec)
            let token = try world.idToken(key: .rsa.named(nil))
            _ = try await world.verify(token)
            world.publishKeys(.rsa, .otherRSA)
            world.clock.advance(3_600)
            await #expect(throws: FederationError.signatureInvalid(.unknownKey)) {
                try await world.verify(try world.idToken(key: .rsa.named(nil)))
            }
        }
    }

    @Test func oneTokenCannotPinAKeysAlgorithmForTheNext() async throws {
        try await FederationWorld.run { world in
            world.publishDiscovery(["id_token_signing_alg_values_supported": #"["RS256","RS512"]"#])
            world.server.on("/keys", .json(TestKey.jwks([TestKey.rsa.jwk(["alg": ""])])))
            let forged = try TestKey.otherRSA.sign(payload: world.claims(), header: #"{"alg":"RS512","kid":"rsa-1"}"#)
            await #expect(throws: FederationError.signatureInvalid(.signature)) { try await world.verify(forged) }
            _ = try await world.verify(try world.idToken())
        }
    }
}
