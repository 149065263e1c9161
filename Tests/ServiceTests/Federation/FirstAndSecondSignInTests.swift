import Development
import Domain
import Foundation
import StrictJSON
import Testing
import TestKit

@Suite("Signing in at a provider", .database, .testProvider)
struct FirstAndSecondSignInTests {
    typealias Kind = ProviderScene.Kind

    @Test(
        "R-30, R-31, R-42: the first sign-in makes an account with the provider's profile and tokens",
        arguments: Kind.allCases
    )
    func firstSignIn(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            let reply = try await scene.signIn(["context": "from-the-app"])
            reply.expectOK()
            #expect(reply["isNewUser"] == true)
            #expect(reply["kind"] == "identitytoolkit#VerifyAssertionResponse")
            #expect(reply["providerId"] == .string(kind.rawValue))
            #expect(reply["context"] == "from-the-app")
            #expect(reply["email"] == "ada@example.com")
            #expect(reply["displayName"] == "Ada")
            if kind == .github { #expect(reply["photoUrl"] == "https://pictures.example.com/ada.png") }
            #expect(reply["oauthAccessToken"]?.string?.isEmpty == false)
            #expect((reply["oauthIdToken"] != nil) == kind.isOpenID)
            #expect(reply["expiresIn"] == "3600")
            for absent in ["needConfirmation", "errorMessage", "mfaPendingCredential", "oauthRefreshToken"] {
                #expect(reply[absent] == nil, "\(absent)")
            }
            #expect(reply.response.header("cache-control") == "no-store")
            let federatedID: String =
                if kind == .google {
                    "https://accounts.google.com/" + scene.ada.subject
                } else {
                    kind.provider.isOIDC ? kind.rawValue + "/" + scene.ada.subject : scene.ada.subject
                }
            #expect(reply["federatedId"] == .string(federatedID))

            // additionalUserInfo.profile
            let profile = try JSON(parsing: Array((reply["rawUserInfo"]?.string ?? "").utf8))
            let idMember = kind.isOpenID && kind != .google ? "sub" : "id"
            #expect(reply["rawUserInfo"]?.string?.contains("\"\(idMember)\":") == true)
            let name: JSON? =
                switch kind {
                case .feedly: profile["fullName"]
                case .x: profile["data"]?["name"]
                case .discord: profile["global_name"]
                case .apple: "Ada"  // beside the claims
                default: profile["name"]
                }
            #expect(name == "Ada")

            // The user's own view, and the admin's.
            let mine = try await scene.service.lookUp(reply.idToken)["users"]?[0]
            let account = try await scene.service.account(reply.localID)
            for user in [mine, account] {
                #expect(user?["localId"]?.string == reply.localID)
                #expect(user?["email"] == "ada@example.com")
                #expect(user?["displayName"] == "Ada")
                let entry = user?["providerUserInfo"]?[0]
                #expect(entry?["providerId"] == .string(kind.rawValue))
                #expect(entry?["rawId"] == .string(scene.ada.subject), "bare, unprefixed")
                #expect(entry?["federatedId"] == .string(scene.ada.subject))
                #expect(user?["providerUserInfo"]?.array?.count == 1)
            }
            // The id by which other services authorise.
            #expect(reply.claims["sub"]?.string == reply.localID)
            #expect(reply.claims["user_id"]?.string == reply.localID)
            #expect(reply.claims["firebase"]?["sign_in_provider"] == .string(kind.rawValue))
            #expect(reply.claims["firebase"]?["identities"]?[kind.rawValue] == [.string(scene.ada.subject)])
        }
    }

