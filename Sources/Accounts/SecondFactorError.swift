/// Why a second factor was not enrolled, removed or accepted: as the message of the protocol.
package enum SecondFactorError: String, Error, Sendable, Hashable {
    /// The project has not enabled this kind.
    case smsNotOffered = "OPERATION_NOT_ALLOWED : SMS based MFA not enabled."
    case totpNotOffered = "OPERATION_NOT_ALLOWED : TOTP based MFA not enabled."
    /// Accounts with this sign-in method cannot have a second factor.
    case unsupportedFirstFactor = "UNSUPPORTED_FIRST_FACTOR : MFA is not available for the given first factor."
    /// A phone number cannot sign in to an account with second factors.
    case phoneAsFirstFactor = """
        UNSUPPORTED_FIRST_FACTOR : A phone number cannot be set as a first factor on an SMS based MFA user.
        """
    case unverifiedEmail = "UNVERIFIED_EMAIL : Need to verify email first before enrolling second factors."
    /// The account has second factors and would lose its verified email.
    case verifiedEmailNeeded = "UNVERIFIED_EMAIL : An account with second factors requires a verified email."
    /// The user of an account with second factors must prove the new email first (`verifyBeforeUpdateEmail`).
    case emailChangeNeedsVerification = """
        EMAIL_CHANGE_NEEDS_VERIFICATION : Verify the new email before changing it: the account has second factors.
        """
    case missingFactor = "INVALID_ARGUMENT : The request names no second factor."
    case phoneNumberEnrolled = "SECOND_FACTOR_EXISTS : Phone number already enrolled as second factor for this account."
    case tooManyPhones = "SECOND_FACTOR_LIMIT_EXCEEDED : Too many second factors enrolled for this account."
    case tooManyApps = "SECOND_FACTOR_LIMIT_EXCEEDED : Too many TOTP based second factors enrolled for this account."
    case missingDisplayName = "MISSING_DISPLAY_NAME : display name cannot be empty"
    /// The account has no such enrollment, when it is removed or used.
    case enrollmentNotFound = "MFA_ENROLLMENT_NOT_FOUND"
    case invalidEnrollment = "INVALID_MFA_ENROLLMENT_ID"
    case missingEnrollment = "MISSING_MFA_ENROLLMENT_ID : No second factor identifier is provided."
    case missingPendingCredential = "MISSING_MFA_PENDING_CREDENTIAL : Request does not have MFA pending credential."
    case missingPendingCredentialAtEnd = "MISSING_CREDENTIAL : Please set MFA Pending Credential."
    case invalidPendingCredential = "INVALID_MFA_PENDING_CREDENTIAL"
    /// The first factor was proved too long ago.
    case challengeTimeout = "TOTP_CHALLENGE_TIMEOUT : TOTP challenge timeout, provide first factor again."
    case duplicateEnrollment = "DUPLICATE_MFA_ENROLLMENT_ID"
    /// An admin cannot know an authenticator app's secret.
    case appAddedByAdmin = "UNSUPPORTED_SECOND_FACTOR : attempting to add a new TOTP enrollment"
    case invalidPhoneNumberOfNewAccount = "INVALID_MFA_PHONE_NUMBER : Invalid format."
}
