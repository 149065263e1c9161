import Development
import Domain
import Foundation
import Projects
import Secrets
import StrictJSON
import Testing
import TestKit
import Text

@Suite("Sign in with Apple", .database, .testProvider)
struct AppleTests {
    private static func run(
        _ options: ProviderScene.Options = .init(),
        _ body: @Sendable (ProviderScene) async throws -> Void
    ) async throws {
        try await ProviderScene.run(.apple, options, body)
    }

    @Test("the client secret is signed for each request, for the client of the flow, and lives for minutes")
    func mintedSecret() async throws {
        try await Self.run { scene in
            let arrival = try await scene.arrive()
            #expect(arrival.request["response_mode"] == "form_post")
            #expect(arrival.request["scope"] == "name email")
            try await scene.finish(arrival).expectOK()
            scene.service.clock.advance(by: 60)
            try await scene.signIn().expectOK()
            let secrets = scene.tenant.requests(.token).compactMap { $0.fields["client_secret"] }
            #expect(Set(secrets).count == 2)
            let claims = Reply.claims(of: try #require(secrets.first))
            #expect(claims["sub"] == "client")
            #expect(claims["aud"] == .string(scene.tenant.issuer))
            let (issued, expires) = (claims["iat"]?.number ?? 0, claims["exp"]?.number ?? 0)
            #expect((1...600).contains(expires - issued))
        }
    }

    @Test("R-66, R-67: the name comes once, is kept, and no later sign-in empties or replaces it")
    func nameComesOnce() async throws {
        try await Self.run { scene in
            let first = try await scene.arrive()
            #expect(first.fields["user"] != nil)
            let reply = try await scene.finish(first)
            #expect(reply["displayName"] == "Ada")
            let second = try await scene.arrive()
            #expect(second.fields["user"] == nil, "the provider says it once")
            #expect(try await scene.finish(second).localID == reply.localID)
            #expect(try await scene.service.account(reply.localID)?["displayName"] == "Ada")
        }
    }

    @Test("R-66, T-B10: of the fields beside the token only the name is used; the address is the token's")
    func unsignedUser() async throws {
        try await Self.run { scene in
            let arrival = try await scene.arrive()
            let lie = #"{"name":{"firstName":"Eve","lastName":"<b>"},"email":"victim@example.com"}"#
            let reply = try await scene.finish(arrival.with("user", lie))
            #expect(reply["email"] == "ada@example.com")
            #expect(reply["displayName"] == "Eve <b>")
            // The person withheld the address; what stands beside the token is none.
            scene.tenant.everyLogin(scene.tenant.addUser(TestUser("somebody-else")))
            let second = try await scene.finish(try await scene.arrive().with("user", lie))
            second.expectOK()
            #expect(second["email"] == nil)
        }
        for broken in [
            "{", "[]", "null", #"{"name":"x"}"#, #"{"name":{"firstName":7}}"#, String(repeating: "{", count: 9_000),
            #"{"name":{"firstName":"\#(String(repeating: "x", count: 129))"}}"#, #"{"name":{"firstName":"a\u0007"}}"#,
            #"{"name":{"firstName":"Eve"},"more":"\#(String(repeating: "x", count: 4_096))"}"#,
        ] {
            try await Self.run { scene in
                let reply = try await scene.finish(try await scene.arrive().with("user", broken))
                #expect(reply.status == 200, "\(broken.prefix(20)): \(reply)")
                #expect(reply["displayName"] == nil)
            }
        }
    }

    @Test("R-64, R-74: without scopes there is no name and no address, and the sign-in succeeds by the subject alone")
    func withoutScopes() async throws {
        var options = ProviderScene.Options()
        options.definition = ["scopes": ["default": []]]
        try await Self.run(options) { scene in
            var nobody = scene.ada
            nobody.email = nil
            scene.tenant.everyLogin(scene.tenant.addUser(nobody))
            let arrival = try await scene.arrive()
            #expect(arrival.request["scope"] == nil)
            let reply = try await scene.finish(arrival)
            reply.expectOK()
            #expect(reply["email"] == nil)
            #expect(try await scene.signIn().localID == reply.localID)
            let token = try scene.tenant.mintIDToken(for: nobody)
            #expect(try await scene.signIn(idToken: token).localID == reply.localID)
        }
    }

    @Test("R-65, R-72: bundle ids and the Services ID are audiences of one provider, and one person is one account")
    func audiences() async throws {
        try await Self.run { scene in
            let path = "defaultSupportedIdpConfigs/apple.com?updateMask=appleSignInConfig"
            let change = try await scene.service.admin(
                path,
                ["appleSignInConfig": ["bundleIds": ["com.example.app", "com.example.watch"]]],
                method: "PATCH",
                version: "v2"
            )
            change.expectOK()
            let web = try await scene.signIn()
            for bundle in ["com.example.app", "com.example.watch", "client"] {
                let raw = "raw-\(bundle)"
                let token = try scene.tenant.mintIDToken(
                    for: scene.ada,
                    client: bundle,
                    nonce: SecureHash.sha256Hex(raw)
                )
                #expect(try await scene.signIn(idToken: token, nonce: raw).localID == web.localID)
            }
            let foreign = try scene.tenant.mintIDToken(for: scene.ada, client: "com.example.other")
            let refused = try await scene.signIn(idToken: foreign)
            #expect(refused.status == 400)
            #expect(refused.error?.contains("audience") == true, "\(refused)")
        }
    }

    @Test("R-68: the address of Apple counts as verified", arguments: [true, false])
    func verifiedAddress(asText: Bool) async throws {
        var options = ProviderScene.Options()
        options.personality = { personality in
            let claims = personality.claims
            if !asText { personality.claims = { claims($0, $1).changed(set: ["email_verified": true]) } }
        }
        try await Self.run(options) { scene in
            let reply = try await scene.signIn()
            #expect(reply["emailVerified"] == true)
            #expect(try await scene.service.account(reply.localID)?["emailVerified"] == true)
        }
    }

    @Test(
        "T-C17: the address of a managed account, unverified at Apple, opens and takes over no existing account",
        arguments: [JSONValue.bool(false), "false"],
        [nil, false, true]
    )
    func managedAccount(flag: JSONValue, victimVerified: Bool?) async throws {
        var options = ProviderScene.Options()
        options.personality = { personality in
            let claims = personality.claims
            personality.claims = { claims($0, $1).changed(set: ["email_verified": flag]) }
        }
        try await Self.run(options) { scene in
            guard let victimVerified else {
                let reply = try await scene.signIn()
                #expect(reply["emailVerified"] == false, "\(reply)")
                #expect(try await scene.service.account(reply.localID)?["emailVerified"] == false)
                return
            }
            let victim = try await scene.service.admin(
                "accounts",
                ["email": JSON(scene.ada.email), "emailVerified": .bool(victimVerified), "password": "correct horse"]
            )
            let reply = try await scene.signIn()
            #expect(reply["needConfirmation"] == true && reply["idToken"] == nil, "\(reply)")
            let account = try #require(try await scene.service.account(victim.localID))
            #expect(account.providers == ["password"])
            #expect(account["emailVerified"] == .bool(victimVerified))
        }
    }

    @Test("R-69: a relay address is treated like any address, and matches no other user's account")
    func relay() async throws {
        try await Self.run { scene in
            var ada = scene.ada
            ada.email = "x7h2@privaterelay.appleid.com"
            scene.tenant.everyLogin(scene.tenant.addUser(ada))
            let squatter = try await scene.service.signUp("x7h2@privaterelay.appleid.com")
            squatter.expectOK()
            let reply = try await scene.signIn()
            reply.expectOK()
            #expect(reply.localID != squatter.localID)
            #expect(try await scene.service.account(reply.localID)?["email"] == nil)
            #expect(try await scene.signIn().localID == reply.localID)
        }
        try await Self.run { scene in
            var ada = scene.ada
            ada.email = "k9@privaterelay.appleid.com"
            scene.tenant.everyLogin(scene.tenant.addUser(ada))
            let reply = try await scene.signIn()
            #expect(reply["email"] == "k9@privaterelay.appleid.com")
            #expect(reply["rawUserInfo"]?.string?.contains(#""is_private_email":"true""#) == true)
        }
    }

    @Test(
        "T-C14: an address asserted by Apple opens no existing account where linking needs a confirmation",
        arguments: [true, false]
    )
    func forgedAddress(verified: Bool) async throws {
        var options = ProviderScene.Options()
        options.service.settings.linking = .confirm
        try await Self.run(options) { scene in
            let victim = try await scene.service.signUp("ada@example.com")
            let proof = try await scene.service.admin(
                "accounts:update",
                ["localId": JSON(victim.localID), "emailVerified": .bool(verified)]
            )
            proof.expectOK()
            let reply = try await scene.signIn()
            #expect(reply["needConfirmation"] == true, "\(reply)")
            #expect(reply["idToken"] == nil && reply["refreshToken"] == nil)
            let account = try #require(try await scene.service.account(victim.localID))
            #expect(account["providerUserInfo"]?.array?.map { $0["providerId"] } == ["password"])
        }
    }

    @Test("both spellings of the issuer are one issuer")
    func issuers() async throws {
        var options = ProviderScene.Options()
        options.definition = ["issuers": ["{base}", "https://account.apple.com"]]
        try await Self.run(options) { scene in
            let reply = try await scene.signIn()
            let other = try scene.tenant.mintIDToken(
                for: scene.ada,
                changes: IDTokenChanges(set: ["iss": "https://account.apple.com"])
            )
            #expect(try await scene.signIn(idToken: other).localID == reply.localID)
            let third = try scene.tenant.mintIDToken(
                for: scene.ada,
                changes: IDTokenChanges(set: ["iss": "https://account.apple.com.evil.example"])
            )
            #expect(try await scene.signIn(idToken: third).status == 400)
        }
    }

    @Test("R-21: the key is configuration as Firebase shapes it, write-only, and a bad one is refused by name")
    func configuration() async throws {
        let key = AppleClientKey()
        try await TestService.run { service in
            let path = "defaultSupportedIdpConfigs?idpId=apple.com"
            func body(_ codeFlow: JSON) -> JSON {
                [
                    "enabled": true, "clientId": "com.example.service",
                    "appleSignInConfig": ["bundleIds": ["com.example.app"], "codeFlowConfig": codeFlow],
                ]
            }
            for (codeFlow, problem) in [
                (["teamId": "T", "keyId": "K", "privateKey": "nonsense"], "clientSecret must be a private key"),
                (["keyId": "K", "privateKey": .string(key.pem)], "definition.variables.teamId is missing"),
                (["teamId": "T", "privateKey": .string(key.pem)], "definition.variables.keyId is missing"),
            ] as [(JSON, String)] {
                let reply = try await service.admin(path, body(codeFlow), version: "v2")
                #expect(reply.status == 400)
                #expect(reply.error?.contains(problem) == true, "\(reply)")
                #expect(!reply.description.contains("nonsense"))
            }
            let made = try await service.admin(
                path,
                body(["teamId": "TEAM", "keyId": "KEY", "privateKey": .string(key.pem)]),
                version: "v2"
            )
            made.expectOK()
            #expect(
                made["appleSignInConfig"] == [
                    "codeFlowConfig": ["teamId": "TEAM", "keyId": "KEY"], "bundleIds": ["com.example.app"],
                ]
            )
            #expect(!made.description.contains("PRIVATE KEY"))
            // What is said elsewhere of the definition takes no bundle id away.
            let trusting = try await service.admin(
                "defaultSupportedIdpConfigs/apple.com?updateMask=definition",
                ["definition": ["emailTrust": "never", "variables": ["teamId": "TEAM", "keyId": "KEY"]]],
                method: "PATCH",
                version: "v2"
            )
            #expect(trusting["appleSignInConfig"]?["bundleIds"]?.array == ["com.example.app"])
            // Without a key, native apps sign in and flows are refused before anybody leaves for Apple.
            let cleared = try await service.admin(
                "defaultSupportedIdpConfigs/apple.com?updateMask=clientSecret",
                [:],
                method: "PATCH",
                version: "v2"
            )
            cleared.expectOK()
            let flow = try await service.call(
                "accounts:createAuthUri",
                ["providerId": "apple.com", "continueUri": "http://localhost/callback"]
            )
            #expect(flow.status == 400)
        }
    }
}
