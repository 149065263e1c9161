import Domain
import Projects
import Storage
import Testing
import TestKit

@Suite("Phones as second factors", .database, .serialized)
struct PhoneSecondFactorTests {
    private func run(
        _ change: (inout ProjectSettings) -> Void = { _ in },
        _ body: @Sendable (TestService) async throws -> Void
    ) async throws {
        try await PhoneScene.run(
            {
                $0.secondFactors.isEnabled = true
                $0.offerApps()
                $0.emailEnumerationProtection = false
                change(&$0)
            },
            body
        )
    }

    @Test("a phone is enrolled by its code, then asked for: the code of an SMS ends the sign-in", .twoNodes)
    func enrollsAndSignsIn() async throws {
        try await run { service in
            let user = try await service.verifiedUser()
            service.clock.advance(by: 60)
            let (phone, reply) = try await EnrolledPhone.enroll(user.idToken, service, name: "Mine")
            #expect(reply["expiresIn"] == nil && reply["phoneAuthInfo"]?["phoneNumber"]?.string == phone.number)
            #expect(reply.claims["firebase"]?["sign_in_second_factor"] == "phone")
            #expect(try await service.refresh(user.refreshToken).error == "TOKEN_EXPIRED")
            let info = try await service.account(user.localID)?["mfaInfo"]
            #expect(info?[0]?["phoneInfo"]?.string == phone.number && info?[0]?["displayName"] == "Mine")
            let challenge = try await service.signInWithPassword("ada@example.com")
            challenge.expectChallenge(for: phone.enrollment)
            #expect(challenge["mfaInfo"]?[0]?["phoneInfo"] == "+******0100")
            let pending = challenge["mfaPendingCredential"]?.string
            let sent = try await phone.code(for: pending)
            let other: JSON = [
                "mfaPendingCredential": JSON(pending), "mfaEnrollmentId": "another",
                "phoneVerificationInfo": sent.body(),
            ]
            let named = try await service.callV2("accounts/mfaSignIn:finalize", other)
            #expect(named.status == 400, "the code is of another factor: \(named)")
            let replies = try await inParallel(20) { _ in try await service.finishWithSMS(pending, sent) }
            let signedIn = replies.filter { $0.status == 200 }
            #expect(signedIn.count == 1, "a code serves once: \(replies.map(\.description))")
            let firebase = signedIn.first?.claims["firebase"]
            #expect(firebase?["sign_in_second_factor"] == "phone" && firebase?["sign_in_provider"] == "password")
            #expect(firebase?["second_factor_identifier"]?.string == phone.enrollment)
            let later = try await service.refresh(signedIn.first?.refreshToken).claims["firebase"]
            for name in ["sign_in_second_factor", "sign_in_provider", "second_factor_identifier", "identities", "sid"] {
                #expect(firebase?[name] != nil && later?[name] == firebase?[name], "\(name)")
            }
        }
    }

    @Test("T-E2: the code that enrolled a phone enrols it no second time")
    func enrollmentSpendsTheCode() async throws {
        try await run { service in
            let user = try await service.verifiedUser()
            let started = try await service.startPhone(user.idToken, PhoneScene.number)
            let session = started["phoneSessionInfo"]?["sessionInfo"]?.string
            let code = try await service.smsCode(to: PhoneScene.number)
            let enrolled = try await service.finishPhone(user.idToken, session, code)
            let id = enrolled.claims["firebase"]?["second_factor_identifier"]?.string
            let withdrawn = try await service.withdraw(id, enrolled.idToken)
            withdrawn.expectOK()
            try await service.finishPhone(withdrawn.idToken, session, code).expectRefused("INVALID_SESSION_INFO")
        }
    }

    @Test("T-E2: codes of enrolments, sign-ins and second factors are not interchangeable")
    func purposesStayApart() async throws {
        try await run { service in
            let user = try await service.verifiedUser()
            let (phone, first) = try await EnrolledPhone.enroll(user.idToken, service)
            let pending = try await service.pending()
            let enrollment = try await service.startPhone(first.idToken, PhoneScene.other)
            let forEnrollment = SentCode(
                session: try #require(enrollment["phoneSessionInfo"]?["sessionInfo"]?.string, "\(enrollment)"),
                code: try await service.smsCode(to: PhoneScene.other)
            )
            try await service.finishWithSMS(pending, forEnrollment).expectRefused("INVALID_SESSION_INFO")
            try await service.signInByPhone(forEnrollment.body()).expectRefused("INVALID_SESSION_INFO")
            let forSignIn = try await service.code(to: phone.number)
            try await service.finishWithSMS(pending, forSignIn).expectRefused("INVALID_SESSION_INFO")
            try await service.finishPhone(first.idToken, forSignIn.session, forSignIn.code)
                .expectRefused("INVALID_SESSION_INFO")
            let bob = try await service.verifiedUser("bob@example.com")
            let (other, _) = try await EnrolledPhone.enroll(bob.idToken, service, number: "+4915550102")
            let bobs = try await other.code(for: try await service.pending("bob@example.com"))
            try await service.finishWithSMS(pending, bobs).expectRefused("INVALID_SESSION_INFO")
            let right = try await phone.code(for: pending)
            for _ in 0..<5 {
                try await service.finishWithSMS(pending, SentCode(session: right.session, code: right.wrong))
                    .expectRefused("INVALID_CODE")
            }
            try await service.finishWithSMS(pending, right).expectRefused("SESSION_EXPIRED")
            try await service.finishWithSMS(pending, try await phone.code(for: pending)).expectOK()
        }
    }

