import Development
import Domain
import Postgres
import Projects
import Storage
import StrictJSON
import Testing
import TestKit

/// A way to sign in that comes before a second factor.
private enum FirstFactor: String, CaseIterable, CustomTestStringConvertible {
    case password, emailLink, nativeToken, code, resetPassword, customToken, pendingCredential

    var testDescription: String { rawValue }

    var provider: String {
        switch self {
        case .password, .emailLink, .resetPassword: "password"
        case .nativeToken, .code: "oidc.acme"
        case .pendingCredential: "github.com"
        case .customToken: "custom"
        }
    }
}

/// An account that has every first factor, and an authenticator app.
private struct Scene: Sendable {
    var world: LinkingWorld
    var localID: String?
    var app: AuthenticatorApp
    /// The same session before it proved the second factor.
    var before: Reply
    /// Signed in with both factors.
    var session: Reply

    static func run(
        _ change: @Sendable (inout ProjectSettings) -> Void = { _ in },
        _ body: @Sendable (Scene) async throws -> Void
    ) async throws {
        try await LinkingWorld.run({
            $0.allowsEmailLink = true
            $0.offerApps()
            change(&$0)
        }) { world in
            let user = try await world.service.verifiedUser()
            let linked = try await world.acme(world.person(), idToken: user.idToken)
            let (app, session) = try await AuthenticatorApp.enroll(linked.idToken, world.service)
            try await body(Scene(world: world, localID: user.localID, app: app, before: linked, session: session))
        }
    }

    /// How many the account ever had.
    func sessions() async throws -> Int64? {
        try await TestDatabase.current.client.query(
            "SELECT count(*) FROM sessions WHERE account = \(localID ?? "")"
        ) { try $0.next(Int64.self) }.first
    }

    func prove(_ factor: FirstFactor) async throws -> Reply {
        let service = world.service
        let ada = "ada@example.com"
        switch factor {
        case .password: return try await service.signInWithPassword(ada)
        case .nativeToken: return try await world.acme(world.person())
        case .emailLink:
            return try await service.signInWithLink(
                ada,
                try await service.code(.emailSignIn, ["email": .string(ada)], to: ada)
            )
        case .resetPassword:
            let code = try await service.code(.passwordReset, ["email": .string(ada)], to: ada)
            try await service.reset(code, to: "another horse").expectOK()
            return try await service.signInWithPassword(ada, "another horse")
        case .code:
            world.acme.nextLogin(world.person())
            return try await service.signIn(through: LinkingWorld.acmeID)
        case .customToken:
            let account = try await TestServiceAccount.register(in: service.project.id, service.stores.configuration)
            let token = try account.sign(
                account.payload(uid: localID ?? "", claims: ["role": "admin"], at: service.clock.seconds)
            )
            return try await service.call("accounts:signInWithCustomToken", ["token": .string(token)])
        case .pendingCredential:
            let conflict = try await world.github(world.githubPerson())
            conflict.expectConflict(with: localID, providers: ["oidc.acme"])
            let signedIn = try await app.signIn(try await service.signInWithPassword(ada))
            try await world.resume(conflict.pendingToken, idToken: signedIn.idToken).expectSignedIn(as: localID)
            return try await world.github(world.githubPerson())
        }
    }
}

@Suite("Signing in with a second factor", .database, .testProvider, .serialized)
struct SecondFactorSignInTests {
    @Test("a link that stops at the second factor leaves the account's other codes as they are")
    func linkLeavesCodes() async throws {
        try await Scene.run { scene in
            let ada = "ada@example.com"
            // The first link adds a sign-in method, the second one nothing.
            _ = try await scene.prove(.emailLink)
            let reset = try await scene.world.service.code(.passwordReset, ["email": .string(ada)], to: ada)
            try await scene.prove(.emailLink).expectChallenge(for: scene.app.enrollment)
            let reply = try await scene.world.service.reset(reset, to: "another horse")
            reply.expectOK()
        }
    }

