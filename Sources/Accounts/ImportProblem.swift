import Storage

/// Why an account was not imported, with Firebase's message if there is one.
package enum ImportProblem: String, Error, Sendable, Hashable, CaseIterable {
    case missingLocalID = "localId is missing"
    case invalidLocalID = "localId is invalid"
    case otherTenant = "Tenant id in userInfo does not match the tenant id in request."
    case accountExists = "localId belongs to an existing account - can not overwrite."
    case invalidEmail = "email is invalid"
    case emailTaken = "email exists in other account in database"
    case invalidPhoneNumber = "phone number format is invalid"
    case phoneNumberTaken = "phone number exists in other account in database"
    case missingSubject = "federatedId or (providerId & rawId) is required"
    case invalidCredential = "providerUserInfo is invalid"
    case providerTwice = "providerUserInfo names a provider twice"
    case subjectTaken = "raw id exists in other account in database"
    case invalidPasskey = "passkeyInfo is invalid"
    case passkeyTaken = "passkey exists in other account in database"
    case invalidProfile = "displayName, photoUrl or another text of the profile is invalid"
    case invalidTime = "validSince is invalid"
    case invalidClaims = "Invalid custom claims provided."
    case claimsTooLarge = "Custom claims provided are too large."
    case reservedClaim = "Custom claims provided include a reserved claim."
    case secondFactorWithoutEmail = "Second factor account requires email to be presented."
    case secondFactorWithoutVerifiedEmail = "Second factor account requires email to be verified."
    case secondFactorNotSupported = "Second factor not supported."
    case invalidSecondFactorNumber = "Phone number format is invalid."
    case enrollmentTwice = "Enrollment id already exists."
    case invalidEnrollment = "Enrollment id is invalid."
    case invalidHash = "passwordHash or salt does not fit hashAlgorithm"
    case invalidPassword = "password is empty or too long"
    case passwordNotHashed = "password could not be hashed"

    init(_ conflict: ClaimConflict) {
        self =
            switch conflict {
            case .email: .emailTaken
            case .phoneNumber: .phoneNumberTaken
            case .accountID: .accountExists
            case .subject: .subjectTaken
            case .passkey: .passkeyTaken
            }
    }
}

/// What an imported account had that is not imported: it does not cost the account.
package enum ImportOmission: String, Sendable, Hashable, CaseIterable {
    case secondFactor = "mfaInfo: an authenticator app without its secret, or an email, is left out"
    case passkey = "passkeyInfo: a passkey without its public key is left out"
}