    @Test("T-D12: a number does not sign in an account with a second factor, and is not linked to one")
    func noFirstFactor() async throws {
        try await run { service in
            let refusal =
                "UNSUPPORTED_FIRST_FACTOR : A phone number cannot be set as a first factor on an SMS based MFA user."
            let user = try await service.verifiedUser()
            let linked = try await service.signInByPhone("+4915550103", idToken: user.idToken)
            linked.expectOK()
            let byPassword = try await service.signInWithPassword("ada@example.com")
            let (_, reply) = try await EnrolledPhone.enroll(byPassword.idToken, service)
            try await service.signInByPhone("+4915550103").expectRefused(refusal)
            try await service.signInByPhone("+4915550104", idToken: reply.idToken).expectRefused(refusal)
            let phoneUser = try await service.signInByPhone("+4915550105")
            try await service.startPhone(phoneUser.idToken, PhoneScene.other).expectRefused(
                "UNSUPPORTED_FIRST_FACTOR : MFA is not available for the given first factor."
            )
        }
    }

    @Test("says why a phone is not enrolled, and why no code is sent")
    func refuses() async throws {
        try await run { service in
            let user = try await service.verifiedUser()
            for bad in [nil, "", "12", "+0123456789"] {
                try await service.startPhone(user.idToken, bad).expectRefused("INVALID_PHONE_NUMBER : Invalid format.")
            }
            let (phone, enrolled) = try await EnrolledPhone.enroll(user.idToken, service)
            try await service.startPhone(enrolled.idToken, "+49 1555 0100").expectRefused(
                "SECOND_FACTOR_EXISTS : Phone number already enrolled as second factor for this account."
            )
            let pending = try await service.pending()
            for missing in [nil, ""] {
                try await service.startSecondFactor(missing, phone.enrollment).expectRefused(
                    "MISSING_MFA_PENDING_CREDENTIAL : Request does not have MFA pending credential."
                )
                try await service.startSecondFactor(pending, missing).expectRefused(
                    "MISSING_MFA_ENROLLMENT_ID : No second factor identifier is provided."
                )
            }
            try await service.startSecondFactor("x", phone.enrollment).expectRefused("INVALID_MFA_PENDING_CREDENTIAL")
            try await service.startSecondFactor(pending, "another").expectRefused("MFA_ENROLLMENT_NOT_FOUND")
            let off: JSON = ["mfa": ["state": "DISABLED"]]
            _ = try await service.admin("config?updateMask=mfa.state", off, method: "PATCH", version: "v2")
            let refusal = "OPERATION_NOT_ALLOWED : SMS based MFA not enabled."
            try await service.startPhone(enrolled.idToken, PhoneScene.other).expectRefused(refusal)
            try await service.startSecondFactor(pending, phone.enrollment).expectRefused(refusal)
            try await service.finishWithSMS(pending, SentCode(session: "x", code: "1")).expectRefused(refusal)
            // Apps are still on: whoever has enrolled anything is asked.
            #expect(try await service.signInWithPassword("ada@example.com").idToken == nil)
        }
    }

    @Test("five phones are the most, also when two enrolments end at once")
    func limits() async throws {
        try await run({ $0.rateLimits.isEnabled = false }) { service in
            let user = try await service.verifiedUser()
            let phones: JSON = .array((1...4).map { ["phoneInfo": .string("+4915550200\($0)")] })
            let set = try await service.admin(
                "accounts:update",
                ["localId": JSON(user.localID), "mfa": ["enrollments": phones]]
            )
            set.expectOK()
            let pending = try await service.pending()
            let id = try await service.account(user.localID)?["mfaInfo"]?[0]?["mfaEnrollmentId"]?.string
            let first = EnrolledPhone(service: service, number: "+49155502001", enrollment: try #require(id))
            let session = try await service.finishWithSMS(pending, try await first.code(for: pending))
            let (_, fifth) = try await EnrolledPhone.enroll(session.idToken, service)
            try await service.startPhone(fifth.idToken, PhoneScene.other).expectRefused(
                "SECOND_FACTOR_LIMIT_EXCEEDED : Too many second factors enrolled for this account."
            )
        }
    }

    /// The SDK for Apple platforms before 12.18, with its app verification off for testing, asks for the code of a sign-in.
    @Test("in development, the code of sendVerificationCode enrolls a phone too", arguments: [true, false])
    func enrollsByASignInCode(development: Bool) async throws {
        var options = TestService.Options()
        options.development = development
        options.settings = .development
        options.settings.delivery.sms = PhoneScene.options().settings.delivery.sms
        try await TestService.run(options) { service in
            let user = try await service.verifiedUser()
            let sent = try await service.code(to: PhoneScene.number)
            let reply = try await service.finishPhone(user.idToken, sent.session, sent.code)
            guard development else { return reply.expectRefused("INVALID_SESSION_INFO") }
            #expect(reply["phoneAuthInfo"]?["phoneNumber"]?.string == PhoneScene.number, "\(reply)")
            #expect(reply.claims["firebase"]?["sign_in_second_factor"] == "phone")
            try await service.signInByPhone(sent.body()).expectRefused("INVALID_SESSION_INFO")
            // What enrolling asks for, the detour asks for too.
            let other = try await service.code(to: PhoneScene.other)
            let unverified = try await service.signUp("grace@example.com")
            try await service.finishPhone(unverified.idToken, other.session, other.code)
                .expectRefused("UNVERIFIED_EMAIL : Need to verify email first before enrolling second factors.")
            service.clock.advance(by: 3_000)
            let late = try await service.code(to: PhoneScene.other)
            try await service.finishPhone(reply.idToken, late.session, late.code)
                .expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
        }
    }
}
