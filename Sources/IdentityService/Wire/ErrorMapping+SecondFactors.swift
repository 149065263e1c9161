package import Accounts

extension WireError {
    package init(_ error: SecondFactorError) {
        self =
            switch error {
            case .smsNotOffered: "OPERATION_NOT_ALLOWED : SMS based MFA not enabled."
            case .totpNotOffered: "OPERATION_NOT_ALLOWED : TOTP based MFA not enabled."
            case .unsupportedFirstFactor:
                "UNSUPPORTED_FIRST_FACTOR : MFA is not available for the given first factor."
            case .phoneAsFirstFactor:
                "UNSUPPORTED_FIRST_FACTOR : A phone number cannot be set as a first factor on an SMS based MFA user."
            case .unverifiedEmail: "UNVERIFIED_EMAIL : Need to verify email first before enrolling second factors."
            case .verifiedEmailNeeded:
                "UNVERIFIED_EMAIL : An account with second factors requires a verified email."
            case .emailChangeNeedsVerification:
                "EMAIL_CHANGE_NEEDS_VERIFICATION : Verify the new email before changing it: the account has second factors."
            case .missingFactor: "INVALID_ARGUMENT : The request names no second factor."
            case .phoneNumberEnrolled:
                "SECOND_FACTOR_EXISTS : Phone number already enrolled as second factor for this account."
            case .tooManyPhones:
                "SECOND_FACTOR_LIMIT_EXCEEDED : Too many second factors enrolled for this account."
            case .tooManyApps:
                "SECOND_FACTOR_LIMIT_EXCEEDED : Too many TOTP based second factors enrolled for this account."
            case .missingDisplayName: "MISSING_DISPLAY_NAME : display name cannot be empty"
            case .enrollmentNotFound: "MFA_ENROLLMENT_NOT_FOUND"
            case .invalidEnrollment: "INVALID_MFA_ENROLLMENT_ID"
            case .missingEnrollment: "MISSING_MFA_ENROLLMENT_ID : No second factor identifier is provided."
            case .missingPendingCredential:
                "MISSING_MFA_PENDING_CREDENTIAL : Request does not have MFA pending credential."
            case .missingPendingCredentialAtEnd: "MISSING_CREDENTIAL : Please set MFA Pending Credential."
            case .invalidPendingCredential: "INVALID_MFA_PENDING_CREDENTIAL"
            case .challengeTimeout: "TOTP_CHALLENGE_TIMEOUT : TOTP challenge timeout, provide first factor again."
            case .duplicateEnrollment: "DUPLICATE_MFA_ENROLLMENT_ID"
            case .appAddedByAdmin: "UNSUPPORTED_SECOND_FACTOR : attempting to add a new TOTP enrollment"
            case .invalidPhoneNumberOfNewAccount: "INVALID_MFA_PHONE_NUMBER : Invalid format."
            }
    }
}
