import Domain
import Federation
import Projects
import Secrets
import Testing

@Suite struct ProviderDefinitionTests {
    private func configuration(
        _ id: String,
        issuer: String? = nil,
        secret: String? = "s3cret",
        _ overrides: String? = nil
    ) -> ProviderConfiguration {
        ProviderConfiguration(
            provider: ProviderID(id),
            enabled: true,
            clientID: "client-1",
            clientSecret: secret.map(Secret.init),
            issuer: issuer,
            overrides: overrides
        )
    }

    /// What an admin reads, or nil when everything is fine.
    private func problem(_ configuration: ProviderConfiguration, allowsLoopback: Bool = false) -> String? {
        do throws(InvalidDefinition) {
            try ProviderDefinition.validate(configuration, allowsLoopback: allowsLoopback)
            return nil
        } catch {
            return error.description
        }
    }

    private static let plain = """
        "endpoints":{"authorization":"https://p.example/a","token":"https://p.example/t"},
        "profile":[{"url":"https://p.example/me"}]
        """

    @Test(
        "without issuers, a provider's name is its endpoint's origin as it is written: it is stored with each subject"
    )
    func namesIssuers() throws {
        for origin in ["https://p.example", "https://p.example:443", "https://p.example:8443"] {
            let endpoints = #""endpoints":{"authorization":"\#(origin)/a","token":"https://p.example/t"}"#
            let plain = configuration("oauth.plain", "{\(endpoints),\"profile\":[{\"url\":\"https://p.example/me\"}]}")
            #expect(try ProviderDefinition.make(for: plain, allowsLoopback: false).issuers == [origin])
        }
    }

    @Test func takesWhatIsComplete() {
        #expect(problem(configuration("google.com", secret: nil)) == nil)
        #expect(problem(configuration("github.com")) == nil)
        #expect(problem(configuration("oidc.acme", issuer: "https://login.acme.example")) == nil)
        #expect(problem(configuration("oauth.feedly", "{\(Self.plain)}")) == nil)
        let everything = """
            {"displayName":"X","endpoints":{"userInfo":null,"revocation":"https://p.example/r"},"discovery":"cached",
             "discoveryURL":"{base}/d","endpointHosts":["x.example"],"variables":{"base":"https://p.example"},
             "scopes":{"default":["openid"],"separator":" ","answerSeparator":",","whenSupported":[]},
             "responseTypes":["code","token code id_token"],"responseMode":"form_post","pkce":"required","sendNonce":true,"clientAuth":"post",
             "extraAuthorizationParameters":{"bail":"1"},"allowedCustomParameters":"anyExceptReserved","variableParameters":{"base":["https://q.example"]},"redirect":"exact",
             "redirectURIs":["yj-xxxxx:/"],"token":{"accept":"application/json","body":"json","errorInOK":["error"],
             "okMember":"ok","encodesBasic":false,"extraParameters":{"id_token_key_type":"JWK"}},"idToken":{"algorithms":["ES256"],
             "keyFormat":"pem_map","nonce":"either","maximumAge":600,"lenientBooleans":true,"requiresNonce":true},"profile":[{"url":"{base}/me","name":"me",
             "scheme":"OAuth","proof":"appsecret_proof","headers":{"X-A":"b"},"optional":true}],"claims":{"subject":"sub","displayName":["a","b"]},
             "rawUserInfo":"merged","emailTrust":{"domains":["P.example"],"orAuthority":true},
             "directSignIn":{"idToken":false,"accessToken":null},"federatedIDPrefix":"p:","quirks":["github_emails"]}
            """
        #expect(problem(configuration("oidc.acme", issuer: "https://login.acme.example", everything)) == nil)
    }

