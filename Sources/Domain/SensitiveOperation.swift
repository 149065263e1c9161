/// The operations for which a session needs a recent sign-in: the one table that all use cases read (threats.md,
/// T-A15).
///
/// On accounts with a second factor, each row also requires a session that proved it. So a stolen session alone can
/// neither take over the account nor make itself recent.
package enum SensitiveOperation: String, Sendable, Hashable, CaseIterable {
    case setPassword
    case removePassword
    case changeEmail
    /// The email whose code changes the address.
    case requestEmailChange
    case removeEmail
    /// Links a provider, a first phone number or a first email.
    case addMethod
    case unlinkProvider
    case replacePhoneNumber
    /// Afterwards, another number counts as a first one, so removing is half of replacing.
    case removePhoneNumber
    /// A passkey that verifies its user counts as two factors.
    case enrollPasskey
    case removePasskey
    case enrollSecondFactor
    case withdrawSecondFactor
    /// `validSince`, and signing out elsewhere.
    case endOtherSessions
    case deleteAccount
    /// Lets an application in for the first time, or with access while the user is away.
    case grantAccess

    /// Whether it requires a recent sign-in.
    ///
    /// - Parameters:
    ///   - policy: the project's.
    ///   - hasSecondFactor: whether the account has a second factor.
    package func isSensitive(under policy: MethodChangePolicy, hasSecondFactor: Bool) -> Bool {
        switch self {
        case .addMethod, .unlinkProvider:
            switch policy {
            case .anySession: false
            case .secondFactor: hasSecondFactor
            case .recentSignIn: true
            }
        // Whatever the policy, a session without the second factor cannot remove a way around it.
        case .removePasskey: hasSecondFactor || policy == .recentSignIn
        case .enrollPasskey, .setPassword, .removePassword, .changeEmail, .requestEmailChange, .removeEmail,
            .replacePhoneNumber,
            .removePhoneNumber, .enrollSecondFactor, .withdrawSecondFactor, .endOtherSessions, .deleteAccount,
            .grantAccess:
            true
        }
    }

    /// The API operations that perform it, by `operationId`.
    package var operations: Set<String> {
        switch self {
        case .setPassword: ["update", "signUp"]
        case .removePassword, .removeEmail, .unlinkProvider, .removePhoneNumber, .removePasskey: ["update"]
        case .endOtherSessions: ["update", "signOut"]
        case .changeEmail: ["update", "signUp", "signInWithEmailLink"]
        case .requestEmailChange: ["sendOobCode"]
        case .addMethod: ["signInWithIdp", "signInWithPhoneNumber", "signInWithEmailLink"]
        case .replacePhoneNumber: ["signInWithPhoneNumber"]
        case .enrollPasskey: ["startPasskeyEnrollment", "finalizePasskeyEnrollment"]
        case .enrollSecondFactor: ["startMFAEnrollment", "finalizeMFAEnrollment"]
        case .withdrawSecondFactor: ["withdrawMFAEnrollment"]
        case .deleteAccount: ["delete"]
        case .grantAccess: ["decideAuthorization"]
        }
    }
}

/// Which accounts need a recent sign-in to link and unlink sign-in methods.
///
/// Firebase's clients expect none to.
package enum MethodChangePolicy: String, Sendable, Hashable, Codable, CaseIterable {
    case anySession
    /// Accounts with a second factor.
    case secondFactor
    case recentSignIn
}

extension Account {
    /// An anonymous account has no sign-in method, so its session is the only proof: it can be upgraded at any age.
    package var isGuest: Bool {
        methods.isEmpty && email == nil && !customAuth && secondFactors.isEmpty
    }
}
