import Domain
import Foundation
import InMemoryLogging
import Postgres
import Projects
import Secrets
import Storage
import Testing
import TestKit
import Text

@Suite("Enrolling second factors", .database, .testProvider, .serialized)
struct SecondFactorEnrollmentTests {
    private func run(
        _ change: @Sendable (inout ProjectSettings) -> Void = { _ in },
        _ body: @Sendable (TestService) async throws -> Void
    ) async throws {
        try await MailScene.run(
            {
                $0.offerApps()
                change(&$0)
            },
            body
        )
    }

    @Test("an app: the session goes on with the factor proved, all others end, and the account shows it")
    func enrollsAnApp() async throws {
        try await run { service in
            let user = try await service.verifiedUser()
            let other = try await service.signInWithPassword("ada@example.com")
            service.clock.advance(by: 60)
            let started = try await service.startEnrollment(user.idToken)
            let info = try #require(started["totpSessionInfo"], "\(started)")
            #expect(info["verificationCodeLength"] == 6 && info["hashingAlgorithm"] == "SHA1")
            #expect(info["periodSec"] == 30 && info["sharedSecretKey"]?.string?.count == 32)
            let until = try #require(info["finalizeEnrollmentTime"]?.string)
            #expect(until.wholeMatch(of: /[-0-9]{10}T[0-9:]{8}\.000000Z/) != nil, "\(until)")
            let (app, reply) = try await AuthenticatorApp.enroll(user.idToken, name: "Phone", service)
            reply.expectSecondFactor(app.enrollment, provider: "password", of: user.localID)
            #expect(reply["totpAuthInfo"] == [:] && reply["expiresIn"] == nil)
            #expect(UUID(uuidString: app.enrollment) != nil)
            #expect(reply.claims["auth_time"] == user.claims["auth_time"])
            try await service.lookUp(other.idToken).expectRefused("TOKEN_EXPIRED")
            for ended in [user, other] {
                #expect(try await service.refresh(ended.refreshToken).error == "TOKEN_EXPIRED")
            }
            let shown = try await service.lookUp(reply.idToken)["users"]?[0]?["mfaInfo"]
            let admins = try await service.account(user.localID)?["mfaInfo"]
            #expect(shown == admins && shown?.array?.count == 1)
            #expect(shown?[0]?["totpInfo"] == [:] && shown?[0]?["displayName"] == "Phone")
            #expect(shown?[0]?["phoneInfo"] == nil && shown?[0]?["enrolledAt"]?.string?.hasSuffix(".000Z") == true)
        }
    }

