/// Why a second factor was not enrolled, removed or taken.
package enum SecondFactorError: Error, Sendable, Hashable {
    /// The project does not offer the kind.
    case smsNotOffered
    case totpNotOffered
    /// Whoever signs in like that cannot have a second factor.
    case unsupportedFirstFactor
    /// A number opens no account that asks for a second factor.
    case phoneAsFirstFactor
    case unverifiedEmail
    /// The account would lose its verified address, and has second factors.
    case verifiedEmailNeeded
    case missingFactor
    case phoneNumberEnrolled
    case tooManyPhones
    case tooManyApps
    case missingDisplayName
    /// The account has no such enrolment: at its removal, and at a sign-in.
    case enrollmentNotFound
    case invalidEnrollment
    case missingEnrollment
    case missingPendingCredential
    case missingPendingCredentialAtEnd
    case invalidPendingCredential
    /// The first factor was proved too long ago.
    case challengeTimeout
    case duplicateEnrollment
    /// An admin cannot know an app's secret.
    case appAddedByAdmin
    case invalidPhoneNumberOfNewAccount
}
