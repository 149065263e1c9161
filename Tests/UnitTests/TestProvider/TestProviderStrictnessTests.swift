import Development
import Foundation
import StrictJSON
import TestKit
import Testing
import Text

/// The test provider refuses and notes what a sloppy client sends.
@Suite(.testProvider)
struct TestProviderStrictnessTests {
    private let ada = TestUser("1001", email: "ada@example.com")

    struct Mistake: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var rule: Violation.Rule
        var spoil: @Sendable (inout ReferenceClient) -> Void
    }

    @Test(arguments: [
        Mistake(testDescription: "unknown client", rule: .unknownClient) { $0.id = "other" },
        Mistake(testDescription: "redirect with a slash more", rule: .redirectURI) { $0.redirectURI += "/" },
        Mistake(testDescription: "no openid", rule: .scope) { $0.scope = "email" },
        Mistake(testDescription: "no nonce", rule: .nonce) { $0.nonce = nil },
        Mistake(testDescription: "no state", rule: .state) { $0.state = "" },
        Mistake(testDescription: "plain PKCE", rule: .pkce) {
            $0.verifier = nil
            $0.extra = [("code_challenge", "abc"), ("code_challenge_method", "plain")]
        },
        Mistake(testDescription: "parameter twice", rule: .repeatedParameter) { $0.extra = [("scope", "openid")] },
        Mistake(testDescription: "secret in the browser", rule: .clientAuthentication) {
            $0.extra = [("client_secret", "s")]
        },
    ])
    func notesAMistakeOfTheAuthorizationRequest(_ mistake: Mistake) async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        var client = ReferenceClient(tenant: tenant).registered()
        tenant.everyLogin(ada)
        mistake.spoil(&client)
        _ = try await client.authorize()
        #expect(tenant.violations.map(\.rule) == [mistake.rule])
    }

    @Test func refusesAPlusSignForASpace() async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        let client = ReferenceClient(tenant: tenant).registered()
        tenant.everyLogin(ada)
        let url = client.authorizationURL.replacing("%20", with: "+")
        #expect(try await ScriptedBrowser().open(url, until: [client.redirectURI]).status == 400)
        #expect(tenant.violations.map(\.rule) == [.encoding])
    }

    struct TokenMistake: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var rule: Violation.Rule
        var error: String
        var spoil: @Sendable (inout ReferenceClient) -> Void
    }

    @Test(arguments: [
        TokenMistake(testDescription: "wrong secret", rule: .clientAuthentication, error: "invalid_client") {
            $0.secret = "wrong"
        },
        TokenMistake(testDescription: "post instead of basic", rule: .clientAuthentication, error: "invalid_client") {
            $0.authentication = .post
        },
        TokenMistake(testDescription: "no authentication", rule: .clientAuthentication, error: "invalid_client") {
            $0.authentication = .none
        },
        TokenMistake(testDescription: "other redirect", rule: .redirectURI, error: "redirect_uri_mismatch") {
            $0.redirectURI = "http://localhost/callback2"
        },
        TokenMistake(testDescription: "other verifier", rule: .pkce, error: "invalid_grant") {
            $0.verifier = String(repeating: "x", count: 43)
        },
        TokenMistake(testDescription: "no verifier", rule: .pkce, error: "invalid_grant") { $0.verifier = nil },
    ])
    func refusesAMistakeOfTheTokenRequest(_ mistake: TokenMistake) async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        var client = ReferenceClient(tenant: tenant).registered()
        tenant.everyLogin(ada)
        let code = try #require(try await client.authorize().query["code"])
        mistake.spoil(&client)
        let answer = try await client.exchange(code)
        #expect(try answer.json()["error"] as? String == mistake.error)
        #expect(tenant.violations.map(\.rule) == [mistake.rule])
    }

    @Test func takesACodeOnceAndFromItsClientAlone() async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        let client = ReferenceClient(tenant: tenant).registered()
        let other = ReferenceClient(tenant: tenant, id: "other").registered()
        tenant.everyLogin(ada)
        let code = try #require(try await client.authorize().query["code"])
        #expect(try await other.exchange(code).status == 400)
        let first = try await client.exchange(code)
        first.expectOK()
        #expect(try await client.exchange(code).status == 400)
        #expect(tenant.violations.map(\.rule) == [.codeBinding, .codeReuse])
        let access = try #require(try first.json()["access_token"] as? String)
        #expect(try await client.get(.userinfo, token: access).status == 401, "a replay ends the first tokens too")
    }

    @Test func endsCodesAndTokensWithItsClock() async throws {
        let clock = SteppableClock()
        let provider = TestProvider(now: clock.now)
        try await provider.serve {
            let tenant = try await provider.addTenant("clock", .genericOIDC)
            let client = ReferenceClient(tenant: tenant).registered()
            let access = tenant.mintAccessToken(for: ada)
            let code = tenant.mintCode(for: ada, redirectURI: client.redirectURI)
            clock.advance(by: 601)
            var plain = client
            plain.verifier = nil
            #expect(try await plain.exchange(code).status == 400)
            #expect(tenant.violations.map(\.rule) == [.expiredCode])
            try await client.get(.userinfo, token: access).expectOK()
            clock.advance(by: 3000)
            #expect(try await client.get(.userinfo, token: access).status == 401)
        }
    }

    @Test func wantsAFormByPOST() async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        let url = try #require(tenant.url(.token))
        #expect(try await PlainHTTP.send("GET", url).status == 405)
        let json = try await PlainHTTP.send(
            "POST",
            url,
            headers: [("Content-Type", "application/json")],
            body: Array("{}".utf8)
        )
        #expect(json.status == 400)
        #expect(tenant.violations.map(\.rule) == [.method, .contentType])
    }

    @Test func githubWantsAUserAgent() async throws {
        let tenant = try await TestProvider.tenant(.github)
        let token = tenant.mintAccessToken(for: ada)
        let answer = try await PlainHTTP.send(
            "GET",
            try #require(tenant.url(.userinfo)),
            headers: [("Authorization", "Bearer \(token)")]
        )
        #expect(answer.status == 403)
        #expect(tenant.violations.map(\.rule) == [.userAgent])
    }

    @Test func pkceCanBeRequiredOrRefused() async throws {
        var personality = ProviderPersonality.genericOIDC
        personality.pkce = .required
        let strict = try await TestProvider.tenant(personality)
        strict.everyLogin(ada)
        var client = ReferenceClient(tenant: strict).registered()
        client.verifier = nil
        #expect(try await client.authorize().query["error"] == "invalid_request")

        personality.pkce = .refused
        let old = try await TestProvider.tenant(personality)
        old.everyLogin(ada)
        #expect(try await ReferenceClient(tenant: old).registered().authorize().query["error"] == "unauthorized_client")
    }

    @Test(
        arguments: [
            ("http://localhost/app", true), ("http://localhost/app/sub", true), ("http://localhost:4000/app", true),
            ("http://localhost/application", false), ("http://localhost/app/../x", false),
            ("http://127.0.0.1/app", false), ("https://localhost/app", false), ("http://localhost/app#x", false),
        ]
    )
    func githubTakesPathsBelowTheRegisteredOne(_ uri: String, _ isAccepted: Bool) async throws {
        let tenant = try await TestProvider.tenant(.github)
        tenant.addClient(redirects: .below("http://localhost/app"))
        tenant.everyLogin(ada)
        let client = ReferenceClient(tenant: tenant, redirectURI: uri, nonce: nil)
        #expect(try await client.authorize().isStopped == isAccepted)
    }

    @Test func answersOnlyUnderTheNamesOfThisComputer() async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        let url = try #require(tenant.url(.discovery))
        #expect(try await PlainHTTP.send("GET", url, headers: [("Host", "attacker.test")]).status == 421)
    }
}