    @Test(
        "T-A2: signing out everywhere, or elsewhere, also ends a sign-in that waits for its second factor",
        arguments: [("all", false, true), ("others", false, true), ("all", true, true), ("current", false, false)]
    )
    func signOut(_ scope: String, byAdmin: Bool, isEnd: Bool) async throws {
        try await Scene.run { scene in
            let service = scene.world.service
            service.clock.advance(by: 60)
            let session = try await scene.app.signIn(try await scene.prove(.password))
            let challenge = try await scene.prove(.password)
            let reply =
                byAdmin
                ? try await service.admin(
                    "accounts:signOut",
                    ["localId": JSON(scene.localID)]
                )
                : try await service.call(
                    "accounts:signOut",
                    ["idToken": JSON(session.idToken), "scope": .string(scope)]
                )
            reply.expectOK()
            let after = try await scene.app.signIn(challenge)
            #expect(after.error == (isEnd ? "INVALID_MFA_PENDING_CREDENTIAL" : nil), "\(after)")
        }
    }

    @Test("T-D12: every first factor stops at the second, and goes on from there", arguments: FirstFactor.allCases)
    fileprivate func everyFirstFactor(_ factor: FirstFactor) async throws {
        try await Scene.run({ $0.customTokensNeedSecondFactor = true }) { scene in
            let service = scene.world.service
            service.clock.advance(by: 60)
            let sessions = try await scene.sessions()
            let challenge = try await scene.prove(factor)
            challenge.expectChallenge(for: scene.app.enrollment)
            // A conflict is resumed by a whole sign-in before.
            if factor != .pendingCredential { #expect(try await scene.sessions() == sessions) }
            let before = try await service.account(scene.localID)
            let reply = try await scene.app.signIn(challenge)
            reply.expectSecondFactor(scene.app.enrollment, provider: factor.provider, of: scene.localID)
            #expect(reply["expiresIn"] == nil, "v2 answers have none")
            #expect(reply.claims["role"] == (factor == .customToken ? "admin" : nil))
            let after = try await service.account(scene.localID)
            #expect(before?["lastLoginAt"] != after?["lastLoginAt"], "only a finished sign-in counts as one")
            #expect(after?["lastLoginAt"]?.string == "\(service.clock.seconds)000")
            let refreshed = try await service.refresh(reply.refreshToken)
            refreshed.expectSecondFactor(scene.app.enrollment, provider: factor.provider, of: scene.localID)
            #expect(refreshed.claims["auth_time"]?.number == Double(service.clock.seconds))
            #expect(try await service.lookUp(reply.idToken)["users"]?[0]?["mfaInfo"]?.array?.count == 1)
        }
    }

    @Test("T-D12: a custom token signs in, as its back end vouches, but proves no second factor")
    func customTokens() async throws {
        try await Scene.run { scene in
            let service = scene.world.service
            service.clock.advance(by: 60)
            let reply = try await scene.prove(.customToken)
            #expect(reply.status == 200 && reply.claims["sub"]?.string == scene.localID, "\(reply)")
            #expect(reply["mfaPendingCredential"] == nil, "Firebase's response has no such member")
            for tokens in [reply, try await service.refresh(reply.refreshToken)] {
                #expect(tokens.claims["firebase"]?["sign_in_provider"] == "custom", "\(tokens)")
                #expect(tokens.claims["firebase"]?["sign_in_second_factor"] == nil)
            }
            try await service.withdraw(scene.app.enrollment, reply.idToken)
                .expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            try await service.call("accounts:update", ["idToken": JSON(reply.idToken), "password": "another horse"])
                .expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
        }
    }

    @Test("T-D12: what goes on with a session goes on with its second factor")
    func sessionsGoOn() async throws {
        try await Scene.run { scene in
            let service = scene.world.service
            let linked = try await scene.world.google(scene.world.googlePerson(), idToken: scene.session.idToken)
            linked.expectSecondFactor(scene.app.enrollment, provider: "google.com", of: scene.localID)
            let changed = try await service.call(
                "accounts:update",
                ["idToken": JSON(linked.idToken), "password": "another horse"]
            )
            changed.expectSecondFactor(scene.app.enrollment, provider: "password", of: scene.localID)
            let code = try await service.code(.emailSignIn, ["email": "ada@example.com"], to: "ada@example.com")
            let again = try await service.signInWithLink("ada@example.com", code, idToken: changed.idToken)
            again.expectSecondFactor(scene.app.enrollment, provider: "password", of: scene.localID)
            try await service.refresh(again.refreshToken)
                .expectSecondFactor(scene.app.enrollment, provider: "password", of: scene.localID)
        }
    }

    @Test("T-D12: the session says what was proved, not a token of the second in which that changed", arguments: 0..<3)
    func tokensOfTheSameSecond(_ way: Int) async throws {
        try await Scene.run { scene in
            let service = scene.world.service
            func goOn(_ idToken: String?) async throws -> Reply {
                switch way {
                case 0: return try await scene.world.google(scene.world.googlePerson(), idToken: idToken)
                case 1:
                    return try await service.call(
                        "accounts:update",
                        ["idToken": JSON(idToken), "password": "another horse", "returnSecureToken": true]
                    )
                default:
                    let code = try await service.code(.emailSignIn, ["email": "ada@example.com"], to: "ada@example.com")
                    return try await service.signInWithLink("ada@example.com", code, idToken: idToken)
                }
            }
            let provider = way == 0 ? "google.com" : "password"
            let withFactor = try await goOn(scene.before.idToken)
            withFactor.expectSecondFactor(scene.app.enrollment, provider: provider, of: scene.localID)
            try await service.refresh(withFactor.refreshToken)
                .expectSecondFactor(scene.app.enrollment, provider: provider, of: scene.localID)
            let withdrawn = try await service.withdraw(scene.app.enrollment, withFactor.idToken)
            withdrawn.expectOK()
            if way == 0 { return }
            let without = try await goOn(withFactor.idToken)
            #expect(without.status == 200 && without.claims["sub"]?.string == scene.localID, "\(without)")
            #expect(without.claims["firebase"]?["sign_in_second_factor"] == nil, "\(without.claims.text)")
        }
    }

    @Test("T-D12: a code works once, even when sent twenty times at once; five steps off is one too many", .twoNodes)
    func codesServeOnce() async throws {
        try await Scene.run { scene in
            let service = scene.world.service
            let challenge = try await scene.prove(.password)["mfaPendingCredential"]?.string
            try await scene.app.signIn(challenge, code: scene.app.code()).expectRefused("INVALID_CODE")
            service.clock.advance(by: 600)
            for wrong in [-6, 6] as [Int64] {
                try await scene.app.signIn(challenge, code: scene.app.code(wrong)).expectRefused("INVALID_CODE")
            }
            let code = scene.app.code(-5)
            let replies = try await inParallel(20) { _ in try await scene.app.signIn(challenge, code: code) }
            #expect(replies.filter { $0.status == 200 }.count == 1, "\(replies.map(\.description))")
            for refused in replies where refused.status != 200 { refused.expectRefused("INVALID_CODE") }
            // The pending credential is good for another code, a later one.
            try await scene.app.signIn(challenge, code: scene.app.code(-5)).expectRefused("INVALID_CODE")
            try await scene.app.signIn(challenge, code: scene.app.code(5)).expectOK()
            try await scene.app.signIn(challenge, code: scene.app.code(4)).expectRefused("INVALID_CODE")
        }
    }

    @Test("a pending credential is refused once what it rests on is over")
    func looksAgain() async throws {
        try await Scene.run { scene in
            let service = scene.world.service
            service.clock.advance(by: 60)
            let pending = try await scene.prove(.nativeToken)["mfaPendingCredential"]?.string
            try await scene.world.update(scene.localID, ["disableUser": true])
            try await scene.app.signIn(pending, code: scene.app.code()).expectRefused("USER_DISABLED")
            try await scene.world.update(scene.localID, ["disableUser": false, "deleteProvider": ["oidc.acme"]])
            try await scene.app.signIn(pending, code: scene.app.code())
                .expectRefused("INVALID_MFA_PENDING_CREDENTIAL")
            let second = try await scene.prove(.password)["mfaPendingCredential"]?.string
            service.clock.advance(by: 30)
            try await scene.world.update(scene.localID, ["password": "another horse"])
            try await scene.app.signIn(second, code: scene.app.code())
                .expectRefused("INVALID_MFA_PENDING_CREDENTIAL")
            let third = try await service.signInWithPassword("ada@example.com", "another horse")
            service.clock.advance(by: 1_799)
            #expect(
                try await scene.app.signIn(third["mfaPendingCredential"]?.string, code: scene.app.code()).status == 200
            )
            service.clock.advance(by: 31)
            try await scene.app.signIn(third["mfaPendingCredential"]?.string, code: scene.app.code())
                .expectRefused("TOTP_CHALLENGE_TIMEOUT : TOTP challenge timeout, provide first factor again.")
            let fourth = try await service.signInWithPassword("ada@example.com", "another horse")
            try await service.admin("accounts:delete", ["localId": JSON(scene.localID)]).expectOK()
            try await scene.app.signIn(fourth["mfaPendingCredential"]?.string, code: scene.app.code())
                .expectRefused("USER_NOT_FOUND")
        }
    }

