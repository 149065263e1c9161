/// What a user's session may do to its account only after a recent sign-in: the one table that all use cases read
/// (threats.md, T-A15).
///
/// Each row also requires a session that proved a second factor, on accounts that have one. A stolen session alone thus
/// neither takes the account nor makes itself a recent one.
package enum SensitiveOperation: String, Sendable, Hashable, CaseIterable {
    case setPassword
    case removePassword
    case changeEmail
    /// The mail whose code changes the address.
    case requestEmailChange
    case removeEmail
    /// Links a provider, a first phone number or a first address.
    case addMethod
    case unlinkProvider
    case replacePhoneNumber
    /// Another number is a first one after that: removing it is half of replacing it.
    case removePhoneNumber
    case enrollSecondFactor
    case withdrawSecondFactor
    /// `validSince`.
    case endOtherSessions
    case deleteAccount

    /// Whether it requires a recent sign-in.
    ///
    /// - Parameters:
    ///   - policy: the project's.
    ///   - hasSecondFactor: sign-ins to the account ask for one.
    package func isSensitive(under policy: MethodChangePolicy, hasSecondFactor: Bool) -> Bool {
        switch self {
        case .addMethod, .unlinkProvider:
            switch policy {
            case .anySession: false
            case .secondFactor: hasSecondFactor
            case .recentSignIn: true
            }
        case .setPassword, .removePassword, .changeEmail, .requestEmailChange, .removeEmail, .replacePhoneNumber,
            .removePhoneNumber, .enrollSecondFactor, .withdrawSecondFactor, .endOtherSessions, .deleteAccount:
            true
        }
    }

    /// The operations of the API that do it, by `operationId`.
    package var operations: Set<String> {
        switch self {
        case .setPassword: ["update", "signUp"]
        case .removePassword, .removeEmail, .unlinkProvider, .removePhoneNumber, .endOtherSessions: ["update"]
        case .changeEmail: ["update", "signUp", "signInWithEmailLink"]
        case .requestEmailChange: ["sendOobCode"]
        case .addMethod: ["signInWithIdp", "signInWithPhoneNumber", "signInWithEmailLink"]
        case .replacePhoneNumber: ["signInWithPhoneNumber"]
        case .enrollSecondFactor: ["startMFAEnrollment", "finalizeMFAEnrollment"]
        case .withdrawSecondFactor: ["withdrawMFAEnrollment"]
        case .deleteAccount: ["delete"]
        }
    }
}

/// Which accounts link and unlink sign-in methods after a recent sign-in only.
///
/// Firebase's clients expect it of none.
package enum MethodChangePolicy: String, Sendable, Hashable, Codable, CaseIterable {
    case anySession
    /// Those with a second factor.
    case secondFactor
    case recentSignIn
}

extension Account {
    /// Nothing can sign in to it, so its session is all the proof there is: it becomes a lasting account whatever its age.
    package var isGuest: Bool {
        methods.isEmpty && email == nil && !customAuth && secondFactors.isEmpty
    }
}