    @Test("the secret is in no column, log or answer but the first")
    func keepsTheSecret() async throws {
        try await run { service in
            let user = try await service.verifiedUser()
            let started = try await service.startEnrollment(user.idToken)
            let secret = try #require(started["totpSessionInfo"]?["sharedSecretKey"]?.string)
            let (_, reply) = try await AuthenticatorApp.enroll(user.idToken, service)
            let column = try await TestDatabase.current.client.query(
                "SELECT second_factors FROM accounts WHERE account = \(user.localID ?? "")"
            ) { try $0.next(String.self) }.first
            let stored = try JSON(parsing: Array(try #require(column).utf8))
            #expect(stored[0]?["secret"]?.string?.isEmpty == false)
            let session = try #require(started["totpSessionInfo"]?["sessionInfo"]?.string)
            for text in [column ?? "", reply.description, "\(service.logs.entries)"] {
                #expect(!text.contains(secret) && !text.contains(session))
            }
        }
    }

    @Test("says why an account gets none")
    func refuses() async throws {
        try await run { service in
            for bad in [nil, "", "x"] {
                let reply = try await service.startEnrollment(bad)
                reply.expectRefused("INVALID_ID_TOKEN")
                #expect(reply.json["error"]?["status"] == "INVALID_ARGUMENT", "the envelope of v2")
            }
            let guest = try await service.call("accounts:signUp")
            let account = try await TestServiceAccount.register(in: service.project.id, service.stores.configuration)
            let token = try account.sign(account.payload(uid: "person-1", at: service.clock.seconds))
            let custom = try await service.call("accounts:signInWithCustomToken", ["token": .string(token)])
            for first in [guest, custom] {
                try await service.startEnrollment(first.idToken).expectRefused(
                    "UNSUPPORTED_FIRST_FACTOR : MFA is not available for the given first factor."
                )
            }
            let unverified = try await service.signUp("eve@example.com")
            try await service.startEnrollment(unverified.idToken).expectRefused(
                "UNVERIFIED_EMAIL : Need to verify email first before enrolling second factors."
            )
            let user = try await service.verifiedUser()
            let (_, enrolled) = try await AuthenticatorApp.enroll(user.idToken, service)
            try await service.startEnrollment(enrolled.idToken).expectRefused(
                "SECOND_FACTOR_LIMIT_EXCEEDED : Too many TOTP based second factors enrolled for this account."
            )
            let off: JSON = ["mfa": ["state": "ENABLED"]]
            _ = try await service.admin("config?updateMask=mfa", off, method: "PATCH", version: "v2")
            let bob = try await service.signInWithPassword("eve@example.com")
            try await service.startEnrollment(bob.idToken).expectRefused(
                "OPERATION_NOT_ALLOWED : TOTP based MFA not enabled."
            )
        }
    }

    @Test("the first code ends an enrolment that the same session began less than a quarter of an hour ago")
    func finishes() async throws {
        try await run { service in
            let user = try await service.verifiedUser()
            let other = try await service.signInWithPassword("ada@example.com")
            let info = try await service.startEnrollment(user.idToken)["totpSessionInfo"]
            let session = info?["sessionInfo"]?.string
            for missing in [nil, ""] {
                try await service.finishEnrollment(user.idToken, sessionInfo: missing, code: "123456")
                    .expectRefused("MISSING_SESSION_INFO")
                try await service.finishEnrollment(user.idToken, sessionInfo: session, code: missing)
                    .expectRefused("MISSING_CODE")
                try await service.finishEnrollment(user.idToken, sessionInfo: session, code: "123456", name: missing)
                    .expectRefused("MISSING_DISPLAY_NAME : display name cannot be empty")
            }
            try await service.finishEnrollment(other.idToken, sessionInfo: session, code: "123456")
                .expectRefused("INVALID_SESSION_INFO")
            for wrong in ["x", "totp_", "totp_AAAA", (session ?? "") + "A", user.idToken] {
                try await service.finishEnrollment(user.idToken, sessionInfo: wrong, code: "123456")
                    .expectRefused("INVALID_SESSION_INFO")
            }
            try await service.finishEnrollment(user.idToken, sessionInfo: session, code: "12345")
                .expectRefused("INVALID_CODE")
            service.clock.advance(by: 900)
            try await service.finishEnrollment(user.idToken, sessionInfo: session, code: "123456")
                .expectRefused("SESSION_EXPIRED")
            #expect(try await service.account(user.localID)?["mfaInfo"] == nil)
        }
    }

    @Test("twenty enrolments at once leave one app", .twoNodes)
    func oneApp() async throws {
        try await run { service in
            let user = try await service.verifiedUser()
            let info = try await service.startEnrollment(user.idToken)["totpSessionInfo"]
            let secret = AuthenticatorApp.base32(info?["sharedSecretKey"]?.string) ?? []
            let code = TOTP(secret: secret).code(of: TOTP.step(at: service.clock.seconds))
            let replies = try await inParallel(20) { _ in
                try await service.finishEnrollment(
                    user.idToken,
                    sessionInfo: info?["sessionInfo"]?.string,
                    code: code
                )
            }
            #expect(replies.filter { $0.status == 200 }.count == 1, "\(replies.map(\.description))")
            #expect(try await service.account(user.localID)?["mfaInfo"]?.array?.count == 1)
        }
    }

    @Test("T-A15: adding or removing a second factor takes a recent sign-in; a refresh does not count")
    func wantsARecentSignIn() async throws {
        try await run { service in
            let user = try await service.verifiedUser()
            service.clock.advance(by: 301)
            try await service.startEnrollment(user.idToken).expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            let refreshed = try await service.refresh(user.refreshToken)
            try await service.startEnrollment(refreshed.idToken).expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            let again = try await service.signInWithPassword("ada@example.com")
            let (app, enrolled) = try await AuthenticatorApp.enroll(again.idToken, service)
            service.clock.advance(by: 301)
            for old in [enrolled, try await service.refresh(enrolled.refreshToken)] {
                try await service.withdraw(app.enrollment, old.idToken)
                    .expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            }
            let recent = try await app.signIn(try await service.signInWithPassword("ada@example.com"))
            try await service.withdraw(app.enrollment, recent.idToken).expectOK()
        }
    }

    @Test("withdrawn, it is asked for no more, and other sessions end")
    func withdraws() async throws {
        try await run { service in
            let user = try await service.verifiedUser()
            let (app, first) = try await AuthenticatorApp.enroll(user.idToken, service)
            let other = try await app.signIn(try await service.signInWithPassword("ada@example.com"))
            service.clock.advance(by: 30)
            try await service.withdraw(nil, first.idToken)
                .expectRefused("MISSING_MFA_ENROLLMENT_ID : No second factor identifier is provided.")
            try await service.withdraw("another", first.idToken).expectRefused("MFA_ENROLLMENT_NOT_FOUND")
            let reply = try await service.withdraw(app.enrollment, first.idToken)
            #expect(reply.status == 200 && reply["expiresIn"] == nil, "\(reply)")
            #expect(reply.claims["firebase"]?["sign_in_second_factor"] == nil)
            #expect(try await service.refresh(reply.refreshToken).claims["firebase"]?["sign_in_second_factor"] == nil)
            #expect(try await service.refresh(other.refreshToken).error == "TOKEN_EXPIRED")
            #expect(try await service.account(user.localID)?["mfaInfo"] == nil)
            #expect(try await service.signInWithPassword("ada@example.com").idToken != nil)
        }
    }

    @Test("a session that only passed a first factor neither adds nor takes away a second one")
    func firstFactorAlone() async throws {
        try await run { service in
            let user = try await service.verifiedUser()
            let factor: JSON = ["mfaEnrollmentId": "phone-1", "phoneInfo": "+491701234567"]
            let set = try await service.admin(
                "accounts:update",
                ["localId": JSON(user.localID), "mfa": ["enrollments": [factor]]]
            )
            set.expectOK()
            try await service.startEnrollment(user.idToken).expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            try await service.withdraw("phone-1", user.idToken).expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
        }
    }

    @Test("the address gets a mail whose link takes the factor away again, with every session")
    func reverts() async throws {
        try await run { service in
            let user = try await service.verifiedUser()
            let (app, reply) = try await AuthenticatorApp.enroll(user.idToken, service)
            let mail = try await service.mail(.revertSecondFactor, to: "ada@example.com")
            #expect(mail.items["mode"] == "revertSecondFactorAddition")
            let shown = try await service.inspect(mail.code)
            #expect(shown["requestType"] == "REVERT_SECOND_FACTOR_ADDITION", "\(shown)")
            #expect(shown["mfaInfo"]?["mfaEnrollmentId"]?.string == app.enrollment)
            service.clock.advance(by: 5)
            try await service.apply(mail.code).expectOK()
            #expect(try await service.account(user.localID)?["mfaInfo"] == nil)
            #expect(try await service.refresh(reply.refreshToken).error == "TOKEN_EXPIRED")
            try await service.apply(mail.code).expectRefused("INVALID_OOB_CODE")
            #expect(try await service.signInWithPassword("ada@example.com").idToken != nil)
        }
    }

    @Test("T-D12: the link does nothing while the account has another address than the one it was sent to")
    func revertsForItsAddress() async throws {
        try await run { service in
            let user = try await service.verifiedUser()
            let (_, reply) = try await AuthenticatorApp.enroll(user.idToken, service)
            let mail = try await service.mail(.revertSecondFactor, to: "ada@example.com")
            _ = try await service.apply(try await service.changeCode(reply, to: "ada@example.net"))
            try await service.apply(mail.code).expectRefused("INVALID_OOB_CODE")
            #expect(try await service.account(user.localID)?["mfaInfo"]?.array?.count == 1)
        }
    }

    @Test("a link opened after the factor was removed does nothing")
    func revertsNothing() async throws {
        try await run { service in
            let user = try await service.verifiedUser()
            let (app, reply) = try await AuthenticatorApp.enroll(user.idToken, service)
            let mail = try await service.mail(.revertSecondFactor, to: "ada@example.com")
            let left = try await service.withdraw(app.enrollment, reply.idToken)
            try await service.inspect(mail.code).expectRefused("INVALID_OOB_CODE")
            try await service.apply(mail.code).expectRefused("INVALID_OOB_CODE")
            try await service.refresh(left.refreshToken).expectOK()
        }
    }
}
