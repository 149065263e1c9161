import Crypto
import Domain
import Federation
import Foundation
import Projects
import Secrets
import Testing

@Suite struct AuthorizationRequestTests {
    /// The parameters of a URL in order, still encoded.
    private func pairs(_ url: String) -> [(name: String, value: String)] {
        (url.split(separator: "?", maxSplits: 1).dropFirst().first ?? "").split(separator: "&").map { part in
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(pair[0]), pair.count == 2 ? String(pair[1]) : "")
        }
    }

    private func value(_ name: String, in url: String) -> String? {
        pairs(url).first { $0.name == name }?.value.removingPercentEncoding
    }

    @Test func asksForACodeWithStateNonceAndChallenge() async throws {
        try await FederationWorld.run { world in
            let request = try await world.start(world.oidc(), scopes: ["calendar", "email"])
            let verifier = try #require(request.flow.pkceVerifier)
            let challenge = Base64URL.encode(SHA256.hash(data: Array(verifier.utf8)).map { $0 })
            #expect(request.url.hasPrefix(world.issuer + "/authorize?"))
            #expect(value("response_type", in: request.url) == "code")
            #expect(value("client_id", in: request.url) == "client-1")
            #expect(value("redirect_uri", in: request.url) == "https://app.example.com/callback")
            #expect(value("scope", in: request.url) == "openid email profile calendar")
            #expect(value("nonce", in: request.url) == request.flow.nonce)
            #expect(value("code_challenge", in: request.url) == challenge)
            #expect(value("code_challenge_method", in: request.url) == "S256")
            #expect(request.url.contains("scope=openid%20email%20profile%20calendar"))
            #expect(!request.url.contains("+"))
            #expect(verifier.utf8.count == 43)
            #expect(request.flow.tokenEndpoint == world.issuer + "/token")
            #expect(request.flow.issuer == world.issuer)
        }
    }

    @Test("R-62: every request has a state of 256 bits of its own, and its flow takes no callback without it")
    func state() async throws {
        try await FederationWorld.run { world in
            let configuration = world.github()
            let first = try await world.start(configuration)
            let second = try await world.start(configuration)
            #expect(value("state", in: first.url) == first.state.reveal())
            #expect(Base64URL.decode(first.state.reveal())?.count == 32)
            #expect(first.state != second.state)
            #expect(first.flow.stateHash == SecureHash.sha256(first.state.reveal()))
            for query in ["code=c", "code=c&state=", "code=c&state=\(second.state.reveal())"] {
                await #expect(throws: FederationError.stateMismatch) {
                    try await world.finish(first, configuration, query: query)
                }
            }
            #expect(world.server.requests.isEmpty)
        }
    }

    @Test("R-26: custom parameters are passed on") func customParameters() async throws {
        try await FederationWorld.run { world in
            let request = try await world.start(
                world.oidc(),
                customParameters: ["prompt": "select_account", "language": "de fr", "max_age": "60"]
            )
            #expect(value("prompt", in: request.url) == "select_account")
            #expect(value("language", in: request.url) == "de fr")
            #expect(value("max_age", in: request.url) == "60")
            #expect(request.flow.maxAge == 60)
        }
    }

    @Test(
        "R-27, T-B8: names that the service sets are refused in any case of letters",
        arguments: [
            "client_id", "redirect_uri", "response_type", "scope", "state", "nonce", "code_challenge",
            "code_challenge_method", "response_mode", "request", "request_uri", "client_secret", "client_assertion",
            "client_assertion_type", "claims",
        ]
    )
    func reserved(_ name: String) async throws {
        try await FederationWorld.run { world in
            let mixed = String(
                name.enumerated().map { $0.offset % 2 == 0 ? Character($0.element.uppercased()) : $0.element }
            )
            for spelling in [name, name.uppercased(), mixed] {
                await #expect(throws: FederationError.customParameterNotAllowed(name: spelling)) {
                    try await world.start(world.oidc(), customParameters: [spelling: "evil"])
                }
            }
            #expect(world.server.requests.isEmpty)
        }
    }

    @Test("T-B8: no parameter occurs twice in the URL, whatever sets it") func noDuplicates() async throws {
        try await FederationWorld.run { world in
            await #expect(throws: FederationError.self) {
                try await world.start(world.oidc(), customParameters: ["prompt": "none", "Prompt": "login"])
            }
            let endpoint = world.issuer + "/authorize?tenant=a&prompt=login&STATE=evil&client_id=evil"
            world.publishDiscovery(["authorization_endpoint": "\"\(endpoint)\""])
            let configuration = world.oidc(
                definition: #"{"extraAuthorizationParameters":{"prompt":"none","bail":"1"}}"#
            )
            let request = try await world.start(configuration, customParameters: ["prompt": "consent"])
            let names = pairs(request.url).map { $0.name.lowercased() }
            #expect(names.count == Set(names).count)
            #expect(value("tenant", in: request.url) == "a")
            #expect(value("prompt", in: request.url) == "consent")
            #expect(value("bail", in: request.url) == "1")
            #expect(value("state", in: request.url) == request.state.reveal())
            #expect(value("client_id", in: request.url) == "client-1")
        }
    }

    @Test("T-B8: a definition may name the only parameters that it takes") func allowList() async throws {
        try await FederationWorld.run { world in
            let configuration = world.oidc(definition: #"{"allowedCustomParameters":["prompt"]}"#)
            _ = try await world.start(configuration, customParameters: ["prompt": "none"])
            await #expect(throws: FederationError.customParameterNotAllowed(name: "login_hint")) {
                try await world.start(configuration, customParameters: ["login_hint": "victim@example.com"])
            }
        }
    }

    @Test(
        "T-B8: parameters with control characters or odd names are refused",
        arguments: ["a b", "a&b", "", "a=b", "ä"]
    )
    func oddNames(_ name: String) async throws {
        try await FederationWorld.run { world in
            await #expect(throws: FederationError.self) {
                try await world.start(world.oidc(), customParameters: [name: "x"])
            }
            await #expect(throws: FederationError.customParameterNotAllowed(name: "prompt")) {
                try await world.start(world.oidc(), customParameters: ["prompt": "x\r\ny"])
            }
        }
    }

    @Test("R-54: scopes are optional and may be URLs") func scopes() async throws {
        try await FederationWorld.run { world in
            let none = try await world.start(world.oauth2())
            #expect(value("scope", in: none.url) == nil)
            let url = try await world.start(world.oauth2(), scopes: ["https://cloud.example.com/subscriptions"])
            #expect(value("scope", in: url.url) == "https://cloud.example.com/subscriptions")
            let comma = try await world.start(
                world.oauth2(#""scopes":{"default":["a","b"],"separator":","}"#),
                scopes: ["b", "c"]
            )
            #expect(value("scope", in: comma.url) == "a,b,c")
            await #expect(throws: FederationError.customParameterNotAllowed(name: "scope")) {
                try await world.start(world.oauth2(), scopes: ["a b"])
            }
        }
    }

    @Test(
        "R-47, R-55: the redirect URI is sent byte for byte in both requests",
        arguments: [
            "http://localhost", "http://localhost/", "yj-xxxxx:/", "yyokii://GithubSearchApp",
            "https://App.Example.com:443/Cb/%7Ex?keep=1",
        ]
    )
    func redirectURI(_ redirectURI: String) async throws {
        try await FederationWorld.run { world in
            let configuration = world.oidc()
            let request = try await world.start(configuration, redirectURI: redirectURI)
            #expect(value("redirect_uri", in: request.url) == redirectURI)
            try world.answerToken(for: request)
            let joiner = redirectURI.contains("?") ? "&" : "?"
            let callback = try ProviderCallback(
                requestURI: redirectURI + joiner + "code=c&state=" + request.state.reveal(),
                postBody: nil
            )
            _ = try await world.service.redeem(callback, flow: request.flow, with: configuration)
            #expect(world.server.requests(to: "/token").first?.field("redirect_uri") == redirectURI)
        }
    }

    @Test("R-56: where the definition leaves the redirect URI out, both requests lack it") func omittedRedirect()
        async throws
    {
        try await FederationWorld.run { world in
            let configuration = world.oauth2(#""redirect":"omit""#)
            let request = try await world.start(configuration)
            #expect(value("redirect_uri", in: request.url) == nil)
            world.server.on("/token", .json(#"{"access_token":"at-1"}"#))
            world.server.on("/profile", .json(#"{"id":"u-1"}"#))
            _ = try await world.finish(request, configuration)
            let exchange = try #require(world.server.requests(to: "/token").first)
            #expect(exchange.field("redirect_uri") == nil)
            #expect(exchange.field("code") == "code-1")
        }
    }

    @Test(arguments: [
        "", "callback", "/callback", "https://", "https:///x", "https://a.example/#f", "https://u:p@a.example/",
        "javascript:alert(1)", "data:text/html,x", "https://a.example/\\evil", "https://a.example/ x",
        "https://a.example/?state=1", "https://a.example/?code=1", "https://ä.example/",
    ])
    func refusesARedirectURI(_ redirectURI: String) async throws {
        try await FederationWorld.run { world in
            await #expect(throws: FederationError.invalidRedirectURI) {
                try await world.start(world.oidc(), redirectURI: redirectURI)
            }
        }
    }

    @Test func takesOnlyRegisteredRedirectURIsWhereTheyAreListed() async throws {
        try await FederationWorld.run { world in
            let configuration = world.oidc(definition: #"{"redirectURIs":["http://localhost"]}"#)
            _ = try await world.start(configuration, redirectURI: "http://localhost")
            await #expect(throws: FederationError.invalidRedirectURI) {
                try await world.start(configuration, redirectURI: "http://localhost/")
            }
        }
    }

    @Test(
        arguments: [
            (#"{"pkce":"none"}"#, nil, false), (#"{"pkce":"required"}"#, nil, true), (nil, nil, false),
            (nil, "[\"plain\"]", false), (nil, "[\"plain\",\"S256\"]", true),
        ] as [(String?, String?, Bool)]
    )
    func sendsAChallengeWhereItIsTaken(_ definition: String?, _ advertised: String?, _ expected: Bool) async throws {
        try await FederationWorld.run { world in
            world.publishDiscovery(["code_challenge_methods_supported": advertised])
            let request = try await world.start(world.oidc(definition: definition))
            #expect((request.flow.pkceVerifier != nil) == expected)
            #expect(request.url.contains("code_challenge") == expected)
        }
    }

    @Test func refusesADisabledProvider() async throws {
        try await FederationWorld.run { world in
            var configuration = world.oidc()
            configuration.enabled = false
            await #expect(throws: FederationError.providerDisabled) { try await world.start(configuration) }
            #expect(world.server.requests.isEmpty)
        }
    }

    @Test func showsNothingSecretWhenPrinted() async throws {
        try await FederationWorld.run { world in
            let request = try await world.start(world.oidc())
            var printed = "\(request.flow) \(String(reflecting: request.flow))"
            dump(request.flow, to: &printed)
            #expect(!printed.contains(try #require(request.flow.nonce)))
            #expect(!printed.contains(try #require(request.flow.pkceVerifier)))
        }
    }
}
