import Domain
import Federation
import Secrets
import Testing

@Suite struct CallbackTests {
    @Test func mergesQueryBodyAndFragment() throws {
        let callback = try ProviderCallback(
            requestURI: "https://app.example.com/cb?providerId=Google.com&hd=a#hd=c&x=1",
            postBody: "hd=b&y=a+b%20c"
        )
        #expect(callback.provider == .google)
        #expect(callback["hd"] == "c")
        #expect(callback["x"] == "1")
        #expect(callback["y"] == "a b c")
        #expect(callback.address == "https://app.example.com/cb")
        #expect(callback.credential == nil)
    }

    @Test func leavesPlusAndHalfEncodedTextInTokensAlone() throws {
        let callback = try ProviderCallback(
            requestURI: "http://localhost",
            postBody: "id_token=a+b/c==&access_token=x%2By%zz&nonce=n+1&providerId=oidc.Acme"
        )
        let credential = try #require(callback.credential)
        #expect(credential.idToken == Secret("a+b/c=="))
        #expect(credential.accessToken == Secret("x+y%zz"))
        #expect(credential.nonce == Secret("n+1"))
        #expect(callback.provider == ProviderID("oidc.acme"))
    }

    @Test(arguments: ["code", "state", "id_token", "access_token", "error", "iss", "nonce"])
    func refusesADecisiveParameterThatComesTwice(_ name: String) {
        for (uri, body) in [
            ("https://a.example/?\(name)=1&\(name)=1", nil), ("https://a.example/?\(name)=1", "\(name)=1"),
            ("https://a.example/?\(name)=1#\(name)=2", nil), ("https://a.example/", "\(name)=1&\(name)=2"),
        ] as [(String, String?)] {
            #expect(throws: FederationError.duplicateParameter(name: name)) {
                try ProviderCallback(requestURI: uri, postBody: body)
            }
        }
    }

    @Test(arguments: ["", "callback", "/cb?code=1", "https://a.example/ b", "https://a.example/ü"])
    func refusesWhatIsNoURI(_ uri: String) {
        #expect(throws: FederationError.invalidRequestURI) { try ProviderCallback(requestURI: uri, postBody: nil) }
    }

    @Test func printsNothingOfACallback() throws {
        let callback = try ProviderCallback(requestURI: "https://a.example/?code=hidden-code", postBody: nil)
        var printed = "\(callback) \(String(reflecting: callback))"
        dump(callback, to: &printed)
        #expect(!printed.contains("hidden-code"))
    }

    @Test(
        "R-47, R-55: a callback comes home when scheme and host differ in case, and an empty path is /",
        arguments: [
            ("http://localhost", "http://localhost/", true), ("http://localhost/", "http://localhost", true),
            ("yyokii://GithubSearchApp", "yyokii://githubsearchapp", true),
            ("yyokii://GithubSearchApp", "YYOKII://GithubSearchApp/", true), ("yj-xxxxx:/", "yj-xxxxx:/", true),
            ("yj-xxxxx:/", "yj-xxxxx://evil/", false), ("https://a.example/cb", "https://a.example:443/cb", true),
            ("https://a.example/cb", "https://a.example/CB", false),
            ("https://a.example/cb", "https://a.example/cb/", false),
            ("https://a.example/cb", "https://a.example/cb/../evil", false),
            ("https://a.example/cb", "https://b.example/cb", false),
            ("https://a.example/cb", "https://a.example.evil.example/cb", false),
            ("https://a.example/cb", "https://a.example@evil.example/cb", false),
            ("https://a.example/cb", "http://a.example/cb", false),
            ("https://a.example/cb", "https://a.example:8443/cb", false),
            ("https://a.example/cb?k=1", "https://a.example/cb?k=1", true),
            ("https://a.example/cb?k=1", "https://a.example/cb?k=2", false),
            ("https://a.example/cb?k=1", "https://a.example/cb", false),
        ]
    )
    func comesHome(_ registered: String, _ arrived: String, _ expected: Bool) async throws {
        try await FederationWorld.run { world in
            let configuration = world.oidc()
            let request = try await world.start(configuration, redirectURI: registered)
            try world.answerToken(for: request)
            let joiner = arrived.contains("?") ? "&" : "?"
            let callback = try ProviderCallback(
                requestURI: arrived + joiner + "code=c&state=" + request.state.reveal(),
                postBody: nil
            )
            if expected {
                _ = try await world.service.redeem(callback, flow: request.flow, with: configuration)
            } else {
                await #expect(throws: FederationError.callbackMismatch) {
                    try await world.service.redeem(callback, flow: request.flow, with: configuration)
                }
                #expect(world.server.requests(to: "/token").isEmpty)
            }
        }
    }

    @Test(
        arguments: [
            ("error=access_denied", .cancelled), ("error=user_cancelled_authorize", .cancelled), ("", .cancelled),
            ("error=user_cancelled_login", .cancelled), ("error=user_denied", .cancelled),
            ("denied=token", .cancelled), ("error=access_denied&code=c", .cancelled),
            ("error=login_required", .interactionRequired(error: "login_required")),
            ("error=consent_required", .interactionRequired(error: "consent_required")),
            ("error=interaction_required", .interactionRequired(error: "interaction_required")),
            ("error=account_selection_required", .interactionRequired(error: "account_selection_required")),
            (
                "error=invalid_scope&error_description=no+such%20scope",
                .scopeRefused(error: "invalid_scope", description: "no such scope")
            ),
            ("error=server_error", .unavailable(.serverError)),
            ("error=temporarily_unavailable", .unavailable(.serverError)),
            ("error=odd&code=c", .providerError(error: "odd", description: nil)),
            (
                "error=%0d%0aX-Evil:%201&error_description=a%0d%0ab%E2%80%A8c%3Cscript%3E",
                .providerError(error: "__X-Evil__1", description: "a  b c<script>")
            ),
            (
                "error=x&error_description=" + String(repeating: "%C3%A9", count: 201),
                .providerError(error: "x", description: String(repeating: "é", count: 200))
            ),
            ("code=a%00b", .codeRejected(error: "malformed")), ("code=a%0d%0ab", .codeRejected(error: "malformed")),
        ] as [(String, FederationError)]
    )
    func mapsWhatTheProviderSays(_ query: String, _ expected: FederationError) async throws {
        try await FederationWorld.run { world in
            let configuration = world.oidc()
            let request = try await world.start(configuration)
            await #expect(throws: expected) {
                try await world.finish(request, configuration, query: "\(query)&state=\(request.state.reveal())")
            }
            #expect(world.server.requests(to: "/token").isEmpty)
        }
    }

    @Test("T-B3: another issuer's answer is refused, and its code goes nowhere") func foreignIssuer() async throws {
        try await FederationWorld.run { honest in
            try await ScriptedServer.run { evil in
                let configuration = honest.oidc()
                let request = try await honest.start(configuration)
                let state = request.state.reveal()
                for issuer in [evil.base, honest.issuer + "/", honest.issuer.uppercased(), "x"] {
                    await #expect(throws: FederationError.issuerParameterMismatch) {
                        try await honest.finish(request, configuration, query: "code=c&state=\(state)&iss=\(issuer)")
                    }
                    await #expect(throws: FederationError.issuerParameterMismatch) {
                        try await honest.finish(
                            request,
                            configuration,
                            query: "error=access_denied&state=\(state)&iss=\(issuer)"
                        )
                    }
                }
                #expect(honest.server.requests(to: "/token").isEmpty)
                #expect(evil.requests.isEmpty)
                try honest.answerToken(for: request)
                _ = try await honest.finish(
                    request,
                    configuration,
                    query: "code=c&state=\(state)&iss=\(honest.issuer)"
                )
            }
        }
    }

    @Test("T-B3: where the provider announces iss, an answer without it is refused") func missingIssuer() async throws {
        try await FederationWorld.run { world in
            world.publishDiscovery(["authorization_response_iss_parameter_supported": "true"])
            let configuration = world.oidc()
            let request = try await world.start(configuration)
            #expect(request.flow.requiresIssuerParameter)
            await #expect(throws: FederationError.issuerParameterMismatch) {
                try await world.finish(request, configuration)
            }
            #expect(world.server.requests(to: "/token").isEmpty)
        }
    }

    @Test("T-B3: a code goes to the token endpoint of the flow's start, whatever discovery says by then")
    func storedTokenEndpoint() async throws {
        try await FederationWorld.run { world in
            let configuration = world.oidc()
            let request = try await world.start(configuration)
            try world.answerToken(for: request)
            world.publishDiscovery(["token_endpoint": "\"\(world.issuer)/other\""])
            world.clock.advance(90_000)
            _ = try? await world.finish(request, configuration)
            #expect(world.server.requests(to: "/.well-known/openid-configuration").count == 2)
            #expect(world.server.requests(to: "/token").count == 1)
            #expect(world.server.requests(to: "/other").isEmpty)
        }
    }

    @Test("T-B3: a flow of one provider cannot be finished with another's configuration, or after its issuer moved")
    func swappedConfiguration() async throws {
        try await FederationWorld.run { world in
            try await FederationWorld.run { other in
                let request = try await world.start(world.oidc())
                await #expect(throws: FederationError.issuerParameterMismatch) {
                    try await world.finish(request, world.github())
                }
                await #expect(throws: FederationError.issuerParameterMismatch) {
                    try await world.finish(request, other.oidc())
                }
                #expect(world.server.requests(to: "/token").isEmpty)
                #expect(other.server.requests(to: "/token").isEmpty)
            }
        }
    }
}
