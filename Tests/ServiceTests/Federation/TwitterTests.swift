import Development
import Domain
import Foundation
import StrictJSON
import Testing
import TestKit
import Text

@Suite("Twitter, OAuth 1.0a", .database, .testProvider)
struct TwitterTests {
    private static let mismatch = "INVALID_IDP_RESPONSE : The state does not match."

    private static func run(
        _ options: ProviderScene.Options = .init(),
        _ body: @Sendable (ProviderScene) async throws -> Void
    ) async throws {
        try await ProviderScene.run(.twitter, options, body)
    }

    /// Signs in with a token and its secret that the app got itself.
    private static func signIn(
        _ scene: ProviderScene,
        _ token: String,
        secret: String?,
        idToken: String? = nil
    ) async throws -> Reply {
        scene.secrets.add(token, secret)
        var fields = [("access_token", token), ("providerId", "twitter.com")]
        if let secret { fields.append(("oauth_token_secret", secret)) }
        let reply = try await scene.service.signInWithIdP(postBody: FormFields(pairs: fields).text, idToken: idToken)
        scene.secrets.add(from: reply)
        return reply
    }

    @Test("a request token first, the person's page with it, then tokens and a profile by signed requests")
    func wholeWay() async throws {
        try await Self.run { scene in
            let arrival = try await scene.arrive([
                "customParameter": ["force_login": "true", "screen_name": "ada", "lang": "fr"], "oauthScope": "ignored",
            ])
            #expect(scene.tenant.requests(.requestToken).count == 1)
            let url = try #require(scene.tenant.url(.authorization))
            #expect(arrival.authURI.hasPrefix(url + "?oauth_token="))
            #expect(Set(arrival.request.pairs.map(\.name)) == ["oauth_token", "force_login", "screen_name", "lang"])
            #expect(arrival.fields["state"] == arrival.reply["state"]?.string)
            let reply = try await scene.finish(arrival)
            reply.expectOK()
            #expect(reply["screenName"] == "ada-login")
            #expect(reply["photoUrl"] == "https://pictures.example.com/ada.png")
            #expect(reply["oauthTokenSecret"]?.string?.isEmpty == false)
            #expect(reply["rawUserInfo"]?.string?.contains(#""id_str":"9007199254740993""#) == true)
            for absent in ["oauthIdToken", "oauthRefreshToken", "oauthExpireIn"] { #expect(reply[absent] == nil) }
            // The secrets sign; they are never sent.
            for request in scene.tenant.requests() {
                let sent = "\(request.query) \(String(decoding: request.body, as: UTF8.self)) \(request.headers)"
                #expect(!sent.contains(PercentEncoding.encode(ProviderScene.clientSecret)))
                #expect(!sent.contains(reply["oauthTokenSecret"]?.string ?? "?"))
            }
        }
    }

    @Test(
        "a sign-in does not begin without a request token that is bound to the callback",
        arguments: [
            FaultCase("not confirmed", .members(set: ["oauth_callback_confirmed": "false"]), Messages.invalidAnswer),
            FaultCase("no word about it", .members(remove: ["oauth_callback_confirmed"]), Messages.invalidAnswer),
            FaultCase("no secret", .members(remove: ["oauth_token_secret"]), Messages.invalidAnswer),
            FaultCase("no token", .members(remove: ["oauth_token"]), Messages.invalidAnswer),
            FaultCase("an odd token", .members(set: ["oauth_token": "a b"]), Messages.invalidAnswer),
            FaultCase("a page", .body(Array("<html>".utf8)), Messages.invalidAnswer),
            FaultCase("nothing", .body([]), Messages.invalidAnswer),
            FaultCase("401", .status(401), Messages.clientRejected),
            FaultCase("403", .status(403), Messages.invalidAnswer),
            FaultCase("500", .status(500), Messages.providerDown),
            FaultCase("429", .status(429), Messages.providerDown),
            FaultCase("redirect", .redirect(to: "/elsewhere"), Messages.providerDown),
            FaultCase("reset", .reset, Messages.providerDown),
            FaultCase(
                "a callback that is not registered",
                .answer(
                    ProviderAnswer(403, .json(["errors": [["code": 415, "message": "Callback URL not approved"]]]))
                ),
                "INVALID_IDP_RESPONSE : 415"
            ),
        ]
    )
    func requestToken(_ test: FaultCase) async throws {
        try await Self.run { scene in
            scene.tenant.addFault(test.fault, at: .requestToken)
            try await scene.refuses(test.message) {
                try await scene.service.call(
                    "accounts:createAuthUri",
                    ["providerId": "twitter.com", "continueUri": "http://localhost/callback"]
                )
            }
            #expect(try await scene.signIn().status == 200, "the service goes on")
        }
    }

    @Test(
        "a failed exchange signs no one in",
        arguments: [
            FaultCase("401", .status(401), Messages.usedCode),
            FaultCase("500", .status(500), Messages.providerDown),
            FaultCase("reset", .reset, Messages.providerDown),
            FaultCase("no secret", .members(remove: ["oauth_token_secret"]), Messages.invalidAnswer),
            FaultCase("no token", .members(remove: ["oauth_token"]), Messages.invalidAnswer),
            FaultCase(
                "JSON",
                .body(Array(#"{"oauth_token":"a","oauth_token_secret":"b"}"#.utf8)),
                Messages.invalidAnswer
            ),
            FaultCase("T-C12: another person", .members(set: ["user_id": "1"]), Messages.invalidAnswer),
        ]
    )
    func exchange(_ test: FaultCase) async throws {
        try await ProviderScene.meets(test, at: .token, .twitter)
    }

    @Test(
        "T-C12: the profile is the proof, and must belong to the person named by the exchange",
        arguments: [
            FaultCase("401", .status(401), Messages.accessTokenRejected),
            FaultCase("403", .status(403), Messages.accessTokenRejected),
            FaultCase("500", .status(500), Messages.providerDown),
            FaultCase("the number alone", .members(remove: ["id_str"]), Messages.invalidAnswer),
            FaultCase("T-C12: another person", .members(set: ["id_str": "1"]), Messages.invalidAnswer),
            FaultCase("no address", .members(remove: ["email"]), nil),
        ]
    )
    func profile(_ test: FaultCase) async throws {
        try await ProviderScene.meets(test, at: .userinfo, .twitter)
    }

    @Test("T-B4: a callback counts only for the request token of its own flow")
    func foreignRequestToken() async throws {
        try await Self.run { scene in
            let victim = try await scene.arrive()
            let attacker = try await scene.arrive()
            let mixed = attacker.with("oauth_token", victim.fields["oauth_token"])
                .with("oauth_verifier", victim.fields["oauth_verifier"])
            try await scene.refuses(Self.mismatch) { try await scene.finish(mixed) }
            #expect(scene.tenant.requests(.token).isEmpty)
            try await scene.finish(victim).expectOK()
        }
        var options = ProviderScene.Options()
        options.expectsViolations = true
        try await Self.run(options) { scene in
            let victim = try await scene.arrive()
            let attacker = try await scene.arrive()
            let mixed = attacker.with("oauth_verifier", victim.fields["oauth_verifier"])
            try await scene.refuses(Messages.usedCode) { try await scene.finish(mixed) }
            #expect(scene.tenant.violations.map(\.rule) == [.unknownCode])
        }
    }

    @Test("a verifier that the app used itself is refused, and harms no session")
    func usedVerifier() async throws {
        try await Self.run { scene in
            let session = try await scene.signIn()
            let arrival = try await scene.arrive()
            scene.tenant.addFault(
                .answer(
                    ProviderAnswer(401, .json(["errors": [["code": 89, "message": "Invalid or expired token."]]]))
                ),
                at: .token
            )
            try await scene.refuses(Messages.usedCode) { try await scene.finish(arrival) }
            try await scene.service.refresh(session.refreshToken).expectOK()
        }
    }

    @Test("refusing, or returning with nothing, counts as a cancellation", arguments: [true, false])
    func cancelled(_ isDenied: Bool) async throws {
        try await Self.run { scene in
            scene.tenant.nextLogin(scene.ada, isDenied ? .deny : .bail)
            let arrival = try await scene.arrive()
            #expect((arrival.fields["denied"] != nil) == isDenied)
            try await scene.refuses("USER_CANCELLED") { try await scene.finish(arrival) }
            try await scene.refuses(Messages.usedFlow) { try await scene.finish(arrival) }
            #expect(scene.tenant.requests(.token).isEmpty)
        }
    }

    @Test("R-38, T-C3: an access token with its secret signs in when it was made for this client")
    func native() async throws {
        try await Self.run { scene in
            let own = scene.tenant.mintOAuth1Token(for: scene.ada)
            let reply = try await Self.signIn(scene, own.token, secret: own.secret)
            #expect(reply["isNewUser"] == true, "\(reply)")
            #expect(reply["screenName"] == "ada-login")
            #expect(reply["oauthTokenSecret"] == .string(own.secret))
            #expect(try await scene.signIn().localID == reply.localID)

            scene.tenant.addClient("another-app", secrets: ["another"], redirects: .anyLocal)
            let foreign = scene.tenant.mintOAuth1Token(for: scene.ada, client: "another-app")
            let before = scene.tenant.requests(.userinfo).count
            try await scene.refuses(Messages.accessTokenRejected) {
                try await Self.signIn(scene, foreign.token, secret: foreign.secret)
            }
            #expect(scene.tenant.requests(.userinfo).count == before + 1)
        }
    }

    @Test("R-38: a wrong secret opens nothing")
    func wrongSecret() async throws {
        var options = ProviderScene.Options()
        options.expectsViolations = true
        try await Self.run(options) { scene in
            let own = scene.tenant.mintOAuth1Token(for: scene.ada)
            try await scene.refuses(Messages.accessTokenRejected) {
                try await Self.signIn(scene, own.token, secret: String(own.secret.reversed()))
            }
            #expect(scene.tenant.violations.map(\.rule) == [.signature])
        }
    }

    @Test("R-35, R-37: a conflict, for the address is never believed, is resumed by the bare tokens, both of them")
    func conflict() async throws {
        try await Self.run { scene in
            let account: JSON = ["email": "ada@example.com", "emailVerified": true, "password": "correct horse"]
            let owner = try await scene.service.admin("accounts", account).localID
            let conflict = try await scene.signIn()
            #expect(conflict["needConfirmation"] == true, "\(conflict)")
            let token = try #require(conflict["oauthAccessToken"]?.string)
            let secret = try #require(conflict["oauthTokenSecret"]?.string)
            let user = try await scene.service.signInWithPassword("ada@example.com")
            scene.secrets.add(from: user)
            let visits = scene.tenant.requests().count
            // The token without its secret resumes nothing.
            try await scene.refuses("INVALID_IDP_RESPONSE : An access token alone is not accepted for twitter.com.") {
                try await Self.signIn(scene, token, secret: nil, idToken: user.idToken)
            }
            let linked = try await Self.signIn(scene, token, secret: secret, idToken: user.idToken)
            #expect(linked.localID == owner, "\(linked)")
            #expect(linked["oauthTokenSecret"] == .string(secret))
            #expect(scene.tenant.requests().count == visits, "without another visit")
        }
    }
}
