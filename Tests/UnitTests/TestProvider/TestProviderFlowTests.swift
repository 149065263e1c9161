import Development
import Foundation
import Secrets
import StrictJSON
import TestKit
import Testing
import Text

/// The test provider against a reference client: each personality completes its flow.
@Suite(.testProvider)
struct TestProviderFlowTests {
    private let ada = TestUser(
        "1001",
        email: "ada@example.com",
        name: "Ada Lovelace",
        givenName: "Ada",
        familyName: "Lovelace",
        login: "ada"
    )

    @Test(arguments: [TestSigningKey.Kind.rs256, .es256])
    func genericOIDCCompletesTheCodeFlow(_ kind: TestSigningKey.Kind) async throws {
        var personality = ProviderPersonality.genericOIDC
        personality.signing = kind
        let tenant = try await TestProvider.tenant(personality)
        let client = ReferenceClient(tenant: tenant, scope: "openid email profile offline_access").registered()
        tenant.nextLogin(ada)

        let discovery = try await PlainHTTP.send("GET", tenant.url(.discovery) ?? "").json()
        #expect(discovery["issuer"] as? String == tenant.issuer)
        #expect(discovery["token_endpoint"] as? String == tenant.url(.token))
        #expect(discovery["jwks_uri"] as? String == tenant.url(.keys))

        let visit = try await client.authorize()
        #expect(visit.isStopped)
        #expect(visit.query["state"] == "the-state")
        let answer = try await client.exchange(try #require(visit.query["code"]))
        answer.expectOK()
        let tokens = try answer.json()
        let access = try #require(tokens["access_token"] as? String)

        let keys = try await PlainHTTP.send("GET", tenant.url(.keys) ?? "").json()
        let token = try ReferenceVerifier.read(try #require(tokens["id_token"] as? String), keys: keys)
        #expect(token.isSigned)
        #expect(token.header["alg"] as? String == kind.rawValue)
        #expect(token.claims["iss"] as? String == tenant.issuer)
        #expect(token.claims["aud"] as? String == "client")
        #expect(token.claims["sub"] as? String == "1001")
        #expect(token.claims["nonce"] as? String == "the-nonce")
        #expect(token.claims["email_verified"] as? Bool == true)
        #expect(token.claims["at_hash"] as? String == Base64URL.encode(SecureHash.sha256(access).prefix(16)))
        #expect(token.claims["auth_time"] != nil)

        let userinfo = try await client.get(.userinfo, token: access).json()
        #expect(userinfo["sub"] as? String == "1001")
        #expect(userinfo["name"] as? String == "Ada Lovelace")

        let refreshed = try await client.refresh(try #require(tokens["refresh_token"] as? String))
        #expect(try refreshed.json()["access_token"] is String)

        let revoked = try await PlainHTTP.post(
            tenant.url(.revocation) ?? "",
            form: [("token", access)],
            headers: client.headers
        )
        revoked.expectOK()
        #expect(try await client.get(.userinfo, token: access).status == 401)
        #expect(tenant.violations.isEmpty)
    }

    @Test(arguments: [["code"], ["code", "id_token"], ["code", "token"], ["code", "id_token", "token"]])
    func yahooJapanAnswersInTheFragmentWhenMoreThanACodeIsAskedFor(_ type: [String]) async throws {
        let tenant = try await TestProvider.tenant(.yahooJapan)
        var client = ReferenceClient(tenant: tenant, responseType: type.joined(separator: " ")).registered()
        tenant.everyLogin(ada)
        let visit = try await client.authorize()
        let isHybrid = type.count > 1
        let fields = isHybrid ? visit.fragment : visit.query
        #expect((visit.query.pairs.isEmpty, visit.fragment.pairs.isEmpty) == (isHybrid, !isHybrid))
        let code = try #require(fields["code"])
        #expect((fields["access_token"] != nil) == type.contains("token"))
        #expect((fields["expires_in"] != nil) == type.contains("token"))

        let keys = try await PlainHTTP.send("GET", tenant.url(.keys) ?? "").json()
        let map = try await PlainHTTP.send("GET", tenant.url(.publicKeys) ?? "").json()
        let tokens = try await client.exchange(code).json()
        for text in [fields["id_token"], tokens["id_token"] as? String].compactMap(\.self) {
            let token = try ReferenceVerifier.read(text, keys: keys)
            #expect(token.isSigned)
            #expect(token.claims["aud"] as? [String] == ["client"])
            #expect(token.claims["email"] == nil)
            #expect((map[token.header["kid"] as? String ?? ""] as? String)?.contains("BEGIN PUBLIC KEY") == true)
            let isFront = text == fields["id_token"]
            let hash = Base64URL.encode(SecureHash.sha256(code).prefix(16))
            #expect(token.claims["c_hash"] as? String == (isFront ? hash : nil))
            #expect((token.claims["at_hash"] != nil) == (!isFront || type.contains("token")))
        }
        let refreshed = try await client.refresh(try #require(tokens["refresh_token"] as? String)).json()
        #expect(refreshed["id_token"] == nil && refreshed["refresh_token"] == nil)
        let userinfo = try await client.get(.userinfo, token: try #require(tokens["access_token"] as? String)).json()
        #expect(userinfo["nickname"] as? String == "ada")

        client.extra = [("bail", "1")]
        tenant.nextLogin(ada, .deny)
        let refused = try await client.authorize()
        #expect(refused.isStopped && !refused.url.contains("code") && !refused.url.contains("error"))
        client.extra = []
        tenant.nextLogin(ada, .deny)
        #expect(try await client.authorize().isStopped == false)
        #expect(tenant.violations.isEmpty)
        client.extra = [("display", "wall")]
        #expect(try await client.authorize().url.contains("error=invalid_request"))
        #expect(try await client.authorize().url.contains("error_code=1000"))
    }

    @Test func googleGivesARefreshTokenOnlyWhenAskedAndOnlyOnce() async throws {
        let tenant = try await TestProvider.tenant(.google)
        var client = ReferenceClient(tenant: tenant, authentication: .basicOrPost).registered()
        tenant.everyLogin(ada)
        func refreshToken() async throws -> String? {
            let visit = try await client.authorize()
            return try await client.exchange(try #require(visit.query["code"])).json()["refresh_token"] as? String
        }
        #expect(try await refreshToken() == nil)
        tenant.revokeGrant(of: ada)
        client.extra = [("access_type", "offline")]
        #expect(try await refreshToken() != nil)
        #expect(try await refreshToken() == nil)
        client.extra.append(("prompt", "consent"))
        #expect(try await refreshToken() != nil)
        #expect(tenant.violations.isEmpty)
    }

    @Test func githubAnswersFormsAndKeepsTheAddressInASecondCall() async throws {
        let tenant = try await TestProvider.tenant(.github)
        let client = ReferenceClient(
            tenant: tenant,
            authentication: .post,
            scope: "read:user user:email",
            nonce: nil
        ).registered()
        tenant.everyLogin(ada)

        let visit = try await client.authorize()
        let answer = try await client.exchange(try #require(visit.query["code"]), accept: "*/*")
        #expect(answer.header("content-type")?.hasPrefix("application/x-www-form-urlencoded") == true)
        let fields = FormFields(answer.text)
        #expect(fields["scope"] == "read:user,user:email")
        #expect(fields["token_type"] == "bearer")
        let token = try #require(fields["access_token"])

        let profile = try await client.get(.userinfo, token: token).json()
        #expect(profile["id"] as? Int == 1001)
        #expect(profile["login"] as? String == "ada")
        #expect(profile["email"] is NSNull)
        let emails = try await client.get(.emails, token: token, scheme: "token")
        #expect(emails.text.contains(#""email":"ada@example.com","primary":true,"verified":true"#))

        var silent = client
        silent.scope = ""
        let second = try await silent.authorize()
        let tokens = try await silent.exchange(try #require(second.query["code"])).json()
        #expect(tokens["scope"] as? String == "read:user,user:email")

        let reused = try await client.exchange(try #require(visit.query["code"]))
        reused.expectOK()
        #expect(try reused.json()["error"] as? String == "bad_verification_code")
        #expect(tenant.violations.map(\.rule) == [.codeReuse])
    }

    @Test func githubPagesItsListOfAddresses() async throws {
        let tenant = try await TestProvider.tenant(.github)
        let client = ReferenceClient(tenant: tenant)
        let user = TestUser("7", emails: (1...3).map { .init("a\($0)@x.test", primary: $0 == 3, verified: true) })
        let token = tenant.mintAccessToken(for: user, scopes: ["user:email"])
        let url = try #require(tenant.url(.emails))
        func page(_ query: String) async throws -> PlainResponse {
            try await PlainHTTP.send(
                "GET",
                url + query,
                headers: [("Authorization", "token \(token)"), ("User-Agent", "reference")]
            )
        }
        let first = try await page("?per_page=2")
        #expect(first.header("link") == "<\(url)?per_page=2&page=2>; rel=\"next\"")
        #expect(try await page("?per_page=2&page=2").text.contains("a3@x.test"))
        let narrow = tenant.mintAccessToken(for: user, scopes: ["read:user"])
        #expect(try await client.get(.emails, token: narrow).status == 403)
    }

    @Test func genericOAuth2ServesAProfileOfAnyShape() async throws {
        var personality = ProviderPersonality.genericOAuth2
        personality.profile = { user, _ in ["data": ["user": ["id": .string(user.subject)]]] }
        let tenant = try await TestProvider.tenant(personality)
        let client = ReferenceClient(tenant: tenant, authentication: .post, scope: "me", nonce: nil).registered()
        tenant.nextLogin(ada)
        let visit = try await client.authorize()
        let tokens = try await client.exchange(try #require(visit.query["code"])).json()
        #expect(tokens["id_token"] == nil)
        let profile = try await client.get(.userinfo, token: try #require(tokens["access_token"] as? String))
        #expect(profile.text == #"{"data":{"user":{"id":"1001"}}}"#)
    }

    @Test func decisionsComeBackAsTheProviderWouldSendThem() async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        let client = ReferenceClient(tenant: tenant).registered()
        tenant.nextLogin(ada, .deny)
        #expect(try await client.authorize().query["error"] == "access_denied")
        tenant.nextLogin(ada, .bail)
        let bailed = try await client.authorize()
        #expect(bailed.query["error"] == nil && bailed.query["code"] == nil && bailed.query["state"] == "the-state")
        tenant.nextLogin(ada, .fail(error: "server_error", description: "a b"))
        #expect(try await client.authorize().url.contains("error=server_error&error_description=a%20b"))
        tenant.nextLogin(ada, .denyWithoutReturn)
        #expect(try await client.authorize().isStopped == false)
        tenant.nextLogin(
            ScriptedLogin(ada, callback: .init(set: ["state": "other"], append: [("iss", "https://evil.test")]))
        )
        let changed = try await client.authorize()
        #expect(changed.query["state"] == "other")
        #expect(changed.query["iss"] == "https://evil.test")
        var silent = client
        silent.extra = [("prompt", "none")]
        #expect(try await silent.authorize().query["error"] == "login_required")
    }

    @Test func formPostComesBackAsAPostOfTheBrowser() async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        var client = ReferenceClient(tenant: tenant).registered()
        client.extra = [("response_mode", "form_post")]
        tenant.nextLogin(ada)
        let visit = try await client.authorize()
        #expect(visit.url == client.redirectURI)
        #expect(visit.hops.count == 1)
    }
}