    @Test("T-A2: a change of the password ends what is pending, also when a clock had been ahead")
    func aheadBefore() async throws {
        try await Scene.run { scene in
            let clock = scene.world.service.clock
            clock.advance(by: 60)
            try await scene.world.update(scene.localID, ["password": "another horse"])
            clock.advance(by: -60)
            let pending = try await scene.world.service.signInWithPassword("ada@example.com", "another horse")
            try await scene.world.update(scene.localID, ["password": "a third horse"])
            clock.advance(by: 30)
            try await scene.app.signIn(pending["mfaPendingCredential"]?.string, code: scene.app.code())
                .expectRefused("INVALID_MFA_PENDING_CREDENTIAL")
        }
    }

    @Test("reports what is missing or wrong, and signs no one in")
    func refuses() async throws {
        try await Scene.run { scene in
            let service = scene.world.service
            let pending = try await scene.prove(.password)["mfaPendingCredential"]?.string
            let id = scene.app.enrollment
            service.clock.advance(by: 30)
            let code = scene.app.code()
            for missing in [nil, ""] {
                try await service.finishSecondFactor(missing, enrollment: id, code: code)
                    .expectRefused("MISSING_CREDENTIAL : Please set MFA Pending Credential.")
                try await service.finishSecondFactor(pending, enrollment: missing, code: code)
                    .expectRefused("MISSING_MFA_ENROLLMENT_ID : No second factor identifier is provided.")
                try await service.finishSecondFactor(pending, enrollment: id, code: missing)
                    .expectRefused("MISSING_CODE")
            }
            try await service.finishSecondFactor(pending, enrollment: "another", code: code)
                .expectRefused("INVALID_MFA_ENROLLMENT_ID")
            for wrong in ["000000" == code ? "000001" : "000000", code + "0", "x\(code)", "abcdef"] {
                try await service.finishSecondFactor(pending, enrollment: id, code: wrong)
                    .expectRefused("INVALID_CODE")
            }
            let both = try await service.callV2(
                "accounts/mfaSignIn:finalize",
                ["phoneVerificationInfo": ["code": "1"], "totpVerificationInfo": ["verificationCode": "1"]]
            )
            #expect(both.error?.hasPrefix("Invalid value (oneof)") == true, "\(both)")
            // Another account's factor proves nothing here.
            let bob = try await service.verifiedUser("bob@example.com")
            let (other, _) = try await AuthenticatorApp.enroll(bob.idToken, service)
            service.clock.advance(by: 30)
            try await service.finishSecondFactor(pending, enrollment: other.enrollment, code: other.code())
                .expectRefused("INVALID_MFA_ENROLLMENT_ID")
            try await scene.app.signIn(pending, code: scene.app.code()).expectOK()
        }
    }

