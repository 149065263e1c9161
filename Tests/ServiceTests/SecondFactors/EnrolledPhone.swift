import TestKit
import Testing

/// A phone that was enrolled for an account.
struct EnrolledPhone: Sendable {
    let service: TestService
    let number: String
    let enrollment: String

    static func enroll(
        _ idToken: String?,
        _ service: TestService,
        number: String = PhoneScene.number,
        name: String? = nil
    ) async throws -> (phone: EnrolledPhone, reply: Reply) {
        let started = try await service.startPhone(idToken, number)
        let session = try #require(started["phoneSessionInfo"]?["sessionInfo"]?.string, "\(started)")
        let code = try await service.smsCode(to: number)
        let reply = try await service.finishPhone(idToken, session, code, name: name)
        let enrollment = try #require(reply.claims["firebase"]?["second_factor_identifier"]?.string, "\(reply)")
        return (EnrolledPhone(service: service, number: number, enrollment: enrollment), reply)
    }

    /// Asks for the code that ends a sign-in.
    func code(for pendingCredential: String?) async throws -> SentCode {
        let reply = try await service.startSecondFactor(pendingCredential, enrollment)
        let session = try #require(reply["phoneResponseInfo"]?["sessionInfo"]?.string, "\(reply)")
        return SentCode(session: session, code: try await service.smsCode(to: number))
    }
}

extension TestService {
    func startPhone(_ idToken: String?, _ number: String?) async throws -> Reply {
        try await callV2(
            "accounts/mfaEnrollment:start",
            ["idToken": JSON(idToken), "phoneEnrollmentInfo": ["phoneNumber": JSON(number), "recaptchaToken": "x"]]
        )
    }

    func finishPhone(
        _ idToken: String?,
        _ session: String?,
        _ code: String?,
        name: String? = nil
    ) async throws -> Reply {
        try await callV2(
            "accounts/mfaEnrollment:finalize",
            [
                "idToken": JSON(idToken), "displayName": JSON(name),
                "phoneVerificationInfo": ["sessionInfo": JSON(session), "code": JSON(code)],
            ]
        )
    }

    func startSecondFactor(
        _ pendingCredential: String?,
        _ enrollment: String?,
        from address: String? = nil
    ) async throws -> Reply {
        try await callV2(
            "accounts/mfaSignIn:start",
            [
                "mfaPendingCredential": JSON(pendingCredential), "mfaEnrollmentId": JSON(enrollment),
                "phoneSignInInfo": ["recaptchaToken": "x"],
            ],
            from: address
        )
    }

    func finishWithSMS(_ pendingCredential: String?, _ sent: SentCode) async throws -> Reply {
        try await callV2(
            "accounts/mfaSignIn:finalize",
            ["mfaPendingCredential": JSON(pendingCredential), "phoneVerificationInfo": sent.body()]
        )
    }

    func pending(_ email: String = "ada@example.com") async throws -> String? {
        let reply = try await signInWithPassword(email)
        reply.expectOK()
        return reply["mfaPendingCredential"]?.string
    }
}
