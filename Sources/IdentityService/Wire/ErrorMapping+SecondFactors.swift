package import Accounts

extension WireError {
    package init(_ error: SecondFactorError) {
        switch error {
        case .smsNotOffered: self.init("OPERATION_NOT_ALLOWED", "SMS based MFA not enabled.")
        case .totpNotOffered: self.init("OPERATION_NOT_ALLOWED", "TOTP based MFA not enabled.")
        case .unsupportedFirstFactor:
            self.init("UNSUPPORTED_FIRST_FACTOR", "MFA is not available for the given first factor.")
        case .phoneAsFirstFactor:
            self.init(
                "UNSUPPORTED_FIRST_FACTOR",
                "A phone number cannot be set as a first factor on an SMS based MFA user."
            )
        case .unverifiedEmail:
            self.init("UNVERIFIED_EMAIL", "Need to verify email first before enrolling second factors.")
        case .verifiedEmailNeeded:
            self.init("UNVERIFIED_EMAIL", "An account with second factors requires a verified email.")
        case .missingFactor: self.init("INVALID_ARGUMENT", "The request names no second factor.")
        case .phoneNumberEnrolled:
            self.init(
                "SECOND_FACTOR_EXISTS",
                "Phone number already enrolled as second factor for this account."
            )
        case .tooManyPhones:
            self.init("SECOND_FACTOR_LIMIT_EXCEEDED", "Too many second factors enrolled for this account.")
        case .tooManyApps:
            self.init(
                "SECOND_FACTOR_LIMIT_EXCEEDED",
                "Too many TOTP based second factors enrolled for this account."
            )
        case .missingDisplayName: self.init("MISSING_DISPLAY_NAME", "display name cannot be empty")
        case .enrollmentNotFound: self.init("MFA_ENROLLMENT_NOT_FOUND")
        case .invalidEnrollment: self.init("INVALID_MFA_ENROLLMENT_ID")
        case .missingEnrollment:
            self.init("MISSING_MFA_ENROLLMENT_ID", "No second factor identifier is provided.")
        case .missingPendingCredential:
            self.init("MISSING_MFA_PENDING_CREDENTIAL", "Request does not have MFA pending credential.")
        case .missingPendingCredentialAtEnd:
            self.init("MISSING_CREDENTIAL", "Please set MFA Pending Credential.")
        case .invalidPendingCredential: self.init("INVALID_MFA_PENDING_CREDENTIAL")
        case .challengeTimeout:
            self.init("TOTP_CHALLENGE_TIMEOUT", "TOTP challenge timeout, provide first factor again.")
        case .duplicateEnrollment: self.init("DUPLICATE_MFA_ENROLLMENT_ID")
        case .appAddedByAdmin:
            self.init("UNSUPPORTED_SECOND_FACTOR", "attempting to add a new TOTP enrollment")
        case .invalidPhoneNumberOfNewAccount: self.init("INVALID_MFA_PHONE_NUMBER", "Invalid format.")
        }
    }
}
