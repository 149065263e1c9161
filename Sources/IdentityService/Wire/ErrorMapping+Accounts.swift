package import Accounts
import Federation
package import Linking
import Sessions

extension WireError {
    package init(_ error: AccountsError) {
        self =
            switch error {
            case .federation(let error): WireError(error)
            case .secondFactor(let error): WireError(error)
            case .passkey(let refusal): WireError(refusal)
            case .linking(let refusal): WireError(refusal.wireCode)
            case .reservedParameter(let name): WireError(FederationError.customParameterNotAllowed(name: name))
            case .missingProviderOrCredential(let uri, let provider):
                // A request URI can contain a code, so only the part before its query is repeated.
                """
                INVALID_CREDENTIAL_OR_PROVIDER_ID : Invalid IdP response/credential: \
                \(uri.prefix { $0 != "?" && $0 != "#" })?providerId=\(provider)
                """
            case .invalidCustomToken(let error): "INVALID_CUSTOM_TOKEN : \(error.rawValue)"
            case .invalidContinueURI(let detail): WireError("INVALID_CONTINUE_URI", detail.isEmpty ? nil : detail)
            case .passwordMissesPolicy(let problems):
                """
                PASSWORD_DOES_NOT_MEET_REQUIREMENTS : Missing password requirements: \
                [\(problems.joined(separator: ", "))]
                """
            case .invalidProfileAttribute(let detail): "INVALID_PROFILE_ATTRIBUTE : \(detail)"
            case .unexpectedParameter(let detail): "UNEXPECTED_PARAMETER : \(detail)"
            case .blockingFunction(let text): "BLOCKING_FUNCTION_ERROR_RESPONSE : \(text)"
            case .forbiddenClaim(let name): "FORBIDDEN_CLAIM : \(name)"
            case .mergeConflict(let conflicts):
                "MERGE_CONFLICT : \(conflicts.map(\.method.rawValue).joined(separator: ", "))"
            case .mergeNotUndoable(let detail): "MERGE_NOT_UNDOABLE : \(detail)"
            default: Self.tables.lazy.compactMap { $0[error] }.first ?? .internal
            }
    }

    /// The errors without values, by area; a test finds one that is missing here.
    package static let tables = [sessions, providers, profiles, codes, phones, admins]

    private static let sessions: [AccountsError: WireError] = [
        .missingIDToken: "MISSING_ID_TOKEN",
        .invalidIDToken: "INVALID_ID_TOKEN",
        .tokenExpired: "TOKEN_EXPIRED",
        .userNotFound: "USER_NOT_FOUND",
        .userDisabled: "USER_DISABLED",
        .tenantMismatch: "TENANT_ID_MISMATCH",
        .unknownTenant: "INVALID_TENANT_ID",
        .projectDisabled: "PROJECT_DISABLED",
        .recentSignInRequired: "CREDENTIAL_TOO_OLD_LOGIN_AGAIN",
        .missingCustomToken: "MISSING_CUSTOM_TOKEN",
        .customTokenOfAnotherProject: "CREDENTIAL_MISMATCH",
        .missingUID: "MISSING_IDENTIFIER",
        .missingRefreshToken: "MISSING_REFRESH_TOKEN",
        .invalidRefreshToken: "INVALID_REFRESH_TOKEN",
        .projectNumberMismatch: "PROJECT_NUMBER_MISMATCH",
        .invalidDuration: "INVALID_DURATION",
        .cookieTooLarge:
            "COOKIE_TOO_LARGE : The user's claims make a cookie of more than 4,096 bytes, which browsers do not keep.",
        .contended: .unavailable(cause: "accounts.contended"),
        .overloaded: .unavailable(cause: "accounts.overloaded"),
    ]

    private static let providers: [AccountsError: WireError] = [
        .missingRequestURI: "MISSING_REQUEST_URI",
        .invalidRequestURI: "INVALID_REQUEST_URI",
        .invalidPendingToken: "INVALID_PENDING_TOKEN",
        .providerNotFound: WireError(FederationError.providerNotFound),
        .providerDisabled: WireError(FederationError.providerDisabled),
        .unknownCodeClient:
            "INVALID_ARGUMENT : The code's app is unknown: X-Ios-Bundle-Identifier must be one of the configured bundle IDs.",
        .providerNotLinked: "INVALID_PROVIDER_ID : The account has no identity of this provider.",
        .providerTokensNotKept: "OPERATION_NOT_ALLOWED : The tokens of this provider are not stored.",
        .providerConsentRequired: "PROVIDER_CONSENT_REQUIRED",
        .providerUnavailable: "INVALID_IDP_RESPONSE : provider unavailable",
        .invalidFlow:
            "INVALID_IDP_RESPONSE : The sign-in request is unknown, expired, already used, or not this client's.",
        .accountNotFound: "EMAIL_NOT_FOUND",
        .signUpClosed: "ADMIN_ONLY_OPERATION",
        .duplicateCredential:
            "MISSING_OR_INVALID_NONCE : Duplicate credential received. Please try again with a new credential.",
        .invalidCodeChallenge:
            .invalidRequest("codeChallenge must be a SHA-256 in base64url (S256).", field: "codeChallenge"),
        .missingIdentifier: "MISSING_IDENTIFIER",
        .invalidIdentifier: "INVALID_EMAIL",
        .missingContinueURI: "MISSING_CONTINUE_URI",
    ]