    @Test(
        arguments: [
            ("github.com", #"{"nonsense":1}"#, "definition.nonsense is unknown"),
            ("github.com", #"{"endpoints":{"tokken":"https://x.example"}}"#, "definition.endpoints.tokken is unknown"),
            ("github.com", #"{"profile":[{"link":"x"}]}"#, "definition.profile[0].link is unknown"),
            ("github.com", #"{"pkce":"off"}"#, "definition.pkce must be one of: none, optional, required"),
            ("github.com", #"{"pkce":true}"#, "definition.pkce must be one of: none, optional, required"),
            ("github.com", #"{"scopes":{"default":"a b"}}"#, "definition.scopes[0] is not a scope"),
            ("github.com", #"{"scopes":[]}"#, "definition.scopes must be an object"),
            (
                "github.com", #"{"responseTypes":["code","code id_token"]}"#,
                "definition.responseTypes must be code for OAuth 2.0"
            ),
            (
                "google.com", #"{"responseTypes":["id_token"]}"#,
                "definition.responseTypes must be a list of code, alone or with id_token and token"
            ),
            (
                "google.com", #"{"responseTypes":[]}"#,
                "definition.responseTypes must be a list of code, alone or with id_token and token"
            ),
            (
                "google.com", #"{"responseTypes":["code token"],"responseMode":"query"}"#,
                "definition.responseMode would put tokens into a query"
            ),
            (
                "google.com", #"{"responseTypes":["code id_token"],"sendNonce":false}"#,
                "definition.sendNonce must be true if id_token is requested"
            ),
            (
                "google.com", #"{"idToken":{"keyFormat":"pem"}}"#,
                "definition.idToken.keyFormat must be one of: jwks, pem_map, certificate_map"
            ),
            ("github.com", #"{"sendNonce":"yes"}"#, "definition.sendNonce must be true or false"),
            (
                "github.com", #"{"quirks":["apple_secret"]}"#,
                "definition.quirks may contain: apple_user, discord_avatar, github_emails, microsoft_tenant, google_legacy_profile_names"
            ),
            (
                "github.com", #"{"emailTrust":"sometimes"}"#,
                #"definition.emailTrust must be always, never, claim or {"domains": […], "orAuthority": …}"#
            ),
            (
                "github.com", #"{"idToken":{"maximumAge":-1}}"#,
                "definition.idToken.maximumAge must be a positive number of seconds or null"
            ),
            (
                "github.com", #"{"idToken":{"algorithms":["none"]}}"#,
                "definition.idToken.algorithms may contain: RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA"
            ),
            (
                "github.com", #"{"idToken":{"algorithms":["HS256"]}}"#,
                "definition.idToken.algorithms may contain: RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA"
            ),
            (
                "github.com", #"{"extraAuthorizationParameters":{"State":"x"}}"#,
                "definition.extraAuthorizationParameters.State is set by the service"
            ),
            (
                "github.com", #"{"token":{"extraParameters":{"code":"x"}}}"#,
                "definition.token.extraParameters.code is set by the service"
            ),
            (
                "github.com", #"{"endpoints":{"token":"http://x.example/t"}}"#,
                "definition.endpoints.token must be an https URL without credentials and fragment"
            ),
            (
                "github.com", #"{"endpoints":{"token":"https://u:p@x.example/t"}}"#,
                "definition.endpoints.token must be an https URL without credentials and fragment"
            ),
            (
                "github.com", #"{"endpoints":{"token":"http://127.0.0.1/t"}}"#,
                "definition.endpoints.token must be an https URL without credentials and fragment"
            ),
            (
                "github.com", #"{"endpoints":{"authorization":"https://x.example/?client_id=1"}}"#,
                "definition.endpoints.authorization must not set client_id"
            ),
            (
                "github.com", #"{"endpoints":{"authorization":"{host}/a"}}"#,
                "definition.endpoints.authorization names an unknown variable"
            ),
            (
                "github.com", #"{"redirectURIs":["javascript:alert(1)"]}"#,
                "definition.redirectURIs[0] must be an absolute URI without fragment and credentials"
            ),
            (
                "github.com", #"{"profile":[{"url":"https://x.example","scheme":"a b"}]}"#,
                "definition.profile[0].scheme must be one word, such as Bearer"
            ),
            (
                "github.com", #"{"profile":[{"url":"https://x.example","headers":{"Host":"y"}}]}"#,
                "definition.profile[0].headers.Host is set by the service"
            ),
            (
                "github.com", #"{"profile":[{"url":"https://x.example","headers":{"A":"a\r\nB: c"}}]}"#,
                "definition.profile[0].headers contains an invalid header"
            ),
            (
                "github.com", #"{"claims":{"subject":[]}}"#,
                "definition.claims.subject must name the claim with the provider's user ID"
            ),
            ("github.com", #"{"claims":{"sub":["x"]}}"#, "definition.claims.sub is unknown"),
            (
                "github.com", #"{"pkce":"none","pkce":"required"}"#,
                "definition is not valid JSON: a member is repeated (byte 15)"
            ),
            ("github.com", "[]", "definition must be an object"),
            ("github.com", "{", "definition is not valid JSON: the text ends too early (byte 1)"),
            ("oidc.acme", "{}", "issuer is missing"),
            ("oauth.plain", "{}", "definition.endpoints.authorization is missing"),
            (
                "oauth.plain", #"{"endpoints":{"authorization":"https://x.example/a"}}"#,
                "definition.endpoints.token is missing"
            ),
            (
                "oauth.plain", #"{"endpoints":{"authorization":"https://x.example/a","token":"https://x.example/t"}}"#,
                "definition.profile requires a call that identifies the user"
            ),
            ("facebook.example", nil, "providerId is not a provider that can be configured"),
            ("oidc.", nil, "providerId is not a provider that can be configured"),
            ("oidc.a b", nil, "providerId is not a provider that can be configured"),
            ("password", nil, "providerId is not a provider that can be configured"),
        ] as [(String, String?, String)]
    )
    func saysWhatIsWrong(_ id: String, _ overrides: String?, _ expected: String) {
        #expect(problem(configuration(id, overrides)) == expected)
    }

    @Test(arguments: [
        "http://acme.example", "acme.example", "https://acme.example?x=1", "https://u@acme.example", "", "ftp://x",
    ])
    func anIssuerIsAnHTTPSURL(_ issuer: String) {
        #expect(problem(configuration("oidc.acme", issuer: issuer)) != nil)
    }

    @Test func plainHTTPIsForThisMachineWhereItIsAllowed() {
        for host in ["127.0.0.1:99", "localhost:99", "[::1]:99"] {
            #expect(problem(configuration("oidc.acme", issuer: "http://\(host)"), allowsLoopback: true) == nil)
            #expect(problem(configuration("oidc.acme", issuer: "http://\(host)")) != nil)
        }
        #expect(
            problem(configuration("oidc.acme", issuer: "http://127.0.0.1.evil.example"), allowsLoopback: true) != nil
        )
    }

    @Test func aSecretIsNeededWhereItIsSent() {
        #expect(
            problem(configuration("github.com", secret: nil))
                == #"clientSecret is required by the client authentication "post""#
        )
        #expect(problem(configuration("github.com", secret: nil, #"{"clientAuth":"none"}"#)) == nil)
    }

    @Test func aClientIDIsNeeded() {
        var empty = configuration("google.com")
        empty.clientID = ""
        #expect(problem(empty) == "clientId must be 1 to 1024 visible characters")
    }

    @Test("T-C3: tokens of other clients are told by signatures only where every profile call is signed, with a secret")
    func signedCalls() {
        #expect(problem(configuration("twitter.com")) == nil)
        #expect(problem(configuration("twitter.com", secret: nil)) == "clientSecret is required to sign requests")
        let trusting = #""directSignIn":{"accessToken":"signed_calls"}"#
        let refusal = "definition.directSignIn.accessToken requires signed profile calls"
        #expect(problem(configuration("oauth.plain", "{\(Self.plain),\(trusting)}")) == refusal)
        #expect(problem(configuration("github.com", "{\(trusting)}")) == refusal)
        let unsigned = #"{"profile":[{"url":"https://p.example/me"}]}"#
        #expect(problem(configuration("twitter.com", unsigned)) == refusal)
        #expect(problem(configuration("google.com", "{\(trusting)}")) == refusal)
    }

    @Test func onlyKnownProvidersCanBeConfigured() {
        for id in ["google.com", "github.com", "oidc.acme", "oauth.feedly", "oidc.A-b_9"] {
            #expect(ProviderDefinition.isKnown(ProviderID(id)))
        }
        for id in ["password", "phone", "oidc.", "oauth.", "oidc.a..b", "saml.x", "Google.com", ""] {
            #expect(!ProviderDefinition.isKnown(ProviderID(id)))
        }
    }

    @Test func trustFollowsTheTableUnlessTheConfigurationSaysOtherwise() async throws {
        try await FederationWorld.run { world in
            func trust(_ id: String, _ configuration: ProviderConfiguration? = nil, strict: Bool = false) -> EmailTrust
            {
                world.service.emailTrust(for: ProviderID(id), configuration: configuration, strict: strict)
            }
            #expect(trust("google.com") == .claim)
            #expect(trust("google.com", strict: true) == .domains(["gmail.com", "googlemail.com"], orAuthority: true))
            for id in ["github.com", "facebook.com", "twitter.com", "linkedin.com", "oauth.feedly"] {
                #expect(trust(id) == .never)
                #expect(trust(id, strict: true) == .never)
            }
            #expect(trust("apple.com", strict: true) == .always)
            #expect(trust("oidc.acme") == .claim)
            #expect(trust("oidc.acme", strict: true) == .never)
            #expect(trust("microsoft.com") == .domains(["outlook.com", "hotmail.com", "live.com"], orAuthority: false))
            #expect(trust("microsoft.com", strict: true) == .domains([], orAuthority: true))
            guard case .domains(let yahoo, orAuthority: false) = trust("yahoo.com") else {
                return #expect(Bool(false))
            }
            #expect(yahoo.contains("yahoo.com") && yahoo.contains("yahoo.co.uk") && !yahoo.contains("gmail.com"))

            let always = configuration("github.com", #"{"emailTrust":"claim"}"#)
            #expect(trust("github.com", always) == .claim)
            #expect(trust("github.com", always, strict: true) == .claim)
            let domains = configuration(
                "oidc.acme",
                issuer: "https://a.example",
                #"{"emailTrust":{"domains":["Acme.example","BÜCHER.example","XN--R8JZ45G.jp"]}}"#
            )
            // As emails have them.
            #expect(
                trust("oidc.acme", domains, strict: true)
                    == .domains(["acme.example", "xn--bcher-kva.example", "xn--r8jz45g.jp"], orAuthority: false)
            )
            #expect(trust("oidc.acme", configuration("oidc.acme", issuer: "https://a.example", "{")) == .never)
        }
    }
}
