import Accounts
import Domain
import HTTPTypes
import Passkeys
import Projects
import Secrets

/// Second factors: enrollment, removal and sign-in (`/v2/accounts/mfa…`).
struct SecondFactorRoutes {
    let accounts: AccountsService

    var routes: [Route] {
        let enrollment = "/v2/accounts/mfaEnrollment"
        let signIn = "/v2/accounts/mfaSignIn"
        return [
            Route(.post, "\(enrollment):start", errors: .status, .client(startEnrollment)),
            Route(
                .post,
                "\(enrollment):finalize",
                errors: .status,
                refusing: .secondFactorCode,
                .client(finishEnrollment)
            ),
            Route(.post, "\(enrollment):withdraw", errors: .status, .client(withdraw)),
            Route(.post, "\(signIn):start", errors: .status, .client(startSignIn)),
            Route(
                .post,
                "\(signIn):finalize",
                errors: .status,
                refusing: .secondFactorCode,
                .client(finishSignIn)
            ),
        ]
    }

    // MARK: Enrolment

    private func startEnrollment(_ call: ClientCall) async throws -> Response {
        let body = try call.json()
        switch try body.oneOf(["phoneEnrollmentInfo", "totpEnrollmentInfo"], as: "enrollment_info") {
        case "totpEnrollmentInfo": return try await startApp(body, call)
        case "phoneEnrollmentInfo": return try await startPhone(body, call)
        default: throw AccountsError.secondFactor(.missingFactor)
        }
    }

    private func startPhone(_ body: WireObject, _ call: ClientCall) async throws -> Response {
        let info = try body.object("phoneEnrollmentInfo") ?? WireObject()
        let session = try await accounts.enrollSecondFactor.startPhone(
            try info.string("phoneNumber"),
            idToken: try body.text("idToken"),
            appHash: try Self.appHash(info),
            call.caller.presenting(try info.captchaResponse())
        )
        return .json { json in json.object("phoneSessionInfo") { $0.member("sessionInfo", session.reveal()) } }
    }

    private func startApp(_ body: WireObject, _ call: ClientCall) async throws -> Response {
        let app = try await accounts.enrollSecondFactor.startApp(idToken: try body.text("idToken"), call.caller)
        return .json { json in
            json.object("totpSessionInfo") { json in
                json.member("sharedSecretKey", app.sharedSecret.reveal())
                json.member("verificationCodeLength", number: Int64(TOTP.digits))
                json.member("hashingAlgorithm", "SHA1")
                json.member("periodSec", number: TOTP.period)
                json.member("sessionInfo", app.sessionInfo.reveal())
                json.member("finalizeEnrollmentTime", app.finalizeBefore.microsecondText)
            }
        }
    }

    private func finishEnrollment(_ call: ClientCall) async throws -> Response {
        let body = try call.json()
        let idToken = try body.text("idToken")
        let displayName = try body.string("displayName")
        switch try Self.proof(body) {
        case .app(let info):
            let result = try await accounts.enrollSecondFactor.finishApp(
                idToken: idToken,
                sessionInfo: try info.text("sessionInfo"),
                code: try info.string("verificationCode"),
                displayName: displayName,
                call.caller
            )
            return .json { json in
                json.sessionTokens(result.tokens)
                json.object("totpAuthInfo") { _ in }
            }
        case .phone(let info):
            let result = try await accounts.enrollSecondFactor.finishPhone(
                idToken: idToken,
                sessionInfo: try info.text("sessionInfo"),
                code: try info.string("code"),
                displayName: displayName,
                call.caller
            )
            return .json { json in
                json.sessionTokens(result.tokens)
                json.object("phoneAuthInfo") { $0.member("phoneNumber", result.factor.phoneNumber) }
            }
        }
    }

    private func withdraw(_ call: ClientCall) async throws -> Response {
        let body = try call.json()
        let tokens = try await accounts.withdrawSecondFactor(
            idToken: try body.text("idToken"),
            enrollment: try body.text("mfaEnrollmentId"),
            call.caller
        )
        return .json { $0.sessionTokens(tokens) }
    }

    // MARK: Sign-in

    private func startSignIn(_ call: ClientCall) async throws -> Response {
        let body = try call.json()
        guard try body.text("mfaEnrollmentId") != SignInWithSecondFactor.passkeyEnrollment else {
            let options = try await accounts.signInWithSecondFactor.startPasskey(
                pendingCredential: try body.text("mfaPendingCredential"),
                call.caller
            )
            return .json { json in
                json.object("passkeyResponseInfo") { json in
                    json.object("credentialRequestOptions") { $0.members(of: options) }
                }
            }
        }
        let session = try await accounts.signInWithSecondFactor.sendCode(
            pendingCredential: try body.text("mfaPendingCredential"),
            enrollment: try body.text("mfaEnrollmentId"),
            appHash: try body.object("phoneSignInInfo").flatMap { try Self.appHash($0) },
            call.caller.presenting(try body.object("phoneSignInInfo")?.captchaResponse())
        )
        return .json { json in json.object("phoneResponseInfo") { $0.member("sessionInfo", session.reveal()) } }
    }

    private func finishSignIn(_ call: ClientCall) async throws -> Response {
        let body = try call.json()
        let pendingCredential = try body.text("mfaPendingCredential")
        let tokens: IssuedTokens
        if let info = try body.object("passkeyVerificationInfo") {
            let response = try AssertionResponse(info.object("authenticatorAuthenticationResponse"))
            tokens = try await accounts.signInWithSecondFactor.withPasskey(
                pendingCredential: pendingCredential,
                response,
                call.caller
            )
            return .json { $0.sessionTokens(tokens) }
        }
        switch try Self.proof(body) {
        case .app(let info):
            tokens = try await accounts.signInWithSecondFactor.withApp(
                pendingCredential: pendingCredential,
                enrollment: try body.text("mfaEnrollmentId"),
                code: try info.string("verificationCode"),
                call.caller
            )
        case .phone(let info):
            tokens = try await accounts.signInWithSecondFactor.withPhone(
                pendingCredential: pendingCredential,
                enrollment: try body.text("mfaEnrollmentId"),
                sessionInfo: try info.text("sessionInfo"),
                code: try info.string("code"),
                call.caller
            )
        }
        return .json { $0.sessionTokens(tokens) }
    }

    // MARK: Values

    private enum Proof {
        case app(WireObject)
        case phone(WireObject)
    }

    private static func proof(_ body: WireObject) throws -> Proof {
        switch try body.oneOf(["phoneVerificationInfo", "totpVerificationInfo"], as: "verification_info") {
        case "totpVerificationInfo": .app(try body.object("totpVerificationInfo") ?? WireObject())
        case "phoneVerificationInfo": .phone(try body.object("phoneVerificationInfo") ?? WireObject())
        default: throw AccountsError.secondFactor(.missingFactor)
        }
    }

    /// Of an Android app that reads the SMS itself.
    private static func appHash(_ info: WireObject) throws -> String? {
        try info.object("autoRetrievalInfo")?.string("appSignatureHash")
    }
}

extension JSONWriter {
    /// The tokens of a v2 response, which has no lifetime.
    fileprivate mutating func sessionTokens(_ tokens: IssuedTokens) {
        member("idToken", tokens.idToken)
        member("refreshToken", tokens.refreshToken.reveal())
    }
}
