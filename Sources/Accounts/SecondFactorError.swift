/// Why a second factor was not enrolled, removed or accepted.
package enum SecondFactorError: Error, Sendable, Hashable {
    /// The project has not enabled this kind.
    case smsNotOffered
    case totpNotOffered
    /// Accounts with this sign-in method cannot have a second factor.
    case unsupportedFirstFactor
    /// A phone number cannot sign in to an account with second factors.
    case phoneAsFirstFactor
    case unverifiedEmail
    /// The account has second factors and would lose its verified email.
    case verifiedEmailNeeded
    /// The user of an account with second factors must prove the new email first (`verifyBeforeUpdateEmail`).
    case emailChangeNeedsVerification
    case missingFactor
    case phoneNumberEnrolled
    case tooManyPhones
    case tooManyApps
    case missingDisplayName
    /// The account has no such enrollment, when it is removed or used.
    case enrollmentNotFound
    case invalidEnrollment
    case missingEnrollment
    case missingPendingCredential
    case missingPendingCredentialAtEnd
    case invalidPendingCredential
    /// The first factor was proved too long ago.
    case challengeTimeout
    case duplicateEnrollment
    /// An admin cannot know an authenticator app's secret.
    case appAddedByAdmin
    case invalidPhoneNumberOfNewAccount
}
