package import Domain
package import Federation
import Logging
import Projects
package import Sessions

/// Why a use case refused, in the words of the protocol: its codes are the vocabulary here too.
package struct AccountsError: Error, Sendable, Hashable {
    /// What decides more of the response than its message.
    package enum Cause: Sendable, Hashable {
        case federation(FederationError)
        /// The member of the request that cannot be parsed.
        case field(String)
        /// Somebody else changed it first.
        case changedMeanwhile
        /// The caller can try again soon; the text is for the log.
        case unavailable(String)
    }

    /// `CODE`, or `CODE : detail`.
    package let message: String
    package let cause: Cause?

    package var code: Substring { message.prefix { $0 != " " } }

    private init(_ message: String, _ cause: Cause? = nil) {
        self.message = message
        self.cause = cause
    }

    /// Of a `catch` that names one of them.
    package static func ~= (pattern: AccountsError, error: any Error) -> Bool { error as? AccountsError == pattern }
}

extension AccountsError: ExpressibleByStringInterpolation, CustomStringConvertible {
    package init(stringLiteral message: String) { self.init(message) }

    package var description: String { message.isEmpty ? "\(cause, default: "")" : message }
}

extension AccountsError {
    // The caller's session
    package static let missingIDToken: Self = "MISSING_ID_TOKEN"
    package static let invalidIDToken: Self = "INVALID_ID_TOKEN"
    /// Too many to delete in one request.
    package static let tooManyLocalIDs: Self = "LOCAL_ID_LIST_EXCEEDS_LIMIT"
    /// The page token is not valid for this query.
    package static let invalidPage: Self = "INVALID_PAGE_SELECTION"
    /// The lifetime of a session cookie.
    package static let invalidDuration: Self = "INVALID_DURATION"
    package static let tokenExpired: Self = "TOKEN_EXPIRED"
    package static let userNotFound: Self = "USER_NOT_FOUND"
    package static let userDisabled: Self = "USER_DISABLED"
    /// The account changed since the admin saw it.
    package static let changedMeanwhile = AccountsError("", .changedMeanwhile)
    package static let tenantMismatch: Self = "TENANT_ID_MISMATCH"
    /// The tenant does not exist in the project.
    package static let unknownTenant: Self = "INVALID_TENANT_ID"
    /// An admin disabled sign-in in the tenant.
    package static let projectDisabled: Self = "PROJECT_DISABLED"
    package static let recentSignInRequired: Self = "CREDENTIAL_TOO_OLD_LOGIN_AGAIN"

    // Custom tokens
    package static let missingCustomToken: Self = "MISSING_CUSTOM_TOKEN"
    package static func invalidCustomToken(_ error: AssertionError) -> Self {
        "INVALID_CUSTOM_TOKEN : \(error.rawValue)"
    }
    package static let customTokenOfAnotherProject: Self = "CREDENTIAL_MISMATCH"
    /// Absent, empty, or longer than 128 characters.
    package static let missingUID: Self = "MISSING_IDENTIFIER"

    // Refresh
    package static let missingRefreshToken: Self = "MISSING_REFRESH_TOKEN"
    package static let invalidRefreshToken: Self = "INVALID_REFRESH_TOKEN"
    package static let projectNumberMismatch: Self = "PROJECT_NUMBER_MISMATCH"

