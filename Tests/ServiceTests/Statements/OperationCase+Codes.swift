import Projects
import TestKit
import Testing

extension OperationCase {
    /// Sign-in by phone, and second factors.
    static let codes: [OperationCase] = [
        coded("sendVerificationCode") { service in { try await service.sendSMS(to: PhoneScene.number) } },
        coded("signInWithPhoneNumber, a new account") { service in
            let sent = try await service.code(to: PhoneScene.number)
            return { try await service.signInByPhone(sent.body()) }
        },
        coded("signInWithPhoneNumber, a known account") { service in
            _ = try await service.signInByPhone(PhoneScene.number)
            let sent = try await service.code(to: PhoneScene.number)
            return { try await service.signInByPhone(sent.body()) }
        },
        coded("signInWithPhoneNumber, linked to the signed-in account") { service in
            let user = try await service.signUp(ada)
            let sent = try await service.code(to: PhoneScene.number)
            return { try await service.signInByPhone(sent.body(["idToken": JSON(user.idToken)])) }
        },
        coded("signInWithPhoneNumber, another account's number") { service in
            _ = try await service.signInByPhone(PhoneScene.number)
            let user = try await service.signUp(ada)
            let sent = try await service.code(to: PhoneScene.number)
            return { try await service.signInByPhone(sent.body(["idToken": JSON(user.idToken)])) }
        },
        coded("startMFAEnrollment, an app") { service in
            let user = try await service.verifiedUser()
            return { try await service.startEnrollment(user.idToken) }
        },
        coded("startMFAEnrollment, a phone") { service in
            let user = try await service.verifiedUser()
            return { try await service.startPhone(user.idToken, PhoneScene.number) }
        },
        coded("finalizeMFAEnrollment, an app") { service in
            let user = try await service.verifiedUser()
            let started = try await service.startEnrollment(user.idToken)
            let app = try AuthenticatorApp.Started(started, service)
            return { try await service.finishEnrollment(user.idToken, sessionInfo: app.session, code: app.code()) }
        },
        coded("finalizeMFAEnrollment, a phone") { service in
            let user = try await service.verifiedUser()
            let started = try await service.startPhone(user.idToken, PhoneScene.number)
            let session = started["phoneSessionInfo"]?["sessionInfo"]?.string
            let code = try await service.smsCode(to: PhoneScene.number)
            return { try await service.finishPhone(user.idToken, session, code) }
        },
        coded("withdrawMFAEnrollment") { service in
            let user = try await service.verifiedUser()
            let (app, session) = try await AuthenticatorApp.enroll(user.idToken, service)
            return { try await service.withdraw(app.enrollment, session.idToken) }
        },
        coded("signInWithPassword, before a second factor") { service in
            let user = try await service.verifiedUser()
            _ = try await AuthenticatorApp.enroll(user.idToken, service)
            return { try await service.signInWithPassword(ada) }
        },
        coded("startMFASignIn") { service in
            let user = try await service.verifiedUser()
            let (phone, _) = try await EnrolledPhone.enroll(user.idToken, service)
            let pending = try await service.pending()
            return { try await service.startSecondFactor(pending, phone.enrollment) }
        },
        coded("finalizeMFASignIn, an app") { service in
            let user = try await service.verifiedUser()
            let (app, _) = try await AuthenticatorApp.enroll(user.idToken, service)
            let pending = try await service.pending()
            service.clock.advance(by: 30)
            return { try await app.signIn(pending, code: app.code()) }
        },
        coded("finalizeMFASignIn, a phone") { service in
            let user = try await service.verifiedUser()
            let (phone, _) = try await EnrolledPhone.enroll(user.idToken, service)
            let pending = try await service.pending()
            let sent = try await phone.code(for: pending)
            return { try await service.finishWithSMS(pending, sent) }
        },
    ]

    private static func coded(
        _ name: String,
        _ prepare: @escaping @Sendable (TestService) async throws -> Request
    ) -> OperationCase {
        OperationCase(
            name,
            {
                $0 = PhoneScene.options().settings
                $0.secondFactors.isEnabled = true
                $0.offerApps()
            },
            { world in try await prepare(world.service) }
        )
    }
}
