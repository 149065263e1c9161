import Development
import Domain
import Foundation
import InMemoryLogging
import Projects
import Storage
import StrictJSON
import Testing
import TestKit

/// Firebase's blocking functions: functions of the project that are asked, and can refuse.
@Suite("Blocking functions", .database, .testProvider)
struct BlockingFunctionTests {
    @Test(
        "every way in asks before it makes an account and before it signs in, once each",
        arguments: EntrancePath.allCases
    )
    func everyPathAsks(_ path: EntrancePath) async throws {
        try await FunctionScene.run { scene in
            let first = try await path.enter(scene)
            first.expectOK()
            #expect(scene.asked == ["/create", "/sign-in"])
            let account = try #require(first.claims["sub"]?.string)
            for event in ["/create", "/sign-in"] {
                let question = try await scene.question(to: event)
                #expect(question["event_type"]?.string == (event == "/create" ? "beforeCreate" : "beforeSignIn"))
                #expect(question["sub"]?.string == account && question["user_record"]?["uid"]?.string == account)
                #expect(question["sign_in_method"]?.string == path.rawValue, "\(question)")
                #expect(question["event_id"]?.string?.isEmpty == false)
                #expect(question["ip_address"] == "127.0.0.1")
                let metadata = question["user_record"]?["metadata"]
                #expect(metadata?["last_sign_in_time"] == metadata?["creation_time"], "\(question)")
            }
            guard path.returns else { return }
            let before = try #require(try await scene.service.account(account)?["lastLoginAt"]?.string)
            scene.service.clock.advance(by: 90)
            let second = try await path.enter(scene, isNew: false)
            second.expectOK()
            #expect(scene.asked == ["/create", "/sign-in", "/sign-in"])
            let question = try await scene.question(to: "/sign-in")
            #expect(question["sign_in_method"]?.string == path.rawValue)
            #expect(question["user_record"]?["metadata"]?["last_sign_in_time"]?.number == Double(before), "\(question)")
            let refreshed = try await scene.service.refresh(second.refreshToken)
            #expect(refreshed.status == 200 && scene.asked.count == 3, "a refresh asks nobody")
        }
    }

    @Test(
        "a function that refuses leaves nothing behind, and its words reach the app",
        arguments: EntrancePath.allCases
    )
    func everyPathIsRefused(_ path: EntrancePath) async throws {
        let denial = #"{"error":{"status":"PERMISSION_DENIED","message":"Not you : never"}}"#
        let told =
            "BLOCKING_FUNCTION_ERROR_RESPONSE : HTTP Cloud Function returned an error: "
            + #"{"error":{"status":"PERMISSION_DENIED","message":"Not you: never"}}"#
        try await FunctionScene.run { scene in
            for event in ["/create", "/sign-in"] {
                scene.receiver.answer { $0.path == event ? (403, denial) : (200, "{}") }
                try await path.enter(scene).expectRefused(told)
                #expect(try await scene.written() == [0, 0], "\(event)")
            }
            scene.receiver.answer { _ in (200, "{}") }
            try await path.enter(scene).expectOK()
            guard path.returns else { return }
            let before = try await scene.written()
            scene.receiver.answer { _ in (403, denial) }
            try await path.enter(scene, isNew: false).expectRefused(told)
            #expect(try await scene.written() == before)
        }
    }

    @Test("a function is asked by the issuer of the project's ID tokens")
    func asksAsTheIssuer() async throws {
        try await FunctionScene.run({ $0.tokenIssuer = .own }) { scene in
            let reply = try await scene.service.signUp("ada@example.com")
            let issuer = "https://id.example.com/\(scene.service.project.id)"
            #expect(reply.claims["iss"]?.string == issuer)
            #expect(try await scene.question(to: "/sign-in")["iss"]?.string == issuer)
        }
    }

    @Test(
        "a function's changes are written with the sign-in, and appear in its tokens",
        arguments: EntrancePath.allCases
    )
    func everyPathIsChanged(_ path: EntrancePath) async throws {
        let answer = { @Sendable (name: String) in
            """
            {"userRecord": {"updateMask": "displayName,photoURL,customClaims,sessionClaims,unheardOf",
                "displayName": "\(name)", "photoURL": "https://pictures.example/1", "customClaims": {"role": "\(name)"},
                "sessionClaims": {"door": "front"}, "unheardOf": 1, "disabled": true}}
            """
        }
        try await FunctionScene.run { scene in
            scene.receiver.answer { (200, $0.path == "/create" ? answer("created") : "{}") }
            let first = try await path.enter(scene)
            #expect(first.claims["name"] == "created" && first.claims["role"] == "created", "\(first)")
            // A session's claims are for the second event to say.
            #expect(first.claims["door"] == nil)
            let id = try #require(first.claims["sub"]?.string)
            #expect(try await scene.service.account(id)?["displayName"] == "created")
            #expect(try await scene.service.account(id)?["photoUrl"] == "https://pictures.example/1")
            guard path.returns else { return }
            scene.receiver.answer { _ in (200, answer("seen")) }
            let second = try await path.enter(scene, isNew: false)
            #expect(second.claims["sub"]?.string == id, "\(second)")
            for token in [second, try await scene.service.refresh(second.refreshToken)] {
                #expect(token.claims["name"] == "seen" && token.claims["role"] == "seen", "\(token)")
                #expect(token.claims["door"] == "front")
            }
            let account = try await scene.service.account(id)
            #expect(account?["displayName"] == "seen" && account?["customAttributes"] == #"{"role":"seen"}"#)
            #expect(account?["disabled"] == nil, "what the mask does not name is ignored")
        }
    }

