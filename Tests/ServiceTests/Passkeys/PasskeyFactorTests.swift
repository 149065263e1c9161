import Domain
import Projects
import Testing
import TestKit

@Suite("Passkeys and second factors", .database)
struct PasskeyFactorTests {
    @Test("T-D24: a passkey that verifies its user counts as two factors; another one is asked for the second")
    func twoFactors() async throws {
        try await PasskeyScene.run({ $0.offerApps() }) { service in
            let user = try await service.verifiedUser()
            var (passkey, _) = try await service.enrollPasskey(user.idToken)
            let (app, _) = try await AuthenticatorApp.enroll(user.idToken, service)
            let signedIn = try await service.signIn(with: passkey)
            #expect(signedIn.claims["firebase"]?["sign_in_second_factor"] == "passkey", "\(signedIn)")
            passkey.flags = 0x19
            let asked = try await service.signIn(with: passkey)
            asked.expectChallenge(for: app.enrollment)
            service.clock.advance(by: 30)
            let reply = try await app.signIn(asked)
            reply.expectSecondFactor(app.enrollment, provider: "passkey", of: user.localID)
        }
    }

    @Test("T-D23: a copy is also noticed where the sign-in still waits for its second factor")
    func clone() async throws {
        try await PasskeyScene.run({ $0.offerApps() }) { service in
            let user = try await service.verifiedUser()
            var (passkey, _) = try await service.enrollPasskey(user.idToken) { $0.signCount = 7 }
            let (app, _) = try await AuthenticatorApp.enroll(user.idToken, service)
            (passkey.flags, passkey.signCount) = (0x19, 9)
            try await service.signIn(with: passkey).expectChallenge(for: app.enrollment)
            try await service.signIn(with: passkey).expectRefused("INVALID_AUTHENTICATOR_RESPONSE")
        }
    }

    @Test("T-D24: a pending sign-in ends with its passkey")
    func pending() async throws {
        try await PasskeyScene.run({ $0.offerApps() }) { service in
            let user = try await service.verifiedUser()
            var (passkey, _) = try await service.enrollPasskey(user.idToken)
            let (app, _) = try await AuthenticatorApp.enroll(user.idToken, service)
            passkey.flags = 0x19
            let asked = try await service.signIn(with: passkey)
            _ = try await service.admin(
                "accounts:update",
                ["localId": JSON(user.localID), "deleteProvider": ["passkey"]]
            )
            service.clock.advance(by: 30)
            try await app.signIn(asked).expectRefused("INVALID_MFA_PENDING_CREDENTIAL")
        }
    }

    @Test("T-D24: a session without the second factor enrolls no passkey, whatever the policy")
    func noWayAround() async throws {
        for policy in MethodChangePolicy.allCases {
            try await PasskeyScene.run({
                $0.offerApps()
                $0.methodChanges = policy
            }) { service in
                let user = try await service.verifiedUser()
                // Started before the account had a second factor.
                let started = try await service.startEnrollingPasskey(user.idToken)["credentialCreationOptions"]
                let passkey = SoftwareAuthenticator(userHandle: try PasskeyScene.bytes(started?["user"]?["id"]))
                let registration = passkey.registration(for: try PasskeyScene.bytes(started?["challenge"]))
                let factor: JSON = ["enrollments": [["phoneInfo": "+491701234567"]]]
                _ = try await service.admin("accounts:update", ["localId": JSON(user.localID), "mfa": factor])
                try await service.startEnrollingPasskey(user.idToken).expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
                try await service.finishEnrollingPasskey(user.idToken, registration)
                    .expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
                #expect(try await service.account(user.localID)?["passkeyInfo"] == nil)
            }
        }
    }

    @Test(
        "T-D24: whatever the policy, a session whose sign-in is not recent enrolls no passkey",
        arguments: MethodChangePolicy.allCases
    )
    func oldSession(policy: MethodChangePolicy) async throws {
        try await PasskeyScene.run({ $0.methodChanges = policy }) { service in
            let user = try await service.signUp("ada@example.com")
            service.clock.advance(by: 301)
            try await service.startEnrollingPasskey(user.idToken).expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
        }
    }

    @Test("a recent sign-in is required if the project says so, and a passkey gives one")
    func recentSignIn() async throws {
        try await PasskeyScene.run({ $0.methodChanges = .recentSignIn }) { service in
            let user = try await service.signUp("ada@example.com")
            let (passkey, _) = try await service.enrollPasskey(user.idToken)
            service.clock.advance(by: 301)
            let id = JSON.string(PasskeyScene.base64(passkey.id))
            try await service.startEnrollingPasskey(user.idToken).expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            let old = try await service.call("accounts:update", ["idToken": JSON(user.idToken), "deletePasskey": [id]])
            old.expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            let again = try await service.signIn(with: passkey)
            try await service.enrollPasskey(again.idToken).reply.expectOK()
            let new = try await service.call(
                "accounts:update",
                ["idToken": JSON(again.idToken), "deletePasskey": [id]]
            )
            new.expectOK()
        }
    }
}