    // Providers
    package static let missingRequestURI: Self = "MISSING_REQUEST_URI"
    package static let invalidRequestURI: Self = "INVALID_REQUEST_URI"
    package static let invalidPendingToken: Self = "INVALID_PENDING_TOKEN"
    /// A request URI can contain a code, so only the part before its query is repeated.
    package static func missingProviderOrCredential(requestURI: String, provider: String) -> Self {
        """
        INVALID_CREDENTIAL_OR_PROVIDER_ID : Invalid IdP response/credential: \
        \(requestURI.prefix { $0 != "?" && $0 != "#" })?providerId=\(provider)
        """
    }
    package static let providerNotFound = federation(.providerNotFound)
    package static let providerDisabled = federation(.providerDisabled)
    package static func federation(_ error: FederationError) -> Self { Self(error.message, .federation(error)) }
    /// A code of a native app, and it is unknown which of several apps received it.
    package static let unknownCodeClient: Self = """
        INVALID_ARGUMENT : The code's app is unknown: X-Ios-Bundle-Identifier must be one of the configured bundle \
        IDs.
        """
    /// The account has no identity of the provider.
    package static let providerNotLinked: Self = "INVALID_PROVIDER_ID : The account has no identity of this provider."
    /// The provider's configuration does not store tokens.
    package static let providerTokensNotKept: Self = """
        OPERATION_NOT_ALLOWED : The tokens of this provider are not stored.
        """
    /// The provider no longer renews its tokens, or returned none: the user must sign in there again.
    package static let providerConsentRequired: Self = "PROVIDER_CONSENT_REQUIRED"
    /// The provider does not respond; the stored tokens stay.
    package static let providerUnavailable: Self = "INVALID_IDP_RESPONSE : provider unavailable"
    /// The flow's state is unknown, used, expired or belongs to another client, provider or project.
    package static let invalidFlow: Self = """
        INVALID_IDP_RESPONSE : The sign-in request is unknown, expired, already used, or not this client's.
        """
    /// No account has the identity, and none may be created (S10).
    package static let accountNotFound: Self = "EMAIL_NOT_FOUND"
    package static let signUpClosed: Self = "ADMIN_ONLY_OPERATION"
    package static let duplicateCredential: Self = """
        MISSING_OR_INVALID_NONCE : Duplicate credential received. Please try again with a new credential.
        """
    /// Link conflicts if the caller did not request the credential in the response.
    package static func linking(_ refusal: LinkDecision.Refusal) -> Self { Self(refusal.rawValue) }

    // The sign-in page
    /// Missing, not a SHA-256 in base64url, or with another method.
    package static let invalidCodeChallenge = AccountsError(
        "codeChallenge must be a SHA-256 in base64url (S256).",
        .field("codeChallenge")
    )

    // createAuthUri
    package static let missingIdentifier: Self = "MISSING_IDENTIFIER"
    package static let invalidIdentifier: Self = "INVALID_EMAIL"
    package static let missingContinueURI: Self = "MISSING_CONTINUE_URI"
    package static func invalidContinueURI(_ detail: String) -> Self {
        detail.isEmpty ? "INVALID_CONTINUE_URI" : "INVALID_CONTINUE_URI : \(detail)"
    }
    package static func reservedParameter(_ name: String) -> Self { federation(.customParameterNotAllowed(name: name)) }