    @Test("T-D2: a pending credential is nothing else, nothing else is one, and it opens in its own project alone")
    func kindsStayApart() async throws {
        try await Scene.run { scene in
            let service = scene.world.service
            let pending = try #require(try await scene.prove(.password)["mfaPendingCredential"]?.string)
            try await service.lookUp(pending).expectRefused("INVALID_ID_TOKEN")
            #expect(try await service.refresh(pending).error == "INVALID_REFRESH_TOKEN")
            try await scene.world.resume(pending).expectRefused("INVALID_PENDING_TOKEN")
            try await service.apply(pending).expectRefused("INVALID_OOB_CODE")
            let started = try await service.startEnrollment(
                try await service.verifiedUser("bob@example.com").idToken
            )["totpSessionInfo"]?["sessionInfo"]?.string
            let conflict = try await scene.world.github(scene.world.githubPerson())
            let others = [
                scene.session.idToken, scene.session.refreshToken, started, conflict.pendingToken,
                pending + "A", String(pending.dropLast()), "mfa_", "mfa_AAAA", "x",
            ]
            for other in others {
                try await scene.app.signIn(other, code: scene.app.code())
                    .expectRefused("INVALID_MFA_PENDING_CREDENTIAL")
            }
            var options = LinkingWorld.options { $0.offerApps() }
            options.clock = service.clock
            try await TestService.run(options) { elsewhere in
                try await elsewhere.finishSecondFactor(
                    pending,
                    enrollment: scene.app.enrollment,
                    code: scene.app.code()
                )
                .expectRefused("INVALID_MFA_PENDING_CREDENTIAL")
            }
        }
    }

