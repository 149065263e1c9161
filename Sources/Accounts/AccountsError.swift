package import Federation
package import Linking
import Logging
import Projects
package import Sessions

/// Why a use case refused.
///
/// The HTTP layer maps every case to its wire error.
package enum AccountsError: Error, Sendable, Hashable {
    // The caller's session
    case missingIDToken
    case invalidIDToken
    /// Too many to delete in one request.
    case tooManyLocalIDs
    /// The page token is not valid for this query.
    case invalidPage
    /// The lifetime of a session cookie.
    case invalidDuration
    case tokenExpired
    case userNotFound
    case userDisabled
    /// The account changed since the admin saw it.
    case changedMeanwhile
    case tenantMismatch
    /// The tenant does not exist in the project.
    case unknownTenant
    /// An admin disabled sign-in in the tenant.
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
    /// A code of a native app, and it is unknown which of several apps received it.
    case unknownCodeClient
    /// The account has no identity of the provider.
    case providerNotLinked
    /// The provider's configuration does not store tokens.
    case providerTokensNotKept
    /// The provider no longer renews its tokens, or returned none: the user must sign in there again.
    case providerConsentRequired
    /// The provider does not respond; the stored tokens stay.
    case providerUnavailable
    /// The flow's state is unknown, used, expired or belongs to another client, provider or project.
    case invalidFlow
    /// No account has the identity, and none may be created (S10).
    case accountNotFound
    case signUpClosed
    case duplicateCredential
    /// Link conflicts if the caller did not request the credential in the response.
    case linking(LinkDecision.Refusal)

    // The sign-in page
    /// Missing, not a SHA-256 in base64url, or with another method.
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
    /// Another account has verified the email that was to come back; the account was secured and has none.
    case emailLost
    case emailNotFound
    case missingNewEmail
    case invalidNewEmail
    case missingPassword
    case weakPassword
    case passwordTooLong
    case leakedPassword
    /// The requirements that the password does not meet, as text for the user.
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
    /// A blocking function refused, with its reason.
    case blockingFunction(String)

    // Codes of mails
    case missingRequestType
    case unsupportedRequestType
    case unauthorizedDomain
    /// Browsers would not keep the cookie of a token, so no token is issued.
    case cookieTooLarge
    case invalidLinkDomain
    case missingOOBCode
    case invalidOOBCode
    case expiredOOBCode
    /// The code of a sign-in email to another address.
    case emailOfAnotherCode
    /// The start of links in emails is not configured.
    case noActionURL

    // CAPTCHAs
    /// The project requires one, and the request contains no response.
    case captchaMissing
    /// The verifier does not vouch for a person on one of the project's pages.
    case captchaRefused
    /// The verifier is down or not configured.
    case captchaUnchecked

    // Phones and codes of SMS
    case missingPhoneNumber
    case invalidPhoneNumber
    case phoneNumberExists
    /// The project's ``Projects/SMSRegions`` exclude the number.
    case smsRegionRefused
    /// The project has no SMS provider.
    case noSMSProvider
    case missingSessionInfo
    case missingVerificationCode
    /// Unknown, for another purpose, replaced by a newer one, or used.
    case invalidSessionInfo
    /// Expired, or attempted too often.
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
    /// Both accounts of a merge are the same.
    case sameAccount
    /// Sign-in methods of both accounts that one account cannot have together.
    case mergeConflict([AccountMerge.Conflict])
    /// Unknown, already undone, or one of the accounts was deleted.
    case mergeNotFound
    case mergeNotUndoable(String)
    /// Storage gave up after its retries: the caller can try again.
    case contended
    case secondFactor(SecondFactorError)
    case passkey(PasskeyRefusal)
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