    // Email, password, profile
    package static let missingEmail: Self = "MISSING_EMAIL"
    package static let invalidEmail: Self = "INVALID_EMAIL"
    package static let emailExists: Self = "EMAIL_EXISTS"
    /// Another account has verified the email that was to come back; the account was secured and has none.
    package static let emailLost: Self = """
        EMAIL_EXISTS : Another account has verified the address. This one was signed out everywhere and has no \
        address.
        """
    package static let emailNotFound: Self = "EMAIL_NOT_FOUND"
    package static let missingNewEmail: Self = "MISSING_NEW_EMAIL"
    package static let invalidNewEmail: Self = "INVALID_NEW_EMAIL"
    package static let missingPassword: Self = "MISSING_PASSWORD"
    package static let weakPassword: Self = "WEAK_PASSWORD : Password should be at least 6 characters"
    package static let passwordTooLong: Self = """
        PASSWORD_DOES_NOT_MEET_REQUIREMENTS : Password cannot be longer than 4096 characters
        """
    package static let leakedPassword: Self = """
        WEAK_PASSWORD : This password appeared in a data leak. Choose another one.
        """
    /// The requirements that the password does not meet, as text for the user.
    package static func passwordMissesPolicy(_ problems: [String]) -> Self {
        """
        PASSWORD_DOES_NOT_MEET_REQUIREMENTS : Missing password requirements: [\(problems.joined(separator: ", "))]
        """
    }
    package static let invalidLoginCredentials: Self = "INVALID_LOGIN_CREDENTIALS"
    package static let invalidPassword: Self = "INVALID_PASSWORD"
    package static let passwordSignInDisabled: Self = "PASSWORD_LOGIN_DISABLED"
    package static let signUpWithPasswordDisabled: Self = "OPERATION_NOT_ALLOWED"
    package static let anonymousSignInDisabled: Self = "ADMIN_ONLY_OPERATION"
    package static let verifyEmailBeforeChange: Self = """
        OPERATION_NOT_ALLOWED : Please verify the new email before changing email.
        """
    package static let displayNameTooLong: Self = "INVALID_PROFILE_ATTRIBUTE : Display name too long."
    package static func invalidProfileAttribute(_ detail: String) -> Self { "INVALID_PROFILE_ATTRIBUTE : \(detail)" }
    package static let unsupportedParameters: Self = "INVALID_REQ_TYPE : Unsupported request parameters."
    package static func unexpectedParameter(_ detail: String) -> Self { "UNEXPECTED_PARAMETER : \(detail)" }
    package static let insufficientPermission: Self = "INSUFFICIENT_PERMISSION"
    package static let operationNotAllowed: Self = "OPERATION_NOT_ALLOWED"
    package static let lastSignInMethod: Self = "OPERATION_NOT_ALLOWED : The last sign-in method cannot be removed."
    package static let deletionClosed: Self = "ADMIN_ONLY_OPERATION"
    package static let overloaded = AccountsError("", .unavailable("accounts.overloaded"))
    /// A blocking function refused, with its reason.
    package static func blockingFunction(_ text: String) -> Self { "BLOCKING_FUNCTION_ERROR_RESPONSE : \(text)" }

    // Codes of mails
    package static let missingRequestType: Self = "MISSING_REQ_TYPE"
    package static let unsupportedRequestType: Self = "INVALID_REQ_TYPE : Unsupported request type."
    package static let unauthorizedDomain: Self = "UNAUTHORIZED_DOMAIN : Domain not allowlisted by project"
    /// Browsers would not keep the cookie of a token, so no token is issued.
    package static let cookieTooLarge: Self = """
        COOKIE_TOO_LARGE : The user's claims make a cookie of more than 4,096 bytes, which browsers do not keep.
        """
    /// Google's sentence, which the suites of its SDKs compare.
    package static let invalidLinkDomain: Self = """
        INVALID_HOSTING_LINK_DOMAIN : The provided hosting link domain is not configured in Firebase Hosting or is not \
        owned by the current project. This cannot be a default hosting domain (web.app or firebaseapp.com).
        """
    package static let missingOOBCode: Self = "MISSING_OOB_CODE"
    package static let invalidOOBCode: Self = "INVALID_OOB_CODE"
    package static let expiredOOBCode: Self = "EXPIRED_OOB_CODE"
    /// The code of a sign-in email to another address.
    package static let emailOfAnotherCode: Self = """
        INVALID_EMAIL : The email provided does not match the sign-in email address.
        """
    /// The start of links in emails is not configured.
    package static let noActionURL: Self = """
        OPERATION_NOT_ALLOWED : Set http.publicURL first: links in emails start with it.
        """

    // CAPTCHAs
    /// The project requires one, and the request contains no response.
    package static let captchaMissing: Self = "CAPTCHA_CHECK_FAILED : This request requires a CAPTCHA response."
    /// The verifier does not vouch for a person on one of the project's pages.
    package static let captchaRefused: Self = "INVALID_RECAPTCHA_TOKEN"
    /// The verifier is down or not configured.
    package static let captchaUnchecked: Self = """
        CAPTCHA_CHECK_FAILED : The CAPTCHA response could not be verified. Try again later.
        """

