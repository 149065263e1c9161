import Domain
import Federation
import Foundation
import StrictJSON
import Testing

@Suite struct SignInFlowTests {
    @Test func signsInThroughAGenericProvider() async throws {
        try await FederationWorld.run { world in
            let configuration = world.oidc()
            let request = try await world.start(configuration)
            try world.answerToken(for: request, extra: #","refresh_token":"rt-1","scope":"openid email""#)
            world.server.on("/userinfo", .json(#"{"sub":"subject-1","locale":"en","name":"Other"}"#))
            let credential = try await world.finish(request, configuration)
            #expect(credential.identity.provider == ProviderID("oidc.acme"))
            #expect(credential.identity.subject == "subject-1")
            #expect(credential.identity.issuer == world.issuer)
            #expect(credential.identity.email == EmailAddress("ada@example.com"))
            #expect(credential.identity.emailVerifiedClaim)
            #expect(credential.identity.profile.displayName == "Ada Lovelace")
            #expect(credential.identity.profile.language == "en")
            #expect(credential.tokens.accessToken == "at-1")
            #expect(credential.tokens.refreshToken == "rt-1")
            #expect(credential.tokens.expiresIn == 3600)
            #expect(credential.tokens.scopes == ["openid", "email"])
            #expect(credential.federatedID == "oidc.acme/subject-1")
            #expect(credential.oneTimeToken == nil)
            let exchange = try #require(world.server.requests(to: "/token").first)
            #expect(exchange.method == "POST")
            #expect(exchange.field("code") == "code-1")
            #expect(exchange.field("redirect_uri") == "https://app.example.com/callback")
            #expect(exchange.field("code_verifier") == request.flow.pkceVerifier)
            #expect(exchange.headers["authorization"] == "Basic Y2xpZW50LTE6czNjcmV0")
            #expect(world.server.requests(to: "/userinfo").first?.headers["authorization"] == "Bearer at-1")
        }
    }

    @Test func signsInThroughGoogle() async throws {
        try await FederationWorld.run { world in
            let configuration = world.google()
            let request = try await world.start(configuration)
            try world.answerToken(
                for: request,
                claims: ["hd": "\"example.com\"", "picture": "\"https://p/1\""],
                extra: #","scope":"openid https://www.googleapis.com/auth/userinfo.email""#
            )
            let credential = try await world.finish(request, configuration)
            #expect(credential.federatedID == "https://accounts.google.com/subject-1")
            #expect(credential.identity.emailAuthorityClaim)
            let raw = try #require(try JSONValue(parsing: credential.rawUserInfo).object)
            #expect(raw["id"] == .string("subject-1"))
            #expect(raw["verified_email"] == .bool(true))
            #expect(raw["granted_scopes"] == .string("openid https://www.googleapis.com/auth/userinfo.email"))
            #expect(raw["sub"] == nil)
        }
    }

    @Test("R-57, R-58, R-60: signs in through GitHub: form post, an access token alone, the scheme word token")
    func github() async throws {
        try await FederationWorld.run { world in
            let configuration = world.github()
            let request = try await world.start(configuration)
            world.server.on(
                "/gh/login/oauth/access_token",
                .json(#"{"access_token":"gho_1","scope":"read:user,user:email","token_type":"bearer"}"#)
            )
            world.server.on(
                "/api/user",
                .json(
                    #"{"id":9007199254740993,"login":"ada","name":null,"avatar_url":"https://a/1","email":"public@example.com"}"#
                )
            )
            world.server.on(
                "/api/user/emails",
                .json(
                    """
                    [{"email":"other@example.com","primary":false,"verified":true},
                     {"email":"ada@example.com","primary":true,"verified":true}]
                    """
                )
            )
            let credential = try await world.finish(request, configuration)
            #expect(credential.identity.subject == "9007199254740993")
            #expect(credential.identity.email == EmailAddress("ada@example.com"))
            #expect(credential.identity.emailVerifiedClaim)
            #expect(credential.identity.profile.displayName == "ada")
            #expect(credential.identity.profile.screenName == "ada")
            #expect(credential.federatedID == "9007199254740993")
            #expect(credential.tokens.idToken == nil)
            #expect(credential.tokens.refreshToken == nil)
            #expect(credential.tokens.expiresIn == nil)
            #expect(credential.tokens.scopes == ["read:user", "user:email"])
            #expect(credential.rawUserInfo.contains("\"id\":9007199254740993"))
            let exchange = try #require(world.server.requests(to: "/gh/login/oauth/access_token").first)
            #expect(exchange.headers["accept"] == "application/json")
            #expect(exchange.headers["authorization"] == nil)
            #expect(exchange.field("client_id") == "client-1")
            #expect(exchange.field("client_secret") == "s3cret")
            let profile = try #require(world.server.requests(to: "/api/user").first)
            #expect(profile.headers["authorization"] == "token gho_1")
            #expect(profile.headers["user-agent"]?.isEmpty == false)
        }
    }

    @Test func signsInThroughAPlainProviderThatIsDataAlone() async throws {
        try await FederationWorld.run { world in
            let configuration = world.oauth2(
                #""claims":{"subject":["data.id"],"displayName":["data.name"]},"scopes":{"default":["read"]}"#
            )
            let request = try await world.start(configuration)
            world.server.on("/token", .json(#"{"access_token":"at-1"}"#))
            world.server.on("/profile", .json(#"{"data":{"id":"u-1","name":"Ada"}}"#))
            let credential = try await world.finish(request, configuration)
            #expect(credential.identity.subject == "u-1")
            #expect(credential.identity.profile.displayName == "Ada")
            #expect(credential.identity.email == nil)
            #expect(credential.tokens.scopes == ["read"])
            #expect(credential.federatedID == "u-1")
        }
    }

    @Test func verifiesANativeToken() async throws {
        try await FederationWorld.run { world in
            let token = try world.idToken()
            let credential = try await world.verify(token)
            #expect(credential.identity.subject == "subject-1")
            #expect(credential.tokens.idToken == token)
            #expect(credential.oneTimeToken == nil)
        }
    }
}
