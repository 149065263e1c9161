import Domain
import Logging
import Projects

/// An event of an account, as a line in the request's log: constant words and IDs, never an address or a token.
enum AccountEvent: String, Sendable {
    case signedUp = "Signed up"
    case signedIn = "Signed in"
    case linked = "Linked a provider"
    case takenOver = "Took over an account with an unverified email"
    case customTokenRefused = "Refused a custom token"
    case conflict = "Account exists with different credential"
    case linkRefused = "Refused to link a provider"
    case foreignPendingCredential = "Refused a pending credential that belongs to another row"
    case issuerChanged = "Refused an identity of another issuer"
    case consentRequired = "A provider no longer renews its tokens: the user must consent again"
    case secondFactorAsked = "Asked for a second factor"
    case secondFactorEnrolled = "Enrolled a second factor"
    case secondFactorRefused = "Refused the code of a second factor"
    case secondFactorRemoved = "Removed a second factor"
    case passkeyCloneSuspected = "The counter of a passkey did not increase: a copy may exist"
    case changed = "Changed the account"
    case leakedPassword = "Signed in with a password that was leaked"
    case passwordReset = "Reset the password"
    case unlinked = "Unlinked providers"
    case refreshTokenReused = "Ended a session whose old refresh token was used"
    case sessionIdle = "Ended an idle session"
    case signedOut = "Signed out"
    case sessionCookieCreated = "Created a session cookie"
    case cookieTooLarge = "Refused tokens that fit no cookie: the user's claims are too long"
    case deleted = "Deleted the account"
    case merged = "Merged another account"
    case mergeUndone = "Undid a merge"
    case nameNotKept = "Could not store the name that the provider sends once"
    case grantRevoked = "Revoked a grant at its provider"
    case notificationApplied = "Applied a provider's notification"
    case notificationRepeated = "Received a provider's notification again"
    case notificationUnknown = "A provider's notification concerns no account"
    case notificationRefused = "Refused a notification that the provider did not send"

    func log(_ account: AccountID?, provider: ProviderID? = nil, _ caller: Caller) {
        if let outcome, let provider { AccountEvents.count(outcome, provider, caller) }
        var metadata: Logger.Metadata = ["project.id": "\(caller.project.id)"]
        if caller.tenant != .none { metadata["tenant.id"] = "\(caller.tenant)" }
        if let account { metadata["account.id"] = "\(account)" }
        if let provider { metadata["provider.id"] = "\(provider)" }
        switch self {
        case .consentRequired, .cookieTooLarge, .customTokenRefused, .foreignPendingCredential, .issuerChanged,
            .leakedPassword, .nameNotKept,
            .notificationApplied,
            .notificationRefused, .passkeyCloneSuspected,
            .refreshTokenReused, .takenOver:
            Logger.current.notice("\(rawValue)", metadata: metadata)
        default: Logger.current.info("\(rawValue)", metadata: metadata)
        }
    }
}
