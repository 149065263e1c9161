import Crypto
import Domain
import Federation
import Foundation
import Outbound
import Projects
import Secrets
import Synchronization
import Testing
import TestKit

@Suite struct DiscoveryTests {
    @Test(arguments: ["", "/", "x", nil] as [String?])
    func theIssuerMustBeTheConfiguredOne(_ suffix: String?) async throws {
        try await FederationWorld.run { world in
            world.publishDiscovery(["issuer": suffix.map { "\"https://other.example\($0)\"" }])
            await #expect(
                throws: FederationError.misconfigured(
                    InvalidDefinition(member: "issuer", problem: "does not match the provider's discovery")
                )
            ) { try await world.start(world.oidc()) }
        }
    }

    @Test(arguments: [
        ("authorization_endpoint", "authorization", "https://evil.example/a", true),
        ("token_endpoint", "token", "https://evil.example/t", true),
        ("token_endpoint", "token", "http://192.0.2.1/t", true),
        ("token_endpoint", "token", "http://127.0.0.1.evil.example/t", true),
        ("jwks_uri", "keys", "https://evil.example/k", true), ("jwks_uri", "keys", "file:///etc/passwd", true),
        ("userinfo_endpoint", "userInfo", "https://evil.example/u", false),
    ])
    func anEndpointElsewhereMustBeStatedByTheAdmin(
        _ member: String,
        _ name: String,
        _ url: String,
        _ fatal: Bool
    ) async throws {
        try await FederationWorld.run { world in
            world.publishDiscovery([member: "\"\(url)\""])
            guard fatal else {
                let configuration = world.oidc()
                let request = try await world.start(configuration)
                try world.answerToken(for: request)
                // A foreign host never sees the access token.
                _ = try await world.finish(request, configuration)
                return
            }
            do {
                _ = try await world.start(world.oidc())
                Issue.record("taken")
            } catch FederationError.misconfigured(let problem) {
                #expect(problem.description.contains(name))
            }
            let stated = world.oidc(definition: #"{"endpoints":{"\#(name)":"\#(world.issuer)/mine"}}"#)
            _ = try await world.start(stated)
        }
    }

    @Test func aHostThatTheDefinitionListsMayHaveEndpoints() async throws {
        try await FederationWorld.run { world in
            world.publishDiscovery(["token_endpoint": #""https://token.example/t""#])
            let configuration = world.oidc(definition: #"{"endpointHosts":["token.example"]}"#)
            let request = try await world.start(configuration)
            #expect(request.flow.tokenEndpoint == "https://token.example/t")
        }
    }

    @Test("R-01: Yahoo! JAPAN's discovery names endpoints on a second host of its own")
    func yahooJapan() async throws {
        try await FederationWorld.run { world in
            world.publishDiscovery(["token_endpoint": #""https://userinfo.yahooapis.jp/t""#])
            var configuration = world.oidc(definition: #"{"issuers":["\#(world.issuer)"]}"#)
            configuration.provider = "oidc.yahoojp"
            let request = try await world.start(configuration)
            #expect(request.flow.tokenEndpoint == "https://userinfo.yahooapis.jp/t")
        }
    }

    @Test(arguments: [("token_endpoint", "token"), ("authorization_endpoint", "authorization")])
    func aMissingEndpointIsAConfigurationError(_ member: String, _ name: String) async throws {
        try await FederationWorld.run { world in
            world.publishDiscovery([member: nil])
            await #expect(
                throws: FederationError.misconfigured(
                    InvalidDefinition(member: "definition.endpoints.\(name)", problem: "is missing in discovery")
                )
            ) { try await world.start(world.oidc()) }
        }
    }

    @Test func missingKeysMatterWhenATokenIsVerified() async throws {
        try await FederationWorld.run { world in
            world.publishDiscovery(["jwks_uri": nil])
            await #expect(
                throws: FederationError.misconfigured(
                    InvalidDefinition(member: "definition.endpoints.keys", problem: "is missing in discovery")
                )
            ) { try await world.verify(try world.idToken()) }
        }
    }

    @Test func isReadOnceAndAgainWhenItsLifeIsOver() async throws {
        try await FederationWorld.run { world in
            world.publishDiscovery(headers: [("cache-control", "max-age=600")])
            let path = "/.well-known/openid-configuration"
            for _ in 0..<5 { _ = try await world.start(world.oidc()) }
            #expect(world.server.requests(to: path).count == 1)
            world.publishDiscovery(["token_endpoint": "\"\(world.issuer)/token2\""])
            world.clock.advance(600)
            let request = try await world.start(world.oidc())
            #expect(request.flow.tokenEndpoint == world.issuer + "/token2")
            #expect(world.server.requests(to: path).count == 2)
        }
    }

    @Test("T-E11: a project's documents, however many and however long they may be kept, push out no other's")
    func shares() async throws {
        try await FederationWorld.run { world in
            func start(_ path: String, for project: String) async throws {
                let project = try #require(ProjectID(rawValue: project))
                let definition =
                    path.isEmpty
                    ? nil
                    : """
                    {"endpoints":{"authorization":"\(world.issuer)/a","token":"\(world.issuer)/t",\
                    "keys":"\(world.issuer)/k"},"discoveryURL":"\(world.issuer)\(path)"}
                    """
                _ = try await world.service.calling(for: project) {
                    try await world.start(world.oidc(definition: definition))
                }
            }
            func loads(_ path: String) -> Int { world.server.requests(to: path).count }
            let own = "/.well-known/openid-configuration"
            world.publishDiscovery(headers: [("cache-control", "max-age=600")])
            for number in 0..<1_100 {
                let document = "{\"issuer\":\"\(world.issuer)\"}"
                world.server.on("/many/\(number)", .json(document, headers: [("cache-control", "max-age=86400")]))
            }
            try await start("", for: "tea-room")
            for number in 0..<1_100 {
                try await start("/many/\(number)", for: "coffee-house")
                try await start("/many/0", for: "coffee-house")
            }
            try await start("", for: "tea-room")
            #expect(loads(own) == 1)
            // Of its own, those that it used last are there: a quarter of all.
            #expect(loads("/many/0") == 1)
            try await start("/many/845", for: "coffee-house")
            #expect(loads("/many/845") == 1)
            try await start("/many/700", for: "coffee-house")
            #expect(loads("/many/700") == 2)
        }
    }

    @Test("T-E11: of a document, only what is read is kept, and that has a limit")
    func limits() async throws {
        try await FederationWorld.run { world in
            let large = "[\"" + String(repeating: "x", count: 40_000) + "\"]"
            world.publishDiscovery(["claims_supported": large])
            _ = try await world.start(world.oidc())
            // Beyond the time for which an old document serves.
            world.clock.advance(100_000)
            world.publishDiscovery(["scopes_supported": large])
            await #expect(throws: FederationError.issuerUnreachable) { try await world.start(world.oidc()) }
        }
    }

    @Test func manyAtOnceShareOneRead() async throws {
        try await FederationWorld.run { world in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<50 { group.addTask { _ = try await world.start(world.oidc()) } }
                try await group.waitForAll()
            }
            #expect(world.server.requests(to: "/.well-known/openid-configuration").count == 1)
        }
    }

    @Test("T-E36: a provider that hangs costs one timeout, holds 513 callers, and has a pause as long")
    func hanging() async throws {
        try await FederationWorld.run { world in
            let path = "/.well-known/openid-configuration"
            world.server.on(path, .stall())
            @Sendable func start() async throws -> FederationError? {
                do {
                    _ = try await world.start(world.oidc())
                    return nil
                } catch let error as FederationError {
                    return error
                }
            }
            try await withThrowingTaskGroup(of: FederationError?.self) { group in
                for _ in 0..<528 { group.addTask { try await start() } }
                // One reads, 512 wait for it, the others are told so at once.
                for _ in 0..<15 { #expect(try await group.next() == .overloaded) }
                world.clock.advance(7)
                try await world.timeRunsOut(at: path)
                for try await outcome in group { #expect(outcome == .issuerUnreachable) }
            }
            world.publishDiscovery()
            world.clock.advance(6)
            #expect(try await start() == .issuerUnreachable)
            #expect(world.server.requests(to: path).count == 1)
            world.clock.advance(1)
            #expect(try await start() == nil)
            #expect(world.server.requests(to: path).count == 2)
        }
    }

    @Test("T-E36: those for whom there is no room to wait get the document of before, while it may be used")
    func hangingWithAnOldDocument() async throws {
        try await FederationWorld.run { world in
            let path = "/.well-known/openid-configuration"
            _ = try await world.start(world.oidc())
            world.clock.advance(3_600)
            world.server.on(path, .stall())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<528 { group.addTask { _ = try await world.start(world.oidc()) } }
                for _ in 0..<15 { try await group.next() }
                try await waitUntil { world.server.requests(to: path).count == 2 }
                try await world.time.runOut()
                try await group.waitForAll()
            }
            #expect(world.server.requests(to: path).count == 2)
        }
    }

    @Test func aFailedFirstReadIsTriedAgainByTheNextSignIn() async throws {
        try await FederationWorld.run { world in
            world.server.on("/.well-known/openid-configuration", .status(503))
            await #expect(throws: FederationError.issuerUnreachable) { try await world.start(world.oidc()) }
            world.publishDiscovery()
            _ = try await world.start(world.oidc())
        }
    }

    @Test(
        "T-B18: files that are not documents are unreachable",
        arguments: ["", "{", "[]", "<html>", "{\"issuer\":1,\"issuer\":2}"]
    )
    func whatIsNoDocumentIsUnreachable(_ body: String) async throws {
        try await FederationWorld.run { world in
            world.server.on("/.well-known/openid-configuration", .json(body))
            await #expect(throws: FederationError.issuerUnreachable) { try await world.start(world.oidc()) }
        }
    }

    @Test func googleWorksOnBuiltInEndpointsWhileItsDiscoveryIsDown() async throws {
        let lookups = Mutex(0)
        let resolver = AddressResolver { _ in
            lookups.withLock { $0 += 1 }
            return []
        }
        // Only the discovery's own memory counts here, not that of the lookup.
        var limits = OutboundLimits()
        limits.lookupPause = .zero
        let http = OutboundClient(policy: AddressPolicy(), limits: limits, resolver: resolver)
        let clock = StillClock()
        let service = FederationService(http: http, now: { clock.now })
        let configuration = ProviderConfiguration(provider: .google, enabled: true, clientID: "client-1")
        for _ in 0..<3 {
            let request = try await service.authorizationRequest(
                for: configuration,
                AuthorizationOptions(redirectURI: "https://app.example.com/callback")
            )
            #expect(request.url.hasPrefix("https://accounts.google.com/o/oauth2/v2/auth?"))
            #expect(request.flow.tokenEndpoint == "https://oauth2.googleapis.com/token")
            #expect(request.flow.issuer == "https://accounts.google.com")
            #expect(request.flow.pkceVerifier != nil)
        }
        // Nobody waits for a provider that was down a moment ago.
        #expect(lookups.withLock { $0 } == 1)
        clock.advance(60)
        _ = try await service.authorizationRequest(
            for: configuration,
            AuthorizationOptions(redirectURI: "https://app.example.com/callback")
        )
        #expect(lookups.withLock { $0 } == 2)
        await http.shutdown()
    }

    @Test func aMovedGoogleHasNothingBuiltInToFallBackOn() async throws {
        try await FederationWorld.run { world in
            world.server.on("/.well-known/openid-configuration", .status(500))
            await #expect(throws: FederationError.issuerUnreachable) { try await world.start(world.google()) }
        }
    }

    @Test(
        "each built-in provider works while its discovery is down",
        arguments: [
            (
                "yahoo.com", "https://api.login.yahoo.com/oauth2/request_auth?",
                "https://api.login.yahoo.com/oauth2/get_token"
            ),
            (
                "linkedin.com", "https://www.linkedin.com/oauth/v2/authorization?",
                "https://www.linkedin.com/oauth/v2/accessToken"
            ),
            ("oidc.slack", "https://slack.com/openid/connect/authorize?", "https://slack.com/api/openid.connect.token"),
            ("oidc.gitlab", "https://gitlab.com/oauth/authorize?", "https://gitlab.com/oauth/token"),
            ("oidc.line", "https://access.line.me/oauth2/v2.1/authorize?", "https://api.line.me/oauth2/v2.1/token"),
            (
                "oidc.daccount", "https://id.smt.docomo.ne.jp/cgi8/oidc/authorize?",
                "https://conf.uw.docomo.ne.jp/token"
            ),
        ]
    )
    func builtInEndpoints(_ id: String, _ authorization: String, _ token: String) async throws {
        let http = OutboundClient(policy: AddressPolicy(), resolver: AddressResolver { _ in [] })
        let clock = StillClock()
        let service = FederationService(http: http, now: { clock.now })
        let configuration = ProviderConfiguration(
            provider: ProviderID(id),
            enabled: true,
            clientID: "client-1",
            clientSecret: Secret("s3cret")
        )
        let request = try await service.authorizationRequest(
            for: configuration,
            AuthorizationOptions(redirectURI: "https://app.example.com/callback")
        )
        #expect(request.url.hasPrefix(authorization), "\(request.url)")
        #expect(request.flow.tokenEndpoint == token)
        // At a server of one's own, nothing is sent to the one that everybody uses.
        guard id == "oidc.gitlab" else { return await http.shutdown() }
        var own = configuration
        own.issuer = "https://gitlab.example"
        await #expect(throws: FederationError.issuerUnreachable) {
            try await service.authorizationRequest(
                for: own,
                AuthorizationOptions(redirectURI: "https://app.example.com/callback")
            )
        }
        await http.shutdown()
    }

    @Test(
        "the Digital Agency's app gets a challenge, a nonce and acr_values, in the sandbox too",
        arguments: [
            (nil, "https://auth-and-sign.go.jp/api/realms/main"),
            ("https://sb-auth-and-sign.go.jp/api/realms/main", "https://sb-auth-and-sign.go.jp/api/realms/main"),
        ] as [(String?, String)]
    )
    func digitalAuth(_ base: String?, _ issuer: String) async throws {
        let http = OutboundClient(policy: AddressPolicy(), resolver: AddressResolver { _ in [] })
        let clock = StillClock()
        let service = FederationService(http: http, now: { clock.now })
        let configuration = ProviderConfiguration(
            provider: ProviderID("oidc.digitalauth"),
            enabled: true,
            clientID: "client-1",
            clientSecret: Secret(P256.Signing.PrivateKey().pemRepresentation),
            overrides: base.map { #"{"variables":{"base":"\#($0)"}}"# }
        )
        let request = try await service.authorizationRequest(
            for: configuration,
            AuthorizationOptions(
                redirectURI: "https://app.example.com/callback",
                scopes: ["name"],
                customParameters: ["acr_values": "aal3 crl"]
            )
        )
        #expect(request.url.hasPrefix(issuer + "/protocol/openid-connect/auth?"), "\(request.url)")
        for part in ["scope=openid%20name&", "acr_values=aal3%20crl", "code_challenge_method=S256", "&nonce="] {
            #expect(request.url.contains(part), "\(request.url)")
        }
        #expect(request.flow.tokenEndpoint == issuer + "/protocol/openid-connect/token")
        #expect(request.flow.pkceVerifier != nil && request.flow.nonce != nil)
        await http.shutdown()
    }

    @Test func theAddressOfDiscoveryMayBeStated() async throws {
        try await FederationWorld.run { world in
            world.server.on(
                "/elsewhere",
                .json(
                    """
                    {"issuer":"\(world.issuer)","authorization_endpoint":"\(world.issuer)/a","token_endpoint":"\(world.issuer)/t",
                     "jwks_uri":"\(world.issuer)/keys"}
                    """
                )
            )
            let configuration = world.oidc(definition: #"{"discoveryURL":"\#(world.issuer)/elsewhere"}"#)
            let request = try await world.start(configuration)
            #expect(request.url.hasPrefix(world.issuer + "/a?"))
        }
    }

    @Test func aDefinitionMayDoWithoutDiscovery() async throws {
        try await FederationWorld.run { world in
            let configuration = world.oidc(
                definition: """
                    {"discovery":"never","endpoints":{"authorization":"\(world.issuer)/a","token":"\(world.issuer)/token",
                     "keys":"\(world.issuer)/keys"}}
                    """
            )
            let request = try await world.start(configuration)
            try world.answerToken(for: request)
            _ = try await world.finish(request, configuration)
            #expect(world.server.requests(to: "/.well-known/openid-configuration").isEmpty)
        }
    }
}
