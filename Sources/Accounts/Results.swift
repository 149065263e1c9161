package import Domain
package import Federation
package import Secrets
package import Sessions
package import struct Foundation.Date

/// The tokens of a session.
package struct IssuedTokens: Sendable {
    package var idToken: String
    package var refreshToken: Secret
    /// The lifetime of the ID token in seconds.
    package var expiresIn: Int64

    package init(idToken: String, refreshToken: Secret, expiresIn: Int64 = 3600) {
        self.idToken = idToken
        self.refreshToken = refreshToken
        self.expiresIn = expiresIn
    }
}

/// The result of proving a first factor.
package enum FirstFactorResult: Sendable {
    case signedIn(IssuedTokens)
    /// The user is signed in only after proving a second factor.
    case needsSecondFactor(SecondFactorChallenge)

    package var tokens: IssuedTokens? {
        if case .signedIn(let tokens) = self { tokens } else { nil }
    }
}

/// The request for a second factor.
package struct SecondFactorChallenge: Sendable {
    /// The pending sign-in, valid for half an hour.
    package var pendingCredential: Secret
    /// The factors that can be proved.
    package var factors: [SecondFactor]
    /// Whether a passkey of the account can be proved, too.
    package var offersPasskey: Bool
}

/// The result of `signInWithIdp`.
package struct FederatedSignInResult: Sendable {
    package enum Outcome: Sendable {
        /// Signed in, signed up, linked or reauthenticated.
        case signedIn(Account, FirstFactorResult, isNewUser: Bool, emailRecycled: Bool)
        /// An account conflict; `account` and `providers` are nil if the caller may not learn them.
        case needsConfirmation(account: AccountID?, providers: [ProviderID]?)
        /// A link conflict that the caller requested in the response (`returnIdpCredential`).
        case linkRefused(LinkDecision.Refusal)
    }

    package var outcome: Outcome
    package var credential: FederatedCredential
    /// Set with ``Outcome/needsConfirmation(account:providers:)`` and ``Outcome/linkRefused(_:)``.
    package var pendingToken: Secret?
    /// The `context` of createAuthUri.
    package var context: String?

    package init(
        outcome: Outcome,
        credential: FederatedCredential,
        pendingToken: Secret? = nil,
        context: String? = nil
    ) {
        self.outcome = outcome
        self.credential = credential
        self.pendingToken = pendingToken
        self.context = context
    }
}

/// One signed-in device.
package struct SessionSummary: Sendable, Hashable {
    package var id: SessionID
    package var createdAt: Date
    package var lastUsedAt: Date
    package var signInProvider: ProviderID
    package var userAgent: String?
    package var addressPrefix: String?
    /// The application that the user granted it to; nil for one of the project's own apps.
    package var client: String?
    package var current: Bool
}
