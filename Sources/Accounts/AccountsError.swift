package import Federation
package import Linking
import Logging
import Projects
package import Sessions

/// Why a use case refused.
///
/// Closed: one file of the HTTP layer maps every case to its wire error.
package enum AccountsError: Error, Sendable {
    // The caller's session
    case missingIDToken
    case invalidIDToken
    /// To be deleted at once.
    case tooManyLocalIDs
    /// A page that is none: its token is not of this query.
    case invalidPage
    /// Of a session cookie.
    case invalidDuration
    case tokenExpired
    case userNotFound
    case userDisabled
    /// The account is no longer as the admin saw it who decided.
    case changedMeanwhile
    case tenantMismatch
    /// The project has no such tenant.
    case unknownTenant
    /// An admin switched sign-in off in the tenant.
    case projectDisabled
    case recentSignInRequired

    // Custom tokens
    case missingCustomToken
    case invalidCustomToken(AssertionError)
    case customTokenOfAnotherProject
    /// Absent, empty, or longer than 128 characters.
    case missingUID

    // Refresh
    case missingRefreshToken
    case invalidRefreshToken
    case projectNumberMismatch

    // Providers
    case missingRequestURI
    case invalidRequestURI
    case invalidPendingToken
    case missingProviderOrCredential(requestURI: String, provider: String)
    case providerNotFound
    case providerDisabled
    case federation(FederationError)
    /// A code of a native app, and nothing tells which of several it was given to.
    case unknownCodeClient
    /// The account has no identity of the provider.
    case providerNotLinked
    /// The provider's configuration does not keep tokens.
    case providerTokensNotKept
    /// The provider renews its tokens no more, or gave none: the person must sign in there again.
    case providerConsentRequired
    /// The provider cannot be asked now; what is kept stays good.
    case providerUnavailable
    /// The flow's state is unknown, used, expired or of another client, provider or project.
    case invalidFlow
    /// Nobody has the identity, and no account may be made (S10).
    case accountNotFound
    case signUpClosed
    case duplicateCredential
    /// In-band errors of linking when the caller did not ask for the credential back.
    case linking(LinkDecision.Refusal)

    // The sign-in page
    /// Absent, no SHA-256 in base64url, or of another method.
    case invalidCodeChallenge

    // createAuthUri
    case missingIdentifier
    case invalidIdentifier
    case missingContinueURI
    case invalidContinueURI(String)
    case reservedParameter(String)

    // Email, password, profile
    case missingEmail
    case invalidEmail
    case emailExists
    case emailNotFound
    case missingNewEmail
    case invalidNewEmail
    case missingPassword
    case weakPassword
    case passwordTooLong
    /// What the password lacks, for its owner to read.
    case passwordMissesPolicy([String])
    case invalidLoginCredentials
    case invalidPassword
    case passwordSignInDisabled
    case signUpWithPasswordDisabled
    case anonymousSignInDisabled
    case verifyEmailBeforeChange
    case displayNameTooLong
    case invalidProfileAttribute(String)
    case unsupportedParameters
    case unexpectedParameter(String)
    case insufficientPermission
    case operationNotAllowed
    case lastSignInMethod
    case deletionClosed
    case overloaded
    /// A function of the project lets nobody pass, and says why.
    case blockingFunction(String)

    // Codes of mails
    case missingRequestType
    case unsupportedRequestType
    case unauthorizedDomain
    case missingOOBCode
    case invalidOOBCode
    case expiredOOBCode
    /// The code of a sign-in mail to another address.
    case emailOfAnotherCode
    /// Nothing says where links of mails begin.
    case noActionURL

    // Phones and codes of SMS
    case missingPhoneNumber
    case invalidPhoneNumber
    case phoneNumberExists
    /// The project's ``Projects/SMSRegions`` leave the number out.
    case smsRegionRefused
    /// The project names nobody who sends SMS.
    case noSMSProvider
    case missingSessionInfo
    case missingVerificationCode
    /// Unknown, of another purpose, replaced by a newer one, or used.
    case invalidSessionInfo
    /// Too old, or tried too often.
    case sessionExpired
    case invalidVerificationCode
    case invalidTemporaryProof

    // Admin
    case missingLocalID
    case duplicateLocalID
    case invalidLocalID
    case claimsTooLarge
    case invalidClaims
    case forbiddenClaim(String)
    case missingIdentifierForLink
    case invalidProviderID
    case sessionNotFound
    /// A merge names one account twice.
    case sameAccount
    /// Methods of both accounts that one account cannot have.
    case mergeConflict([AccountMerge.Conflict])
    /// Unknown, undone already, or one of the accounts is gone.
    case mergeNotFound
    case mergeNotUndoable(String)
    /// Storage gave up after its retries: the caller may try again.
    case contended
    case secondFactor(SecondFactorError)
}

extension AccountsError {
    /// What a provider's sign-in failed with; what only an admin can mend is logged for one.
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