    // Phones and codes of SMS
    package static let missingPhoneNumber: Self = "MISSING_PHONE_NUMBER"
    package static let invalidPhoneNumber: Self = "INVALID_PHONE_NUMBER : Invalid format."
    package static let phoneNumberExists: Self = "PHONE_NUMBER_EXISTS"
    /// The project's ``Projects/SMSRegions`` exclude the number.
    package static let smsRegionRefused: Self = """
        OPERATION_NOT_ALLOWED : SMS unable to be sent until this region enabled by the app developer.
        """
    /// The project has no SMS provider.
    package static let noSMSProvider: Self = "OPERATION_NOT_ALLOWED : The project has no SMS provider."
    package static let missingSessionInfo: Self = "MISSING_SESSION_INFO"
    package static let missingVerificationCode: Self = "MISSING_CODE"
    /// Unknown, for another purpose, replaced by a newer one, or used.
    package static let invalidSessionInfo: Self = "INVALID_SESSION_INFO"
    /// Expired, or attempted too often.
    package static let sessionExpired: Self = "SESSION_EXPIRED"
    package static let invalidVerificationCode: Self = "INVALID_CODE"
    package static let invalidTemporaryProof: Self = "INVALID_TEMPORARY_PROOF"

    // Admin
    package static let missingLocalID: Self = "MISSING_LOCAL_ID"
    package static let duplicateLocalID: Self = "DUPLICATE_LOCAL_ID"
    package static let invalidLocalID: Self = "INVALID_ARGUMENT : localId must have 1 to 128 characters."
    package static let claimsTooLarge: Self = "CLAIMS_TOO_LARGE"
    package static let invalidClaims: Self = "INVALID_CLAIMS"
    package static func forbiddenClaim(_ name: String) -> Self { "FORBIDDEN_CLAIM : \(name)" }
    package static let missingIdentifierForLink: Self = """
        MISSING_IDENTIFIER : providerId & rawId are both required for provider linking
        """
    package static let invalidProviderID: Self = "INVALID_PROVIDER_ID : Provider Id is not supported."
    package static let sessionNotFound: Self = "INVALID_ARGUMENT : The session does not exist."
    /// Both accounts of a merge are the same.
    package static let sameAccount: Self = "INVALID_ARGUMENT : localId and mergedLocalId are the same account."
    /// Sign-in methods of both accounts that one account cannot have together.
    package static func mergeConflict(_ conflicts: [AccountMerge.Conflict]) -> Self {
        "MERGE_CONFLICT : \(conflicts.map(\.method.rawValue).joined(separator: ", "))"
    }
    /// Unknown, already undone, or one of the accounts was deleted.
    package static let mergeNotFound: Self = "MERGE_NOT_FOUND"
    package static func mergeNotUndoable(_ detail: String) -> Self { "MERGE_NOT_UNDOABLE : \(detail)" }
    /// Storage gave up after its retries: the caller can try again.
    package static let contended = AccountsError("", .unavailable("accounts.contended"))

    package static func secondFactor(_ error: SecondFactorError) -> Self { Self(error.rawValue) }
    package static func passkey(_ refusal: PasskeyRefusal) -> Self { Self(refusal.rawValue) }
}

extension AccountsError {
    /// The error of a sign-in with a provider; errors that only an admin can fix are also logged.
    static func federation(_ error: FederationError, at provider: ProviderID, _ caller: Caller) -> AccountsError {
        switch error {
        case .misconfigured, .clientRejected:
            Logger.current.warning(
                "A provider's configuration is wrong",
                metadata: [
                    "project.id": "\(caller.project.id)", "provider.id": "\(provider)", "error.cause": "\(error)",
                ]
            )
        default: break
        }
        AccountEvents.count(.refused, provider, caller)
        return .federation(error)
    }
}