    @Test("T-E6: an address that a function verifies leaves an earlier, unverified one no right")
    func verifies() async throws {
        try await FunctionScene.run { scene in
            let service = scene.service
            let user = try await service.signUp("ada@example.co")
            let moved = try await service.move(user, to: "ada@example.com")
            moved.expectOK()
            let code = try await service.mail(.recoverEmail, to: "ada@example.co").code
            scene.receiver.answer { _ in
                (200, #"{"userRecord": {"updateMask": "emailVerified", "emailVerified": true}}"#)
            }
            #expect(try await service.signInWithPassword("ada@example.com").claims["email_verified"] == true)
            try await service.apply(code).expectRefused("INVALID_OOB_CODE")
        }
    }

    @Test("T-D12: a function's response does not take the verified email from an account with second factors")
    func unverifies() async throws {
        try await FunctionScene.run { scene in
            let service = scene.service
            let made = try await service.admin(
                "accounts",
                [
                    "email": "ada@example.com", "emailVerified": true, "password": "correct horse",
                    "mfaInfo": [["phoneInfo": "+491701234567"]],
                ]
            )
            scene.receiver.answer { _ in
                (200, #"{"userRecord": {"updateMask": "emailVerified", "emailVerified": false}}"#)
            }
            let reply = try await service.signInWithPassword("ada@example.com")
            #expect(reply.code == "BLOCKING_FUNCTION_ERROR_RESPONSE", "\(reply)")
            #expect(try await service.account(made.localID)?["emailVerified"] == true)
        }
    }

    @Test("an account that a function disables is written, and refused", arguments: EntrancePath.allCases)
    func everyPathIsDisabled(_ path: EntrancePath) async throws {
        let answer = #"{"userRecord": {"updateMask": "disabled", "disabled": true}}"#
        try await FunctionScene.run { scene in
            scene.receiver.answer { (200, $0.path == "/create" ? answer : "{}") }
            try await path.enter(scene).expectRefused("USER_DISABLED")
            #expect(scene.asked == ["/create"])
            #expect(try await scene.written() == [1, 0])
        }
        try await FunctionScene.run { scene in
            try await path.enter(scene).expectOK()
            guard path.returns else { return }
            scene.receiver.answer { _ in (200, answer) }
            try await path.enter(scene, isNew: false).expectRefused("USER_DISABLED")
            #expect(try await scene.written() == [1, 1])
            scene.receiver.answer { _ in (200, "{}") }
            guard path != .emailLink else {
                try await scene.service.sendCode(.emailSignIn, ["email": "ada@example.com"])
                    .expectRefused("USER_DISABLED")
                return
            }
            try await path.enter(scene, isNew: false).expectRefused("USER_DISABLED")
        }
    }

    @Test("a function that was asked about an account as it was before disables no other")
    func disablesWhatItSaw() async throws {
        try await FunctionScene.run { scene in
            let user = try await scene.service.signUp("ada@example.com")
            let id = try #require(user.localID)
            scene.receiver.answer { _ in
                let reply = try? await scene.service.admin(
                    "accounts:update",
                    ["localId": .string(id), "displayName": "Ada"]
                )
                reply?.expectOK()
                return (200, #"{"userRecord": {"updateMask": "disabled", "disabled": true}}"#)
            }
            let reply = try await scene.service.signInWithPassword("ada@example.com")
            #expect(reply.status == 503, "\(reply)")
            scene.receiver.answer { _ in (200, "{}") }
            try await scene.service.signInWithPassword("ada@example.com").expectOK()
        }
    }

    @Test("a provider's tokens are told where the project says so, each by itself, and never otherwise")
    func forwardsTokens() async throws {
        let names = ["oauth_id_token", "oauth_access_token", "oauth_refresh_token"]
        for wanted in [[], [0], [1], [2]] {
            try await FunctionScene.run({ settings in
                settings.blockingFunctions.forwardsIDToken = wanted == [0]
                settings.blockingFunctions.forwardsAccessToken = wanted == [1]
                settings.blockingFunctions.forwardsRefreshToken = wanted == [2]
            }) { scene in
                scene.tenant.everyLogin(
                    scene.tenant.addUser(TestUser("ada", email: "ada@example.com", emailVerified: true, name: "Ada"))
                )
                let reply = try await scene.service.signIn(
                    through: "oidc.acme",
                    start: ["oauthScope": "openid email offline_access"]
                )
                reply.expectOK()
                let question = try await scene.question(to: "/create")
                let told = names.indices.filter { question[names[$0]]?.string?.isEmpty == false }
                #expect(told == wanted)
                let profile = try #require(question["raw_user_info"]?.string)
                #expect(try JSON(parsing: Array(profile.utf8))["email"] == "ada@example.com")
                #expect(question["user_record"]?["email_verified"] == true)
                #expect(question["user_record"]?["provider_data"]?[0]?["provider_id"] == "oidc.acme")
            }
        }
    }

    @Test(
        "a function that repeats that the email is verified ends no code of the account",
        arguments: [EntrancePath.provider, .password]
    )
    func repeatsVerified(path: EntrancePath) async throws {
        try await FunctionScene.run { scene in
            let service = scene.service
            let user = path == .password ? try await service.verifiedUser() : try await path.enter(scene)
            let email = try #require(try await service.account(user.localID)?["email"]?.string)
            scene.receiver.answer { _ in
                (200, #"{"userRecord": {"updateMask": "emailVerified", "emailVerified": true}}"#)
            }
            let reset = try await service.admin(
                "accounts:sendOobCode",
                ["requestType": "PASSWORD_RESET", "email": .string(email), "returnOobLink": true]
            )
            let code = try #require(reset["oobCode"]?.string, "\(reset)")
            let again =
                path == .password
                ? try await service.signInWithPassword(email) : try await path.enter(scene, isNew: false)
            again.expectOK()
            try await service.call("accounts:resetPassword", ["oobCode": .string(code)]).expectOK()
        }
    }

    @Test("an account that changed while its function was asked is not signed in by what the function said of it")
    func changedMeanwhile() async throws {
        try await FunctionScene.run { scene in
            let account = try await scene.service.signUp("ada@example.com")
            let id = try #require(account.localID)
            let (service, project) = (scene.service, scene.service.project.id)
            scene.receiver.answer { _ in
                _ = try? await service.admin(
                    "accounts:update",
                    ["localId": .string(id), "customAttributes": #"{"role":"admin's"}"#]
                )
                return (200, #"{"userRecord": {"updateMask": "customClaims", "customClaims": {"role": "old"}}}"#)
            }
            let before = try await scene.written()
            let reply = try await scene.service.signInWithPassword("ada@example.com")
            #expect(reply.status != 200, "\(reply) \(project)")
            #expect(try await scene.written() == before)
            #expect(try await scene.service.account(id)?["customAttributes"] == #"{"role":"admin's"}"#)
        }
    }

    @Test("nor by a second factor")
    func changedBeforeSecondFactor() async throws {
        try await FunctionScene.run({ $0.offerApps() }) { scene in
            let service = scene.service
            let user = try await service.verifiedUser()
            let (app, _) = try await AuthenticatorApp.enroll(user.idToken, service)
            let challenge = try await service.signInWithPassword("ada@example.com")
            scene.receiver.answer { _ in
                _ = try? await service.admin(
                    "accounts:update",
                    ["localId": JSON(user.localID), "customAttributes": #"{"role":"admin's"}"#]
                )
                return (200, #"{"userRecord": {"updateMask": "customClaims", "customClaims": {"role": "old"}}}"#)
            }
            let before = try await scene.written()
            let reply = try await app.signIn(challenge)
            #expect(reply.status != 200, "\(reply)")
            #expect(try await scene.written() == before)
            #expect(try await service.account(user.localID)?["customAttributes"] == #"{"role":"admin's"}"#)
        }
    }

    @Test("with a second factor the function is asked after it, and told which it was")
    func secondFactor() async throws {
        try await FunctionScene.run({ $0.offerApps() }) { scene in
            let user = try await scene.service.verifiedUser()
            let (app, _) = try await AuthenticatorApp.enroll(user.idToken, scene.service)
            let (asked, written) = (scene.asked.count, try await scene.written())
            let challenge = try await scene.service.signInWithPassword("ada@example.com")
            #expect(challenge["mfaPendingCredential"] != nil && scene.asked.count == asked, "\(challenge)")
            scene.receiver.answer { _ in (403, "") }
            try await app.signIn(challenge)
                .expectRefused("BLOCKING_FUNCTION_ERROR_RESPONSE : HTTP Cloud Function returned an error: 403")
            #expect(try await scene.written() == written)
            scene.receiver.answer { _ in
                (200, #"{"userRecord": {"updateMask": "sessionClaims", "sessionClaims": {"door": "back"}}}"#)
            }
            let reply = try await app.signIn(challenge)
            #expect(reply.claims["door"] == "back", "\(reply)")
            #expect(try await scene.question(to: "/sign-in")["sign_in_second_factor"] == "totp")
            #expect(scene.asked.count == asked + 2)
        }
    }

    @Test(
        "by default, functions are called for the methods for which Firebase calls them",
        arguments: EntrancePath.allCases
    )
    func asksAsFirebase(_ path: EntrancePath) async throws {
        try await FunctionScene.run({ $0.asksFunctionsAboutAll = false }) { scene in
            scene.receiver.answer { _ in (403, "{}") }
            let reply = try await path.enter(scene)
            #expect((reply.status == 200) == !path.isAskedByFirebase, "\(reply)")
            #expect(scene.asked == (path.isAskedByFirebase ? ["/create"] : []))
            guard !path.isAskedByFirebase, path.returns else { return }
            try await path.enter(scene, isNew: false).expectOK()
            #expect(scene.asked == [])
        }
    }

    @Test("a password added to an account, admins and refreshes call no function")
    func othersAskNobody() async throws {
        try await FunctionScene.run { scene in
            let guest = try await scene.service.call("accounts:signUp", [:])
            let asked = scene.asked.count
            let linked = try await scene.service.call(
                "accounts:signUp",
                ["idToken": JSON(guest.idToken), "email": "ada@example.com", "password": "correct horse"]
            )
            linked.expectOK()
            try await scene.service.admin("accounts", ["email": "bob@example.com"]).expectOK()
            try await scene.service.refresh(linked.refreshToken).expectOK()
            #expect(scene.asked.count == asked)
        }
    }

    @Test(
        "a sign-up over its limit is refused before any function is called",
        arguments: [EntrancePath.password, .anonymous, .provider]
    )
    func limitsComeFirst(_ path: EntrancePath) async throws {
        try await FunctionScene.run(limitsRates: true) { scene in
            try await scene.service.limit(["signUpsPerAddress": ["count": 1, "seconds": 60]])
            // The one of the minute, if no other test at this address had it.
            _ = try await EntrancePath.anonymous.enter(scene)
            let before = try await scene.written()
            let asked = scene.asked
            try await path.enter(scene).expectRefused(LimitScene.blocked)
            #expect(scene.asked == asked)
            #expect(try await scene.written() == before)
        }
    }

    @Test("a passkey asks before it signs in, and a refusal stores nothing of its use")
    func passkey() async throws {
        try await FunctionScene.run({
            $0.passkeys.relyingPartyID = "example.com"
            $0.passkeys.origins = ["https://example.com"]
        }) { scene in
            let user = try await scene.service.signUp("ada@example.com")
            var (passkey, _) = try await scene.service.enrollPasskey(user.idToken) { $0.signCount = 1 }
            #expect(scene.asked == ["/create", "/sign-in"], "an enrollment is no sign-in")
            passkey.signCount = 2
            #expect(try await scene.service.signIn(with: passkey).localID == user.localID)
            #expect(scene.asked == ["/create", "/sign-in", "/sign-in"])
            let question = try await scene.question(to: "/sign-in")
            #expect(question["sign_in_method"] == "passkey" && question["sub"]?.string == user.localID, "\(question)")
            scene.receiver.answer { _ in (403, "{}") }
            let before = try await scene.written()
            passkey.signCount = 3
            let refused = try await scene.service.signIn(with: passkey)
            #expect(refused.code == "BLOCKING_FUNCTION_ERROR_RESPONSE", "\(refused)")
            #expect(try await scene.written() == before)
            scene.receiver.answer { _ in (200, "{}") }
            // The same counter again would be a clone's, had the refused use been stored.
            try await scene.service.signIn(with: passkey).expectOK()
        }
    }

    @Test("every use case that opens a session asks")
    func everySessionIsAskedFor() throws {
        var opening: Set<String> = []
        for name in try Repository.files(below: "Sources/Accounts", suffix: ".swift") {
            let text = try Repository.text("Sources/Accounts/\(name)")
            // Where it is defined, nobody signs in.
            guard text.contains("repareSession("), !text.contains("func prepareSession(") else { continue }
            opening.insert(name)
            #expect(text.contains(/service\.(admit|enter|create|signIn)\(/), "\(name) opens a session")
        }
        #expect(opening.count > 5, "\(opening)")
    }
}
