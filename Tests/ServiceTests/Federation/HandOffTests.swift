import Development
import Domain
import Foundation
import StrictJSON
import Testing
import TestKit
import Text

@Suite("The way back from a provider", .database, .testProvider)
struct HandOffTests {
    typealias Kind = ProviderScene.Kind

    @Test("R-10, R-11, R-53: the app checks the state itself and posts code and state", arguments: Kind.allCases)
    func handsOver(_ kind: Kind) async throws {
        var options = ProviderScene.Options()
        options.definition = kind.codeAlone
        try await ProviderScene.run(kind, options) { scene in
            let arrival = try await scene.arrive()
            let state = try #require(arrival.fields["state"])
            // The app's own check.
            #expect(arrival.reply["state"]?.string == state)
            let proof = try kind.proofNames.map { ($0, try #require(arrival.fields[$0])) }
            let post = FormFields(pairs: proof + [("state", state)]).text
            let reply = try await scene.service.call(
                "accounts:signInWithIdp",
                [
                    "requestUri": "http://localhost/callback", "postBody": .string(post),
                    "sessionId": .string(arrival.sessionID), "returnSecureToken": true,
                ]
            )
            scene.secrets.add(from: reply)
            reply.expectOK()
            #expect(scene.tenant.requests(.token).count == 1, "the service called the token endpoint")
            #expect(reply["oauthAccessToken"] != nil)

            // By POST alone.
            let get = try await scene.service.send(
                "GET",
                "/v1/accounts:signInWithIdp?key=\(scene.service.apiKey)&\(post)"
            )
            #expect(get.status == 405)
        }
    }

    @Test("R-10: the service checks the state itself, whatever the app did", arguments: Kind.allCases)
    func checksState(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            let arrival = try await scene.arrive()
            let state = try #require(arrival.fields["state"])
            let others = [String(state.dropLast()), state + "A", state.uppercased(), String(state.reversed()), "x"]
            for other in others {
                try await scene.refuses(Messages.usedFlow) { try await scene.finish(arrival.with("state", other)) }
            }
            #expect(scene.tenant.requests(.token).isEmpty)
        }
    }

    @Test(
        "R-10: the nonce of the ID token is checked when it is decoded",
        arguments: ["other", "", nil] as [String?]
    )
    func checksNonce(_ nonce: String?) async throws {
        try await ProviderScene.run(.oidc) { scene in
            var login = ScriptedLogin(scene.ada)
            login.idToken =
                nonce.map { IDTokenChanges(set: ["nonce": .string($0)]) } ?? IDTokenChanges(remove: ["nonce"])
            scene.tenant.nextLogin(login)
            let arrival = try await scene.arrive()
            try await scene.refuses(
                Messages.otherNonce
            ) { try await scene.finish(arrival) }
        }
    }

    @Test("R-19: a code that the app used itself is refused, and harms no session", arguments: Kind.withCodes)
    func usedCode(_ kind: Kind) async throws {
        var options = ProviderScene.Options()
        options.expectsViolations = true
        options.definition = ["pkce": "none"]
        options.personality = { $0.pkce = .optional }
        try await ProviderScene.run(kind, options) { scene in
            let session = try await scene.signIn()
            let arrival = try await scene.arrive()
            #expect(arrival.request["code_challenge"] == nil, "so that the app can use the code")
            try await redeem(arrival, scene)
            try await scene.refuses(Messages.usedCode) { try await scene.finish(arrival) }
            #expect(scene.tenant.violations.map(\.rule) == [.codeReuse])
            try await scene.service.refresh(session.refreshToken).expectOK()
            // The flow is over with it.
            try await scene.refuses(Messages.usedFlow) { try await scene.finish(arrival) }
        }
    }

    /// Exchanges the code as an app with the same registration would.
    private func redeem(_ arrival: Arrival, _ scene: ProviderScene) async throws {
        var form = [
            ("grant_type", "authorization_code"), ("code", arrival.fields["code"] ?? ""),
            ("redirect_uri", "http://localhost/callback"),
        ]
        var headers = [("Accept", "application/json")]
        form += scene.kind.personality.requiredTokenFields.map { ($0.key, $0.value) }
        if scene.kind.personality.clientAuthentication == .basic {
            let secret = ProviderScene.clientSecret
            let pair = "client:" + (scene.kind.personality.takesPlainBasic ? secret : PercentEncoding.encode(secret))
            headers.append(("Authorization", "Basic " + Data(pair.utf8).base64EncodedString()))
        } else if case .appleSecret(let key) = scene.kind.personality.clientAuthentication {
            let secret = try key.secret(for: "client", audience: scene.tenant.issuer, now: scene.service.clock.now())
            form += [("client_id", "client"), ("client_secret", secret)]
        } else {
            form += [("client_id", "client"), ("client_secret", ProviderScene.clientSecret)]
        }
        let answer = try await PlainHTTP.post(try #require(scene.tenant.url(.token)), form: form, headers: headers)
        #expect(answer.text.contains("access_token"), "\(answer.text)")
    }

    @Test("R-39: a code of another client is worth nothing here", arguments: Kind.withCodes)
    func foreignCode(_ kind: Kind) async throws {
        var options = ProviderScene.Options()
        options.expectsViolations = true
        options.definition = kind.codeAlone
        try await ProviderScene.run(kind, options) { scene in
            scene.tenant.addClient("another-app", secrets: ["another"], redirects: .anyLocal)
            let arrival = try await scene.arrive()
            let foreign = scene.tenant.mintCode(
                for: scene.ada,
                client: "another-app",
                redirectURI: "http://localhost/callback",
                nonce: arrival.request["nonce"],
                codeChallenge: arrival.request["code_challenge"]
            )
            try await scene.refuses(Messages.usedCode) { try await scene.finish(arrival.with("code", foreign)) }
            let token = try #require(scene.tenant.requests(.token).first)
            #expect(!token.body.isEmpty, "it was the provider, asked with our client's own secret, that refused")
            #expect(scene.tenant.violations.map(\.rule) == [.codeBinding])
        }
    }

    @Test("R-57, R-58, R-60, R-61: GitHub: form post, an access token alone, the scheme word, the secret stays here")
    func github() async throws {
        try await ProviderScene.run(.github) { scene in
            let arrival = try await scene.arrive()
            let reply = try await scene.finish(arrival)
            reply.expectOK()
            let exchange = try #require(scene.tenant.requests(.token).first)
            #expect(exchange.method == "POST")
            #expect(exchange.header("accept") == "application/json")
            #expect(exchange.header("content-type") == "application/x-www-form-urlencoded")
            #expect(exchange.header("authorization") == nil)
            #expect(exchange.fields["client_id"] == "client")
            #expect(exchange.fields["client_secret"] == ProviderScene.clientSecret)
            #expect(exchange.fields["code"] == arrival.fields["code"])
            for absent in ["oauthIdToken", "oauthRefreshToken", "oauthExpireIn"] { #expect(reply[absent] == nil) }
            #expect(reply["screenName"] == "ada-login")
            #expect(reply["rawUserInfo"]?.string?.contains("\"id\":9007199254740993") == true)
            for endpoint in [ProviderEndpoint.userinfo, .emails] {
                let call = try #require(scene.tenant.requests(endpoint).first)
                #expect(call.header("authorization") == "token " + (reply["oauthAccessToken"]?.string ?? ""))
            }
            // Nothing that reaches a browser has the secret.
            let secret = PercentEncoding.encode(ProviderScene.clientSecret)
            #expect(!arrival.authURI.contains(secret))
            for request in scene.tenant.requests(.authorization) { #expect(!request.query.contains(secret)) }
            #expect(!arrival.reply.response.text.contains(ProviderScene.clientSecret))
            #expect(!reply.response.text.contains(ProviderScene.clientSecret))
        }
    }

    @Test(
        "R-59: an answer without an access token is an error, also with status 200",
        arguments: [
            (#"{"error":"bad_verification_code","error_description":"expired"}"#, Messages.usedCode),
            (
                #"{"error":"incorrect_client_credentials"}"#,
                Messages.clientRejected
            ),
            (#"{}"#, Messages.invalidAnswer),
            (#"{"access_token":null}"#, Messages.invalidAnswer),
            (#"{"access_token":""}"#, Messages.invalidAnswer),
            (
                #"{"access_token":1,"token_type":"bearer"}"#,
                Messages.invalidAnswer
            ),
            (#"{"access_token":["a"]}"#, Messages.invalidAnswer),
            (#"{"token_type":"bearer","scope":""}"#, Messages.invalidAnswer),
        ]
    )
    func noAccessToken(body: String, message: String) async throws {
        for kind in [Kind.github, .oauth2] {
            try await ProviderScene.run(kind) { scene in
                let arrival = try await scene.arrive()
                scene.tenant.addFault(.body(Array(body.utf8), contentType: "application/json"), at: .token)
                try await scene.refuses(message) { try await scene.finish(arrival) }
                #expect(try await scene.signIn().status == 200, "the next one works")
            }
        }
    }

    @Test("R-16: user info is asked with the access token, and must be about the ID token's subject")
    func userInfo() async throws {
        try await ProviderScene.run(.oidc) { scene in
            let reply = try await scene.signIn()
            let call = try #require(scene.tenant.requests(.userinfo).first)
            #expect(call.header("authorization") == "Bearer " + (reply["oauthAccessToken"]?.string ?? ""))
            #expect(reply["rawUserInfo"]?.string?.contains(#""sub":"ada/1|oidc.acme""#) == true)
            let arrival = try await scene.arrive()
            scene.tenant.addFault(.members(set: ["sub": "somebody-else"]), at: .userinfo)
            try await scene.refuses(Messages.invalidAnswer) {
                try await scene.finish(arrival)
            }
        }
    }

    @Test("R-21: an admin switches a provider on and off, which counts at once on every way in")
    func enablesAndDisables() async throws {
        try await ProviderScene.run(.oidc) { scene in
            let path = "oauthIdpConfigs/oidc.acme"
            let off = Messages.providerOff
            let waiting = try await scene.arrive()
            let token = try scene.tenant.mintIDToken(for: scene.ada)
            let patched = try await scene.service.admin(
                path + "?updateMask=enabled",
                ["enabled": false],
                method: "PATCH",
                version: "v2"
            )
            patched.expectOK()
            #expect(patched["enabled"] == nil)
            try await scene.refuses(off) {
                try await scene.service.call(
                    "accounts:createAuthUri",
                    ["providerId": "oidc.acme", "continueUri": "http://localhost/callback"]
                )
            }
            try await scene.refuses(off) { try await scene.finish(waiting) }
            try await scene.refuses(off) { try await scene.signIn(idToken: token) }
            #expect(scene.tenant.requests(.token).isEmpty)
            try await scene.service.admin(
                path + "?updateMask=enabled",
                ["enabled": true],
                method: "PATCH",
                version: "v2"
            )
            try await scene.signIn().expectOK()
            try await scene.signIn(idToken: token).expectOK()
        }
    }
}
