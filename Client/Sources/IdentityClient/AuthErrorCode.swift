/// A code of the service, with FirebaseAuth's names for the most common ones.
///
/// Any code of docs/reference/errors.md can occur: `AuthErrorCode(rawValue: "QUOTA_EXCEEDED")`.
public struct AuthErrorCode: RawRepresentable, Sendable, Hashable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let adminRestrictedOperation = Self(rawValue: "ADMIN_ONLY_OPERATION")
    public static let captchaCheckFailed = Self(rawValue: "CAPTCHA_CHECK_FAILED")
    public static let credentialAlreadyInUse = Self(rawValue: "FEDERATED_USER_ID_ALREADY_LINKED")
    public static let emailAlreadyInUse = Self(rawValue: "EMAIL_EXISTS")
    /// The account has second factors: verify the new email first.
    public static let emailChangeNeedsVerification = Self(rawValue: "EMAIL_CHANGE_NEEDS_VERIFICATION")
    static let emailNotFound = Self(rawValue: "EMAIL_NOT_FOUND")
    public static let expiredActionCode = Self(rawValue: "EXPIRED_OOB_CODE")
    public static let invalidActionCode = Self(rawValue: "INVALID_OOB_CODE")
    /// The email and the password do not match; says no more while email enumeration protection is on.
    public static let invalidCredential = Self(rawValue: "INVALID_LOGIN_CREDENTIALS")
    public static let invalidCustomToken = Self(rawValue: "INVALID_CUSTOM_TOKEN")
    public static let invalidEmail = Self(rawValue: "INVALID_EMAIL")
    public static let invalidIDToken = Self(rawValue: "INVALID_ID_TOKEN")
    public static let invalidProviderResponse = Self(rawValue: "INVALID_IDP_RESPONSE")
    public static let invalidRefreshToken = Self(rawValue: "INVALID_REFRESH_TOKEN")
    public static let invalidVerificationCode = Self(rawValue: "INVALID_CODE")
    public static let missingOrInvalidNonce = Self(rawValue: "MISSING_OR_INVALID_NONCE")
    public static let noSuchProvider = Self(rawValue: "INVALID_PROVIDER_ID")
    public static let operationNotAllowed = Self(rawValue: "OPERATION_NOT_ALLOWED")
    public static let providerAlreadyLinked = Self(rawValue: "PROVIDER_ALREADY_LINKED")
    /// The provider no longer renews its token, or never gave a refresh token.
    ///
    /// The user signs in there again.
    public static let providerConsentRequired = Self(rawValue: "PROVIDER_CONSENT_REQUIRED")
    /// The sign-in is too old for a sensitive change.
    ///
    /// Reauthenticate, then call again.
    public static let requiresRecentLogin = Self(rawValue: "CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
    public static let tooManyRequests = Self(rawValue: "TOO_MANY_ATTEMPTS_TRY_LATER")
    /// ``AuthError/cancelled`` to apps.
    static let userCancelled = Self(rawValue: "USER_CANCELLED")
    public static let userDisabled = Self(rawValue: "USER_DISABLED")
    public static let userNotFound = Self(rawValue: "USER_NOT_FOUND")
    public static let userTokenExpired = Self(rawValue: "TOKEN_EXPIRED")
    public static let weakPassword = Self(rawValue: "WEAK_PASSWORD")
    public static let wrongPassword = Self(rawValue: "INVALID_PASSWORD")

    /// The service's definite answers to a refresh: the session is over.
    static let endsSession: Set<Self> = [.userTokenExpired, .userDisabled, .userNotFound, .invalidRefreshToken]
}
