import Foundation
import Projects
import Secrets
import TestKit
import Testing

/// An authenticator app that was enrolled for an account.
struct AuthenticatorApp: Sendable {
    let service: TestService
    let enrollment: String
    private let totp: TOTP

    /// Enrols one for a signed-in account.
    ///
    /// - Returns: the app, and the answer that ends the enrolment.
    static func enroll(
        _ idToken: String?,
        name: String = "Ada's phone",
        _ service: TestService
    ) async throws -> (app: AuthenticatorApp, reply: Reply) {
        let started = try Started(try await service.startEnrollment(idToken), service)
        let reply = try await service.finishEnrollment(
            idToken,
            sessionInfo: started.session,
            code: started.code(),
            name: name
        )
        reply.expectOK()
        let enrollment = reply.claims["firebase"]?["second_factor_identifier"]?.string
        return (AuthenticatorApp(service: service, enrollment: try #require(enrollment), totp: started.totp), reply)
    }

    /// One that shows codes already, and is not enrolled yet.
    struct Started: Sendable {
        let session: String?
        fileprivate let totp: TOTP
        private let service: TestService

        /// - Parameter reply: which began the enrolment.
        init(_ reply: Reply, _ service: TestService) throws {
            let info = try #require(reply["totpSessionInfo"], "\(reply)")
            session = info["sessionInfo"]?.string
            totp = TOTP(secret: try #require(AuthenticatorApp.base32(info["sharedSecretKey"]?.string)))
            self.service = service
        }

        func code() -> String { totp.code(of: TOTP.step(at: service.clock.seconds)) }
    }

    private init(service: TestService, enrollment: String, totp: TOTP) {
        self.service = service
        self.enrollment = enrollment
        self.totp = totp
    }

    /// What the app shows, so many steps before or after now.
    func code(_ offset: Int64 = 0) -> String { totp.code(of: TOTP.step(at: service.clock.seconds) + offset) }

    /// Ends a sign-in; the clock moves on to the next code before.
    func signIn(_ challenge: Reply) async throws -> Reply {
        service.clock.advance(by: Double(TOTP.period))
        return try await signIn(challenge["mfaPendingCredential"]?.string, code: code())
    }

    func signIn(_ pendingCredential: String?, code: String, from address: String? = nil) async throws -> Reply {
        try await service.finishSecondFactor(pendingCredential, enrollment: enrollment, code: code, from: address)
    }

    static func base32(_ text: String?) -> [UInt8]? {
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
        var bytes: [UInt8] = []
        var bits = 0
        var count = 0
        for character in text ?? "" {
            guard let index = alphabet.firstIndex(of: character) else { return nil }
            bits = bits << 5 | alphabet.distance(from: alphabet.startIndex, to: index)
            count += 5
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(bits >> count & 255))
            bits &= (1 << count) - 1
        }
        return bytes.isEmpty ? nil : bytes
    }
}

extension TestService {
    /// A v2 operation of an app.
    /// - Parameter address: that a proxy names.
    func callV2(_ operation: String, _ body: JSON, from address: String? = nil) async throws -> Reply {
        let headers = address.map { [("X-Forwarded-For", $0)] } ?? []
        return try await post("/v2/\(operation)?key=\(apiKey)", text: body.text, headers: headers)
    }

    func startEnrollment(_ idToken: String?) async throws -> Reply {
        try await callV2("accounts/mfaEnrollment:start", ["idToken": JSON(idToken), "totpEnrollmentInfo": [:]])
    }

    func finishEnrollment(
        _ idToken: String?,
        sessionInfo: String?,
        code: String?,
        name: String? = "app"
    ) async throws -> Reply {
        try await callV2(
            "accounts/mfaEnrollment:finalize",
            [
                "idToken": JSON(idToken), "displayName": JSON(name),
                "totpVerificationInfo": ["sessionInfo": JSON(sessionInfo), "verificationCode": JSON(code)],
            ]
        )
    }

    func withdraw(_ enrollment: String?, _ idToken: String?) async throws -> Reply {
        try await callV2(
            "accounts/mfaEnrollment:withdraw",
            ["idToken": JSON(idToken), "mfaEnrollmentId": JSON(enrollment)]
        )
    }

    func finishSecondFactor(
        _ pendingCredential: String?,
        enrollment: String?,
        code: String?,
        from address: String? = nil
    ) async throws -> Reply {
        try await callV2(
            "accounts/mfaSignIn:finalize",
            [
                "mfaPendingCredential": JSON(pendingCredential), "mfaEnrollmentId": JSON(enrollment),
                "totpVerificationInfo": ["verificationCode": JSON(code)],
            ],
            from: address
        )
    }

    /// An account with a password and a verified address, signed in.
    func verifiedUser(_ email: String = "ada@example.com") async throws -> Reply {
        let made = try await admin(
            "accounts",
            ["email": .string(email), "emailVerified": true, "password": "correct horse"]
        )
        let reply = try await signInWithPassword(email)
        #expect(reply.localID == made.localID, "\(reply)")
        return reply
    }
}

extension Reply {
    /// The demand for a second factor: nothing that would sign anybody in.
    func expectChallenge(for enrollment: String, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(status == 200, "\(self)", sourceLocation: sourceLocation)
        let keys = Set(json.object?.keys.map { $0 } ?? [])
        #expect(
            keys.isDisjoint(with: ["idToken", "refreshToken", "expiresIn", "isNewUser"]),
            "\(self)",
            sourceLocation: sourceLocation
        )
        #expect(self["mfaPendingCredential"]?.string?.isEmpty == false, sourceLocation: sourceLocation)
        #expect(
            self["mfaInfo"]?.array?.contains { $0["mfaEnrollmentId"]?.string == enrollment } == true,
            sourceLocation: sourceLocation
        )
    }

    /// A finished sign-in with a second factor.
    func expectSecondFactor(
        _ enrollment: String,
        provider: String,
        of localID: String?,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(status == 200, "\(self)", sourceLocation: sourceLocation)
        let firebase = claims["firebase"]
        #expect(claims["sub"]?.string == localID, "\(claims.text)", sourceLocation: sourceLocation)
        #expect(firebase?["sign_in_provider"]?.string == provider, sourceLocation: sourceLocation)
        #expect(firebase?["sign_in_second_factor"] == "totp", sourceLocation: sourceLocation)
        #expect(firebase?["second_factor_identifier"]?.string == enrollment, sourceLocation: sourceLocation)
    }
}

extension ProjectSettings {
    /// With authenticator apps as second factors.
    mutating func offerApps() { secondFactors.offersTOTP = true }
}
