import Accounts
import Domain
import HTTPTypes
import Projects
import Secrets

/// Phone sign-in.
struct PhoneRoutes {
    let accounts: AccountsService

    var routes: [Route] {
        [
            Route(.post, "/v1/accounts:sendVerificationCode", legacy: "sendVerificationCode", .client(send)),
            Route(
                .post,
                "/v1/accounts:signInWithPhoneNumber",
                legacy: "verifyPhoneNumber",
                refusing: .signInWithPhoneNumber,
                .client(signIn)
            ),
            Route(.post, "/v1/accounts:verifyIosClient", legacy: "verifyClient", .client(verifyIOSClient)),
            Route(
                .get,
                "/v1/recaptchaParams",
                legacy: "getRecaptchaParam",
                query: ["tenantId"],
                .client(recaptchaParams)
            ),
        ]
    }

    /// App attestations (`playIntegrityToken`, `iosReceipt`, …) are ignored.
    private func send(_ call: ClientCall) async throws -> Response {
        let body = try call.json()
        let session = try await accounts.sendVerificationCode(
            to: try body.string("phoneNumber"),
            appHash: try body.object("autoRetrievalInfo")?.string("appSignatureHash"),
            call.caller.presenting(try body.captchaResponse())
        )
        return .json { $0.member("sessionInfo", session.reveal()) }
    }

    private func signIn(_ call: ClientCall) async throws -> Response {
        let body = try call.json()
        var request = SignInWithPhoneNumber.Request()
        request.sessionInfo = try body.text("sessionInfo")
        request.code = try body.string("code")
        request.phoneNumber = try body.text("phoneNumber")
        request.temporaryProof = try body.text("temporaryProof")
        request.idToken = try body.text("idToken")
        let operations = SignInWithPhoneNumber.Operation.allCases.map(\.rawValue)
        request.operation =
            try body.choice("operation", of: operations).flatMap { .init(rawValue: $0) } ?? .unspecified
        switch try await accounts.signInWithPhoneNumber(request, call.caller) {
        case .signedIn(let account, let tokens, let isNewUser):
            return .json { json in
                json.tokens(tokens)
                json.member("localId", account.id.rawValue)
                json.member("isNewUser", isNewUser)
                json.member("phoneNumber", account.phoneNumber)
            }
        case .taken(let number, let proof, let seconds):
            return .json { json in
                json.member("temporaryProof", proof.reveal())
                json.member("phoneNumber", number.text)
                json.member("temporaryProofExpiresIn", int64: seconds)
            }
        }
    }

    /// Apple's push service is not asked here; with this very code the SDK opens a page instead.
    private func verifyIOSClient(_ call: ClientCall) throws -> Response {
        throw WireError("INVALID_APP_CREDENTIAL", "No push notification is sent to the app.")
    }

    /// Web SDKs request a site key before they send a code, for Google's widget.
    private func recaptchaParams(_ call: ClientCall) async throws -> Response {
        let settings = call.caller.project.settings
        let verifier = settings.captchaOperations.contains(.sms) ? settings.delivery.captcha : nil
        return .json { json in
            json.kind("GetRecaptchaParamResponse")
            json.member("recaptchaStoken", "not-checked")
            json.member(
                "recaptchaSiteKey",
                verifier.flatMap { $0.service == .reCAPTCHA ? $0.siteKey : nil } ?? "not-checked"
            )
        }
    }
}