    @Test("a project that offers no second factors asks for none, and its switch is read at every sign-in")
    func followsTheProject() async throws {
        try await Scene.run { scene in
            let service = scene.world.service
            let off: JSON = ["mfa": ["providerConfigs": [["state": "DISABLED", "totpProviderConfig": [:]]]]]
            _ = try await service.admin("config?updateMask=mfa", off, method: "PATCH", version: "v2")
            for factor in [FirstFactor.password, .nativeToken, .code, .emailLink, .customToken] {
                let reply = try await scene.prove(factor)
                #expect(reply.idToken != nil && reply["mfaInfo"] == nil, "\(reply)")
                #expect(reply.claims["firebase"]?["sign_in_second_factor"] == nil)
            }
        }
    }

    @Test("T-D12: a factor that is enrolled while a sign-in is on its way is asked for, or its session ends", .twoNodes)
    func races() async throws {
        try await LinkingWorld.run({ $0.offerApps() }) { world in
            for round in 0..<6 {
                let email = "ada\(round)@example.com"
                let user = try await world.service.verifiedUser(email)
                let started = try await world.service.startEnrollment(user.idToken)
                started.expectOK()
                async let signIns = inParallel(6) { _ in try await world.service.signInWithPassword(email) }
                let (app, _) = try await AuthenticatorApp.enroll(user.idToken, world.service)
                for reply in try await signIns where reply.idToken != nil {
                    #expect(try await world.service.refresh(reply.refreshToken).error == "TOKEN_EXPIRED")
                }
                try await world.service.signInWithPassword(email).expectChallenge(for: app.enrollment)
            }
        }
    }

    @Test(
        "T-D12: a factor that comes between the look at the account and the session is asked for",
        arguments: [FirstFactor.password, .customToken]
    )
    fileprivate func factorComesBetween(_ factor: FirstFactor) async throws {
        try await Scene.run({ $0.customTokensNeedSecondFactor = true }) { scene in
            let service = scene.world.service
            let bob = try await service.verifiedUser("bob@example.com")
            let backEnd = try await TestServiceAccount.register(in: service.project.id, service.stores.configuration)
            let token = try backEnd.sign(backEnd.payload(uid: bob.localID ?? "", at: service.clock.seconds))
            let reply = try await Race.run(
                service,
                hold: {
                    try await $0.execute(
                        """
                        UPDATE accounts SET second_factors = o.second_factors, version = accounts.version + 1
                        FROM accounts o
                        WHERE accounts.account = \(bob.localID ?? "") AND o.account = \(scene.localID ?? "")
                        """
                    )
                },
                {
                    factor == .password
                        ? try await service.signInWithPassword("bob@example.com")
                        : try await service.call("accounts:signInWithCustomToken", ["token": .string(token)])
                }
            )
            reply.expectChallenge(for: scene.app.enrollment)
        }
    }
}