    @Test(
        "a second sign-in is the same account, with its own profile and what the provider says now",
        arguments: Kind.allCases
    )
    func secondSignIn(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            let first = try await scene.signIn()
            let before = try await scene.service.account(first.localID)
            var renamed = scene.ada
            renamed.name = "Ada King"
            renamed.picture = "https://pictures.example.com/king.png"
            scene.tenant.addUser(renamed)
            scene.tenant.everyLogin(renamed)
            let second = try await scene.signIn()
            #expect(second.localID == first.localID)
            #expect(second["isNewUser"] == nil)
            // The answer has what the provider says now; Apple says no name twice.
            #expect(second["displayName"] == (kind == .apple ? nil : "Ada King"))
            let after = try await scene.service.account(first.localID)
            for name in ["displayName", "photoUrl", "email", "emailVerified", "createdAt"] {
                #expect(after?[name] == before?[name], "\(name)")
            }
            let (linked, old) = (after?["providerUserInfo"]?[0], before?["providerUserInfo"]?[0])
            #expect(linked?["displayName"] == (kind == .apple ? old?["displayName"] : "Ada King"), "\(after ?? [:])")
            #expect(linked?["email"] == old?["email"] && linked?["rawId"] == old?["rawId"])
            #expect(try await scene.service.refresh(first.refreshToken).status == 200, "the first session lives on")
        }
    }

    @Test("a profile that has become empty empties nothing", arguments: [Kind.oidc, .github])
    func emptyProfile(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            let first = try await scene.signIn()
            scene.tenant.everyLogin(scene.tenant.addUser(TestUser(scene.ada.subject, login: "ada-login")))
            let second = try await scene.signIn()
            #expect(second.localID == first.localID)
            #expect(second["email"] == nil)
            #expect(second["emailVerified"] == false)
            let account = try await scene.service.account(first.localID)
            #expect(account?["email"] == "ada@example.com")
            #expect(account?["displayName"] == "Ada")
        }
    }

    @Test("two people at one provider are two accounts", arguments: Kind.allCases)
    func twoPeople(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            let ada = try await scene.signIn()
            scene.tenant.everyLogin(scene.addGrace())
            let grace = try await scene.signIn()
            #expect(grace["isNewUser"] == true)
            #expect(ada.localID != grace.localID)
        }
    }

    @Test("T-C11: subjects that differ in a byte are different people", arguments: [Kind.oidc, .oauth2])
    func exactSubjects(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            var ids: Set<String?> = []
            // The last two are é in one scalar and in two.
            let subjects = ["1", "01", "1.0", "a", "A", " a", "K", "\u{212a}", "\u{e9}", "e\u{301}"]
            for subject in subjects {
                scene.tenant.everyLogin(scene.tenant.addUser(TestUser(subject)))
                let reply = try await scene.signIn()
                #expect(reply["isNewUser"] == true, "\(subject): \(reply)")
                ids.insert(reply.localID)
            }
            #expect(ids.count == subjects.count)
        }
    }

    @Test("R-30: the provider's refresh token comes when asked for")
    func refreshToken() async throws {
        try await ProviderScene.run(.google) { scene in
            let start: JSON = ["customParameter": ["access_type": "offline", "prompt": "consent"]]
            let plain = try await scene.signIn(start)
            #expect(plain["oauthRefreshToken"] == nil)
            let full = try await scene.signIn(start, ["returnRefreshToken": true])
            #expect(full["oauthRefreshToken"]?.string?.isEmpty == false)
        }
    }

    @Test(
        "R-32: the app calls the provider's API with the access token it got",
        arguments: Kind.withCodes.filter { $0.hasProfile && !$0.personality.requiresAppSecretProof }
    )
    func accessTokenWorks(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            let reply = try await scene.signIn()
            let token = try #require(reply["oauthAccessToken"]?.string)
            let answer = try await PlainHTTP.send(
                "GET",
                try #require(scene.tenant.url(.userinfo)),
                headers: [("Authorization", "Bearer \(token)"), ("User-Agent", "the app")]
            )
            answer.expectOK()
            #expect(answer.text.contains(scene.ada.subject))
        }
    }

    @Test("callbacks may have further parameters, which count for nothing", arguments: Kind.allCases)
    func furtherParameters(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            var login = ScriptedLogin(scene.ada)
            login.callback.append = [
                ("scope", "openid a"), ("authuser", "0"), ("hd", "evil.example"), ("prompt", "none"),
                ("session_state", "x"), ("email", "eve@example.com"), ("sub", "eve"), ("localId", "eve"),
            ]
            scene.tenant.nextLogin(login)
            let reply = try await scene.signIn()
            reply.expectOK()
            #expect(reply["email"] == "ada@example.com")
        }
    }
}
