import Development
import Domain
import Foundation
import StrictJSON
import Testing
import TestKit

@Suite("Access tokens that an app got itself", .database, .testProvider)
struct AccessTokenTests {
    typealias Kind = ProviderScene.Kind

    static let kinds = Kind.allCases.filter(\.checksAccessTokens)

    /// What this provider grants when an app asks for the usual.
    private static func token(_ scene: ProviderScene, client: String = "client", for user: TestUser? = nil) -> String {
        let scopes = scene.kind == .github ? ["read:user", "user:email"] : ["openid", "email", "profile", "identify"]
        return scene.tenant.mintAccessToken(for: user ?? scene.ada, client: client, scopes: scopes)
    }

    @Test("R-38: a token that was made for this client signs in, with the person's profile", arguments: kinds)
    func signsIn(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            let token = Self.token(scene)
            let first = try await scene.signIn(accessToken: token)
            first.expectOK()
            #expect(first["isNewUser"] == true)
            #expect(first["email"] == "ada@example.com")
            #expect(first["displayName"] == "Ada")
            #expect(first["oauthAccessToken"] == .string(token))
            #expect(first["oauthIdToken"] == nil)
            #expect(first["rawUserInfo"]?.string?.contains(scene.ada.subject) == true)
            #expect(scene.tenant.requests(.tokenCheck).count == 1)
            // The code flow knows the same person, and her address by the same rules.
            let second = try await scene.signIn()
            #expect(second.localID == first.localID)
            #expect(second["emailVerified"] == first["emailVerified"])
            #expect(second["federatedId"] == first["federatedId"])
        }
    }

    @Test("T-C3: a token issued to another client signs no one in", arguments: kinds)
    func anotherClient(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            scene.tenant.addClient("another-app", secrets: ["another"], redirects: .anyLocal)
            let token = Self.token(scene, client: "another-app")
            // GitHub knows only the tokens of the client that asks.
            try await scene.refuses(kind == .github ? Messages.accessTokenRejected : Messages.foreignAccessToken) {
                try await scene.signIn(accessToken: token)
            }
            #expect(scene.tenant.requests(.tokenCheck).count == 1)
            #expect(scene.tenant.requests(.userinfo).isEmpty, "nobody's profile is read with it")
        }
    }

    @Test("Google's credential of a popup signs in again and again: once by its ID token, then by its access token")
    func beside() async throws {
        try await ProviderScene.run(.google) { scene in
            let first = try await scene.signIn()
            let (idToken, accessToken) = (first["oauthIdToken"]?.string ?? "", first["oauthAccessToken"]?.string ?? "")
            #expect(Reply.claims(of: idToken)["nonce"] != nil)
            let body = "id_token=\(idToken)&providerId=google.com&access_token="
            for checks in [0, 1, 2] {
                let again = try await scene.service.signInWithIdP(postBody: body + accessToken)
                #expect(again.status == 200 && again.localID == first.localID, "\(again)")
                #expect(scene.tenant.requests(.tokenCheck).count == checks)
            }
            // An ID token beside another's access token is of neither.
            let other = scene.tenant.addUser(TestUser("grace", email: "grace@example.com"))
            for token in [Self.token(scene, for: other), "made-up"] {
                let refused = try await scene.service.signInWithIdP(postBody: body + token)
                #expect(refused.code == "INVALID_IDP_RESPONSE", "\(refused)")
            }
            let refused = try await scene.service.signInWithIdP(postBody: body)
            #expect(refused.code == "MISSING_OR_INVALID_NONCE", "\(refused)")
        }
    }

    @Test("T-C3: the client that asked and the client that the token is for are both ours")
    func googleAuthorizedParty() async throws {
        try await ProviderScene.run(.google) { scene in
            let token = Self.token(scene)
            for change in [
                ["azp": "another-app"], ["aud": "another-app"], ["aud": "CLIENT"],
            ] as [JSONObject] {
                scene.tenant.addFault(.members(set: change), at: .tokenCheck)
                try await scene.refuses(Messages.foreignAccessToken) { try await scene.signIn(accessToken: token) }
            }
        }
    }

    @Test("R-38: the client of a native app is as good as the web's")
    func nativeClient() async throws {
        var options = ProviderScene.Options()
        options.audiences = ["ios-app"]
        try await ProviderScene.run(.google, options) { scene in
            let reply = try await scene.signIn(accessToken: Self.token(scene, client: "ios-app"))
            reply.expectOK()
            try await scene.refuses(Messages.foreignAccessToken) {
                try await scene.signIn(accessToken: Self.token(scene, client: "android-app"))
            }
        }
    }

    @Test("R-38: an expired token signs no one in", arguments: kinds.filter { $0 != .github })
    func ended(_ kind: Kind) async throws {
        try await ProviderScene.run(kind, Self.shortLived) { scene in
            let token = Self.token(scene)
            try await scene.refuses(Messages.accessTokenRejected) { try await scene.signIn(accessToken: token) }
            #expect(scene.tenant.requests(.userinfo).isEmpty)
        }
    }

    private static let shortLived: ProviderScene.Options = {
        var options = ProviderScene.Options()
        options.personality = { $0.accessTokenLifetime = 0 }
        return options
    }()

    @Test(
        "R-38: an end that the provider states counts, even when the provider itself goes on",
        arguments: [Kind.google, .line]
    )
    func statedEnd(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            let token = Self.token(scene)
            let past = Int64(scene.service.clock.now().timeIntervalSince1970)
            scene.tenant.addFault(
                .members(set: ["exp": .string(String(past)), "expires_in": kind == .line ? 0 : "0"]),
                at: .tokenCheck
            )
            try await scene.refuses(Messages.accessTokenRejected) { try await scene.signIn(accessToken: token) }
            try await scene.signIn(accessToken: token).expectOK()
        }
    }

    @Test(
        "T-C12: the profile must belong to the person named by the check",
        arguments: [Kind.google, .github, .discord, .facebook]
    )
    func anotherPerson(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            let token = Self.token(scene)
            scene.tenant.addFault(
                .members(set: [kind == .google ? "sub" : "id": "77"]),
                at: .userinfo
            )
            try await scene.refuses(Messages.invalidAnswer) { try await scene.signIn(accessToken: token) }
            try await scene.signIn(accessToken: token).expectOK()
        }
    }

    @Test(
        "R-38: a check that fails or returns nothing signs no one in",
        arguments: [
            FaultCase("401", .status(401), Messages.accessTokenRejected),
            FaultCase("404", .status(404), Messages.accessTokenRejected),
            FaultCase("429", .status(429), Messages.providerDown),
            FaultCase("500", .status(500), Messages.providerDown),
            FaultCase("reset", .reset, Messages.providerDown),
            FaultCase("redirect", .redirect(to: "/elsewhere"), Messages.providerDown),
            FaultCase("another content type", .contentType("text/html"), Messages.invalidAnswer),
            FaultCase("a list", .body(Array("[]".utf8)), Messages.invalidAnswer),
            FaultCase("empty", .body(Array("{}".utf8)), Messages.invalidAnswer),
            FaultCase("nothing", .body([]), Messages.invalidAnswer),
            FaultCase(
                "no client",
                .members(remove: ["aud", "app", "client_id", "application", "data"]),
                Messages.invalidAnswer
            ),
            FaultCase(
                "a list of clients",
                .members(set: [
                    "aud": ["client"], "app": ["client"], "client_id": ["client"], "application": ["client"],
                    "data": ["client"],
                ]),
                Messages.invalidAnswer
            ),
        ],
        kinds
    )
    func faults(_ test: FaultCase, _ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            let token = Self.token(scene)
            scene.tenant.addFault(test.fault, at: .tokenCheck)
            try await scene.refuses(test.message) { try await scene.signIn(accessToken: token) }
            #expect(scene.tenant.requests(.userinfo).isEmpty)
            #expect(try await scene.signIn(accessToken: token).status == 200, "the service goes on")
        }
    }

    @Test("R-38: a check that does not say whose token it is", arguments: [Kind.github, .discord])
    func noUser(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            scene.tenant.addFault(.members(remove: ["user"]), at: .tokenCheck)
            try await scene.refuses(Messages.invalidAnswer) { try await scene.signIn(accessToken: Self.token(scene)) }
        }
    }

    @Test("R-38: an admin can refuse what the definition allows", arguments: kinds)
    func switchedOff(_ kind: Kind) async throws {
        var options = ProviderScene.Options()
        options.definition = ["directSignIn": ["accessToken": .null]]
        try await ProviderScene.run(kind, options) { scene in
            try await scene.refuses(
                "INVALID_IDP_RESPONSE : An access token alone is not accepted for \(kind.rawValue)."
            ) { try await scene.signIn(accessToken: Self.token(scene)) }
            #expect(scene.tenant.requests().isEmpty)
        }
    }
}
