package import Federation
package import Linking
package import Secrets
package import Sessions
package import struct Foundation.Date

/// The tokens of a session.
package struct IssuedTokens: Sendable {
    package var idToken: String
    package var refreshToken: Secret
    /// Seconds that the ID token lives.
    package var expiresIn: Int64

    package init(idToken: String, refreshToken: Secret, expiresIn: Int64 = 3600) {
        self.idToken = idToken
        self.refreshToken = refreshToken
        self.expiresIn = expiresIn
    }
}

/// What the proof of a first factor comes to.
package enum FirstFactorResult: Sendable {
    case signedIn(IssuedTokens)
    /// Nobody is signed in until a second factor is proved.
    case needsSecondFactor(SecondFactorChallenge)

    package var tokens: IssuedTokens? {
        if case .signedIn(let tokens) = self { tokens } else { nil }
    }
}

/// The demand for a second factor.
package struct SecondFactorChallenge: Sendable {
    /// What the first factor proved: half an hour's worth.
    package var pendingCredential: Secret
    /// Those that may be proved.
    package var factors: [SecondFactor]
}

/// What `signInWithIdp` came to.
package struct FederatedSignInResult: Sendable {
    package enum Outcome: Sendable {
        /// Signed in, signed up, linked or reauthenticated.
        case signedIn(Account, FirstFactorResult, isNewUser: Bool, emailRecycled: Bool)
        /// Account exists with different credential. `account` and `providers` are nil when the caller may not learn them.
        case needsConfirmation(account: AccountID?, providers: [ProviderID]?)
        /// A link conflict that the caller asked to get in-band (`returnIdpCredential`).
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
    package var current: Bool

    package init(
        id: SessionID,
        createdAt: Date,
        lastUsedAt: Date,
        signInProvider: ProviderID,
        userAgent: String?,
        addressPrefix: String?,
        current: Bool
    ) {
        self.id = id
        self.createdAt = createdAt
        self.lastUsedAt = lastUsedAt
        self.signInProvider = signInProvider
        self.userAgent = userAgent
        self.addressPrefix = addressPrefix
        self.current = current
    }
}
