import Development
import Domain
import Foundation
import Projects
import Secrets
import Storage
import StrictJSON
import Testing
import TestKit
import Text

@Suite("Facebook", .database, .testProvider)
struct FacebookTests {
    private static func run(
        _ options: ProviderScene.Options = .init(),
        _ body: @Sendable (ProviderScene) async throws -> Void
    ) async throws {
        try await ProviderScene.run(.facebook, options, body)
    }

    @Test(
        "the Graph API is called in the configured version, with a proof of the app's secret, and never with the secret"
    )
    func calls() async throws {
        try await Self.run { scene in
            let arrival = try await scene.arrive(["customParameter": ["auth_type": "reauthenticate"]])
            #expect(arrival.callback.hasSuffix("#_=_"))
            #expect(arrival.request["auth_type"] == "reauthenticate")
            let reply = try await scene.finish(arrival)
            reply.expectOK()
            #expect(reply["photoUrl"] == "https://pictures.example.com/ada.png")
            #expect(reply["firstName"] == "Ada")
            #expect(reply["lastName"] == "Lovelace")
            let token = try #require(reply["oauthAccessToken"]?.string)
            let profile = try #require(scene.tenant.requests(.userinfo).first)
            let proof = AppSecretProof.of(token, secret: ProviderScene.clientSecret)
            #expect(FormFields(profile.query)["appsecret_proof"] == proof)
            #expect(FormFields(profile.query)["fields"] == "id,name,first_name,last_name,email,picture")
            #expect(FormFields(profile.query)["access_token"] == nil)
            let check = try #require(scene.tenant.requests(.tokenCheck).first)
            #expect(FormFields(check.query)["input_token"] == token)
            for request in scene.tenant.requests() { #expect(request.path.contains("/v23.0/"), "\(request.path)") }
        }
    }

    @Test("another version of the Graph API is a variable")
    func version() async throws {
        var options = ProviderScene.Options()
        options.personality = { personality in
            for (endpoint, path) in personality.paths {
                personality.paths[endpoint] = path.replacing("v23.0", with: "v99.1")
            }
        }
        try await Self.run(options) { scene in
            let base = JSONValue.string(scene.tenant.base)
            try await scene.service.stores.configuration.replaceProvider(
                scene.tenant.configuration(
                    as: scene.provider,
                    overrides: ["variables": ["base": base, "graph": base, "limited": base, "version": "v99.1"]]
                ),
                in: Scope(project: scene.service.project.id)
            )
            try await scene.signIn().expectOK()
        }
    }

    /// What `debug_token` may say that ends a sign-in.
    static let refusals = [
        FaultCase("another app", .data(["app_id": "another-app"]), Messages.foreignAccessToken),
        FaultCase("a number that is no app of ours", .data(["app_id": 1]), Messages.foreignAccessToken),
        FaultCase("not valid", .data(["is_valid": false]), Messages.accessTokenRejected),
        FaultCase("valid as a text", .data(["is_valid": "true"]), Messages.accessTokenRejected),
        FaultCase("no word about it", .data(remove: ["is_valid"]), Messages.invalidAnswer),
        FaultCase("no app", .data(remove: ["app_id"]), Messages.invalidAnswer),
        FaultCase("no user", .data(remove: ["user_id"]), Messages.invalidAnswer),
        FaultCase("an empty user", .data(["user_id": ""]), Messages.invalidAnswer),
        FaultCase("another user", .data(["user_id": "eve"]), Messages.invalidAnswer),
        FaultCase("expired", .data(["expires_at": 1_000_000_000]), Messages.accessTokenRejected),
        FaultCase("no end", .data(remove: ["expires_at"]), Messages.invalidAnswer),
        FaultCase(
            "refused as Facebook refuses the token of another app",
            .body(
                Array(
                    #"{"data":{"error":{"code":100,"message":"not the Viewing App"},"is_valid":false,"scopes":[]}}"#
                        .utf8
                )
            ),
            Messages.accessTokenRejected
        ),
        FaultCase("401", .status(401), Messages.accessTokenRejected),
        FaultCase("500", .status(500), Messages.providerDown),
        FaultCase("reset", .reset, Messages.providerDown),
    ]

    @Test("T-C3, T-C12: a code's access token must be our app's and the profile's", arguments: refusals)
    func exchanged(_ test: FaultCase) async throws {
        try await ProviderScene.meets(test, at: .tokenCheck, .facebook)
    }

    @Test("R-38, T-C3, T-C12: a native access token must be our app's and the profile's", arguments: refusals)
    func native(_ test: FaultCase) async throws {
        try await Self.run { scene in
            let token = scene.tenant.mintAccessToken(for: scene.ada, scopes: ["public_profile", "email"])
            scene.tenant.addFault(test.fault, at: .tokenCheck)
            try await scene.refuses(test.message) { try await scene.signIn(accessToken: token) }
            let reply = try await scene.signIn(accessToken: token)
            #expect(reply.status == 200, "the service goes on: \(reply)")
        }
    }

    @Test("a token without an end is good")
    func endless() async throws {
        try await Self.run { scene in
            scene.tenant.addFault(.data(["expires_at": 0]), at: .tokenCheck)
            let reply = try await scene.signIn()
            reply.expectOK()
        }
    }

    @Test("a person without an address, or who gives none, has an account all the same", arguments: [true, false])
    func noAddress(_ isRefused: Bool) async throws {
        try await Self.run { scene in
            var login = ScriptedLogin(scene.tenant.addUser(TestUser("1234", email: isRefused ? "a@example.com" : nil)))
            if isRefused { login.grantedScopes = ["public_profile"] }
            scene.tenant.nextLogin(login)
            let reply = try await scene.signIn()
            #expect(reply["isNewUser"] == true, "\(reply)")
            #expect(reply["email"] == nil)
            #expect(try await scene.service.account(reply.localID)?["email"] == nil)
        }
    }

    @Test(
        "errors as objects are understood",
        arguments: [
            (#"{"error":{"message":"used","type":"OAuthException","code":100}}"#, Messages.usedCode),
            (#"{"error":{"message":"bad","type":"OAuthException","code":1}}"#, Messages.clientRejected),
            (#"{"error":{"message":"app","type":"OAuthException","code":101}}"#, Messages.clientRejected),
            (#"{"error":{"message":"?","type":"OAuthException","code":12}}"#, "INVALID_IDP_RESPONSE : 12"),
            (#"{"error":{"message":"?","type":"OAuthException"}}"#, "INVALID_IDP_RESPONSE : OAuthException"),
        ]
    )
    func nestedErrors(body: String, message: String) async throws {
        try await Self.run { scene in
            let arrival = try await scene.arrive()
            scene.tenant.addFault(.answer(ProviderAnswer(400, .json(.raw(body)))), at: .token)
            try await scene.refuses(message) { try await scene.finish(arrival) }
        }
    }

    @Test("refusing at Facebook counts as a cancellation")
    func refuses() async throws {
        try await Self.run { scene in
            var login = ScriptedLogin(scene.ada, .deny)
            login.callback.append = [("error_code", "200"), ("error_reason", "user_denied")]
            scene.tenant.nextLogin(login)
            let arrival = try await scene.arrive()
            try await scene.refuses("USER_CANCELLED") { try await scene.finish(arrival) }
        }
    }

    // MARK: Long-lived tokens

    private static let keeping: ProviderScene.Options = {
        var options = ProviderScene.Options()
        options.definition = ["keepTokens": true]
        return options
    }()

    @Test("R-51: where tokens are kept, the access token is exchanged at once for one of 60 days, and again at its end")
    func longLived() async throws {
        try await Self.run(Self.keeping) { scene in
            let user = try await scene.signIn()
            #expect(user["oauthExpireIn"]?.number == 5_184_000, "\(user)")
            let exchange = try #require(scene.tenant.requests(.token).last)
            #expect(exchange.fields["grant_type"] == "fb_exchange_token")
            #expect(exchange.fields["client_secret"] == ProviderScene.clientSecret)
            #expect(exchange.fields["fb_exchange_token"] != user["oauthAccessToken"]?.string)
            let first = try await scene.providerToken(user.idToken)
            #expect(first["oauthAccessToken"] == user["oauthAccessToken"], "\(first)")
            #expect(scene.tenant.requests(.token).count == 2)

            scene.service.clock.advance(by: 5_184_000 - 60)
            let second = try await scene.providerToken(scene.session(user))
            second.expectOK()
            #expect(second["oauthAccessToken"] != first["oauthAccessToken"])
            #expect(
                scene.tenant.requests(.token).last?.fields["fb_exchange_token"] == first["oauthAccessToken"]?.string
            )

            scene.tenant.revokeGrant(of: scene.ada)
            scene.service.clock.advance(by: 5_184_000)
            #expect(try await scene.providerToken(scene.session(user)).error == "PROVIDER_CONSENT_REQUIRED")
        }
    }

    @Test("a sign-in works when Facebook refuses the longer-lived token, which only the setting requests")
    func shortLived() async throws {
        try await Self.run(Self.keeping) { scene in
            scene.tenant.addFault(.status(500), at: .token, call: 2)
            let user = try await scene.signIn()
            #expect(user["oauthExpireIn"]?.number == 5_400, "\(user)")
        }
        try await Self.run { scene in
            let user = try await scene.signIn()
            #expect(user["oauthExpireIn"]?.number == 5_400)
            #expect(scene.tenant.requests(.token).count == 1)
        }
    }

    // MARK: Limited Login

    /// A token as the iOS SDK gets it, for the nonce `raw`.
    private static func limited(
        _ scene: ProviderScene,
        nonce: String? = SecureHash.sha256Hex("raw"),
        _ changes: IDTokenChanges = .none
    ) throws -> String {
        try scene.tenant.mintIDToken(for: scene.ada, nonce: nonce, changes: changes)
    }

    @Test("Limited Login: the ID token is the same person as the access token, whose address is never verified")
    func limitedLogin() async throws {
        try await Self.run { scene in
            let reply = try await scene.signIn(idToken: Self.limited(scene), nonce: "raw")
            reply.expectOK()
            #expect(reply["email"] == "ada@example.com")
            #expect(reply["emailVerified"] == false)
            #expect(reply["displayName"] == "Ada")
            #expect(reply["firstName"] == "Ada")
            #expect(reply["photoUrl"] == "https://pictures.example.com/ada.png")
            #expect(reply["rawUserInfo"]?.string?.contains(#""sub":"#) == true)
            #expect(try await scene.signIn().localID == reply.localID)
            let claiming = try Self.limited(scene, IDTokenChanges(set: ["email_verified": true, "jti": "2"]))
            #expect(try await scene.signIn(idToken: claiming, nonce: "raw")["emailVerified"] == false)
        }
    }

    @Test("Limited Login: T-C4: a nonce is needed, on both sides, and is good once")
    func limitedLoginNonce() async throws {
        try await Self.run { scene in
            let token = try Self.limited(scene)
            try await scene.refuses(Messages.noNonce) { try await scene.signIn(idToken: token) }
            try await scene.refuses(Messages.otherNonce) { try await scene.signIn(idToken: token, nonce: "other") }
            let without = try Self.limited(scene, nonce: nil)
            try await scene.refuses(Messages.noNonce) { try await scene.signIn(idToken: without) }
            try await scene.refuses(Messages.otherNonce) { try await scene.signIn(idToken: without, nonce: "raw") }
            try await scene.signIn(idToken: token, nonce: "raw").expectOK()
            try await scene.refuses(Messages.duplicate) { try await scene.signIn(idToken: token, nonce: "raw") }
        }
    }

    @Test("Limited Login: T-C1, T-C2: another issuer, another app, another key")
    func limitedLoginForOthers() async throws {
        try await Self.run { scene in
            for (claim, value) in [("iss", "https://facebook.com"), ("aud", "another-app")] {
                let token = try Self.limited(scene, IDTokenChanges(set: [claim: .string(value)], remove: ["azp"]))
                try await scene.refuses(nil) { try await scene.signIn(idToken: token, nonce: "raw") }
            }
            let forged = try Self.limited(scene, IDTokenChanges(signature: .bytes([UInt8](repeating: 7, count: 256))))
            try await scene.refuses(Messages.badSignature) { try await scene.signIn(idToken: forged, nonce: "raw") }
        }
    }
}

extension ProviderFault {
    /// Changes members of `data`.
    fileprivate static func data(_ set: JSONObject = [:], remove: Set<String> = []) -> ProviderFault {
        .rewrite { answer in
            guard case .json(let value) = answer.body, let data = value["data"]?.object else { return answer }
            var changed = answer
            changed.body = .json(["data": .object(data.changed(set: set, remove: remove))])
            return changed
        }
    }
}