    private static let profiles: [AccountsError: WireError] = [
        .missingEmail: "MISSING_EMAIL",
        .invalidEmail: "INVALID_EMAIL",
        .emailExists: "EMAIL_EXISTS",
        .emailLost:
            "EMAIL_EXISTS : Another account has verified the address. This one was signed out everywhere and has no address.",
        .emailNotFound: "EMAIL_NOT_FOUND",
        .missingNewEmail: "MISSING_NEW_EMAIL",
        .invalidNewEmail: "INVALID_NEW_EMAIL",
        .missingPassword: "MISSING_PASSWORD",
        .weakPassword: "WEAK_PASSWORD : Password should be at least 6 characters",
        .leakedPassword: "WEAK_PASSWORD : This password appeared in a data leak. Choose another one.",
        .passwordTooLong: "PASSWORD_DOES_NOT_MEET_REQUIREMENTS : Password cannot be longer than 4096 characters",
        .invalidLoginCredentials: "INVALID_LOGIN_CREDENTIALS",
        .invalidPassword: "INVALID_PASSWORD",
        .passwordSignInDisabled: "PASSWORD_LOGIN_DISABLED",
        .signUpWithPasswordDisabled: "OPERATION_NOT_ALLOWED",
        .anonymousSignInDisabled: "ADMIN_ONLY_OPERATION",
        .verifyEmailBeforeChange: "OPERATION_NOT_ALLOWED : Please verify the new email before changing email.",
        .displayNameTooLong: "INVALID_PROFILE_ATTRIBUTE : Display name too long.",
        .unsupportedParameters: "INVALID_REQ_TYPE : Unsupported request parameters.",
        .insufficientPermission: "INSUFFICIENT_PERMISSION",
        .operationNotAllowed: "OPERATION_NOT_ALLOWED",
        .lastSignInMethod: "OPERATION_NOT_ALLOWED : The last sign-in method cannot be removed.",
        .deletionClosed: "ADMIN_ONLY_OPERATION",
    ]

    private static let codes: [AccountsError: WireError] = [
        .missingRequestType: "MISSING_REQ_TYPE",
        .unsupportedRequestType: "INVALID_REQ_TYPE : Unsupported request type.",
        .invalidLinkDomain: WireError(
            "INVALID_HOSTING_LINK_DOMAIN",
            // Google's sentence, which the suites of its SDKs compare.
            "The provided hosting link domain is not configured in Firebase Hosting or is not owned by the current project. "
                + "This cannot be a default hosting domain (web.app or firebaseapp.com)."
        ),
        .unauthorizedDomain: "UNAUTHORIZED_DOMAIN : Domain not allowlisted by project",
        .missingOOBCode: "MISSING_OOB_CODE",
        .invalidOOBCode: "INVALID_OOB_CODE",
        .expiredOOBCode: "EXPIRED_OOB_CODE",
        .emailOfAnotherCode: "INVALID_EMAIL : The email provided does not match the sign-in email address.",
        .noActionURL: "OPERATION_NOT_ALLOWED : Set http.publicURL first: links in emails start with it.",
    ]

    private static let phones: [AccountsError: WireError] = [
        .missingPhoneNumber: "MISSING_PHONE_NUMBER",
        .invalidPhoneNumber: "INVALID_PHONE_NUMBER : Invalid format.",
        .phoneNumberExists: "PHONE_NUMBER_EXISTS",
        .captchaMissing: "CAPTCHA_CHECK_FAILED : This request requires a CAPTCHA response.",
        .captchaRefused: "INVALID_RECAPTCHA_TOKEN",
        .captchaUnchecked: "CAPTCHA_CHECK_FAILED : The CAPTCHA response could not be verified. Try again later.",
        .smsRegionRefused:
            "OPERATION_NOT_ALLOWED : SMS unable to be sent until this region enabled by the app developer.",
        .noSMSProvider: "OPERATION_NOT_ALLOWED : The project has no SMS provider.",
        .missingSessionInfo: "MISSING_SESSION_INFO",
        .missingVerificationCode: "MISSING_CODE",
        .invalidSessionInfo: "INVALID_SESSION_INFO",
        .sessionExpired: "SESSION_EXPIRED",
        .invalidVerificationCode: "INVALID_CODE",
        .invalidTemporaryProof: "INVALID_TEMPORARY_PROOF",
    ]

    private static let admins: [AccountsError: WireError] = [
        .missingLocalID: "MISSING_LOCAL_ID",
        .duplicateLocalID: "DUPLICATE_LOCAL_ID",
        .invalidLocalID: "INVALID_ARGUMENT : localId must have 1 to 128 characters.",
        .tooManyLocalIDs: "LOCAL_ID_LIST_EXCEEDS_LIMIT",
        .invalidPage: "INVALID_PAGE_SELECTION",
        .changedMeanwhile: .changedMeanwhile,
        .claimsTooLarge: "CLAIMS_TOO_LARGE",
        .invalidClaims: "INVALID_CLAIMS",
        .missingIdentifierForLink: "MISSING_IDENTIFIER : providerId & rawId are both required for provider linking",
        .invalidProviderID: "INVALID_PROVIDER_ID : Provider Id is not supported.",
        .sessionNotFound: "INVALID_ARGUMENT : The session does not exist.",
        .sameAccount: "INVALID_ARGUMENT : localId and mergedLocalId are the same account.",
        .mergeNotFound: "MERGE_NOT_FOUND",
    ]
}

extension LinkDecision.Refusal {
    /// The code of a refused link, as an error or as `errorMessage` in a response.
    package var wireCode: String {
        switch self {
        case .identityLinkedToAnotherAccount: "FEDERATED_USER_ID_ALREADY_LINKED"
        case .providerAlreadyLinked: "PROVIDER_ALREADY_LINKED"
        case .emailExists: "EMAIL_EXISTS"
        }
    }
}
