import Accounts
import Federation
import HTTPTypes
import Text

extension PageContext {
    /// Why the sign-in page cannot be shown, or has ended.
    ///
    /// - Parameter visit: the visit that can start over.
    func signInProblem(_ error: WireError, again visit: PageVisit? = nil) -> Page {
        problem(error, Self.signInWords(for: error)) {
            visit.map { visit in
                let items = [
                    ("apiKey", visit.apiKey), ("continueUrl", visit.continueURL),
                    ("codeChallenge", visit.codeChallenge), ("lang", visit.language ?? ""),
                    ("tenantId", visit.tenant ?? ""),
                ]
                let query = FormFields(pairs: items).text
                return "<p><a class=\"button\" href=\"sign-in?\(query)\">\(html: html(.startAgain))</a></p>"
            }
        }
    }

    private static func signInWords(for error: WireError) -> (title: PageText, advice: PageText) {
        switch error.code {
        case "INVALID_SESSION_INFO", "SESSION_EXPIRED": (.pageOverTitle, .pageOverAdvice)
        case "OPERATION_NOT_ALLOWED": (.notOfferedTitle, .notOfferedAdvice)
        case "INVALID_CONTINUE_URI", "UNAUTHORIZED_DOMAIN": (.unknownAppTitle, .unknownAppAdvice)
        case _ where error.status.kind == .serverError: (.failedTitle, .failedAdvice)
        default: (.cannotGoOnTitle, .cannotGoOnAdvice)
        }
    }
}

extension PageText {
    /// Why a step failed.
    init(signInProblem error: WireError, at step: SignInForm.Step) {
        self =
            switch error.code {
            case "INVALID_LOGIN_CREDENTIALS", "INVALID_PASSWORD", "MISSING_PASSWORD", "EMAIL_NOT_FOUND": .wrongPassword
            case "INVALID_EMAIL", "MISSING_EMAIL": .invalidAddress
            // What a policy asks for is listed instead.
            case "WEAK_PASSWORD" where step == .signUp: .passwordLeaked
            case "WEAK_PASSWORD", "PASSWORD_DOES_NOT_MEET_REQUIREMENTS": .passwordOutdated
            case "EMAIL_EXISTS" where step == .signUp: .addressHasAccount
            case "EMAIL_EXISTS", "FEDERATED_USER_ID_ALREADY_LINKED", "PROVIDER_ALREADY_LINKED": .notLinked
            case "USER_DISABLED": .disabledTitle
            case "TOO_MANY_ATTEMPTS_TRY_LATER", "QUOTA_EXCEEDED": .tooManyTries
            case "INVALID_CODE", "MISSING_CODE", "INVALID_OOB_CODE": .wrongCode
            case "EXPIRED_OOB_CODE": .emailCodeOver
            case "PASSKEY_ENROLLMENT_NOT_FOUND": .passkeyUnknown
            case "INVALID_AUTHENTICATOR_RESPONSE", "MISSING_AUTHENTICATOR_RESPONSE", "INVALID_CREDENTIAL_ID",
                "PASSKEY_CHALLENGE_TIMEOUT", "PASSKEY_EXISTS", "PASSKEY_LIMIT_EXCEEDED":
                .passkeyRefused
            case "OPERATION_NOT_ALLOWED" where step == .ownPasskeys: .passkeyLast
            case "INVALID_SESSION_INFO", "SESSION_EXPIRED", "TOTP_CHALLENGE_TIMEOUT", "INVALID_MFA_PENDING_CREDENTIAL",
                "INVALID_PENDING_TOKEN":
                .tookTooLong
            case "CAPTCHA_CHECK_FAILED", "INVALID_RECAPTCHA_TOKEN": .captchaFailed
            case "USER_CANCELLED": .providerCancelled
            case "INVALID_IDP_RESPONSE", "INVALID_CONFIG", "INVALID_CREDENTIAL_OR_PROVIDER_ID": .providerFailed
            case "ADMIN_ONLY_OPERATION": .signUpClosed
            case "BLOCKING_FUNCTION_ERROR_RESPONSE": .notLetIn
            default: .otherProblem
            }
    }
}

extension WireError {
    var isAboutPassword: Bool { ["WEAK_PASSWORD", "PASSWORD_DOES_NOT_MEET_REQUIREMENTS"].contains(code) }
}
