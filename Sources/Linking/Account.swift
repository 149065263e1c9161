package import struct Foundation.Date

/// A user of an app.
package struct Account: Sendable, Hashable {
    package var id: AccountID
    /// Counts the changes to what decisions depend on; a write that was decided on an older version does not apply.
    package var version: Int64
    package var email: EmailAddress?
    package var emailVerified = false
    /// The address before the first change, for recovery.
    package var initialEmail: String?
    package var displayName: String?
    package var photoURL: String?
    /// E.164.
    package var phoneNumber: String?
    package var hasPassword = false
    /// Kept after the password is gone.
    package var passwordUpdatedAt: Date?
    /// The account signs in by email link.
    package var emailLinkSignIn = false
    /// Opened by a custom token.
    package var customAuth = false
    /// Custom claims, a JSON object as text.
    package var customAttributes: String?
    /// Nil when nobody ever set it, which reads as false.
    package var disabled: Bool?
    /// Seconds since 1970: sessions that signed in before are over.
    package var validSince: Int64
    /// The ``version`` that ended sessions last; 0 when none did. What was half proved before is over.
    package var revokedVersion: Int64 = 0
    package var createdAt: Date
    package var lastSignInAt: Date?
    package var lastRefreshAt: Date?
    package var screenName: String?
    package var language: String?
    package var timeZone: String?
    package var dateOfBirth: String?
    /// What a sign-in asks for after the first proof, in the order of their enrolment.
    package var secondFactors: [SecondFactor] = []
    /// Sorted by provider; at most one for each.
    package var linked: [LinkedCredential] = []

    package init(id: AccountID, version: Int64 = 1, validSince: Int64, createdAt: Date) {
        self.id = id
        self.version = version
        self.validSince = validSince
        self.createdAt = createdAt
    }

    package var isDisabled: Bool { disabled == true }

    /// `password`, `phone` and `emailLink`, as far as the account has them.
    package var ownMethods: Set<ProviderID> {
        var methods: Set<ProviderID> = []
        if hasPassword { methods.insert(.password) }
        if phoneNumber != nil { methods.insert(.phone) }
        if emailLinkSignIn { methods.insert(.emailLink) }
        return methods
    }

    /// All that can sign in: own methods and linked providers.
    package var methods: Set<ProviderID> { ownMethods.union(linked.map(\.provider)) }

    /// The methods by which somebody gets in: without an address, a password and email links open nothing.
    package var waysIn: Set<ProviderID> { email == nil ? methods.subtracting([.password, .emailLink]) : methods }

    /// The account as a decision sees it.
    package var candidate: CandidateAccount {
        CandidateAccount(
            id: id,
            email: email,
            emailVerified: emailVerified,
            disabled: isDisabled,
            ownMethods: ownMethods,
            linked: Dictionary(linked.map { ($0.provider, $0.subject) }) { first, _ in first }
        )
    }
}

/// A federated identity attached to an account, with the provider's profile as it was when it was linked.
package struct LinkedCredential: Sendable, Hashable {
    package var provider: ProviderID
    package var subject: String
    package var email: String?
    package var displayName: String?
    package var photoURL: String?
    package var screenName: String?

    package init(
        provider: ProviderID,
        subject: String,
        email: String? = nil,
        displayName: String? = nil,
        photoURL: String? = nil,
        screenName: String? = nil
    ) {
        self.provider = provider
        self.subject = subject
        self.email = email
        self.displayName = displayName
        self.photoURL = photoURL
        self.screenName = screenName
    }
}
