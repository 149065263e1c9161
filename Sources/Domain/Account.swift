package import struct Foundation.Date

/// A user of an app.
@dynamicMemberLookup
package struct Account: Sendable, Hashable {
    package var id: AccountID
    /// Incremented by every change that decisions depend on; a write that was decided on an older version does not
    /// apply.
    package var version: Int64
    package var email: EmailAddress?
    package var emailVerified = false
    /// The email before its first change, for recovery.
    package var initialEmail: String?
    package var profile = Profile()
    /// E.164.
    package var phoneNumber: String?
    package var hasPassword = false
    /// Kept after the password is removed.
    package var passwordUpdatedAt: Date?
    /// The account signs in by email link.
    package var emailLinkSignIn = false
    /// Made by a custom token, or signed in with one since, or merged with such an account: the app's back end can
    /// always let somebody in.
    package var customAuth = false
    /// Until when a link in an email restores an address that the account had verified; nil if none was removed.
    package var recoverableUntil: Date?
    /// Custom claims, a JSON object as text.
    package var customAttributes: String?
    /// Nil if it was never set, which counts as false.
    package var disabled: Bool?
    /// Seconds since 1970: sessions that signed in earlier have ended.
    package var validSince: Int64
    /// The ``version`` of the change that last ended sessions; 0 if none did.
    ///
    /// Pending sign-ins from before that version have ended too.
    package var revokedVersion: Int64 = 0
    package var createdAt: Date
    package var lastSignInAt: Date?
    package var lastRefreshAt: Date?
    /// The factors that a sign-in must prove after the first step, in the order of their enrollment.
    package var secondFactors: [SecondFactor] = []
    /// In the order of their enrollment.
    package var passkeys: [Passkey] = []
    /// Sorted by provider; at most one identity for each.
    package var linked: [LinkedCredential] = []

    package init(id: AccountID, version: Int64 = 1, validSince: Int64, createdAt: Date) {
        self.id = id
        self.version = version
        self.validSince = validSince
        self.createdAt = createdAt
    }

    package subscript(dynamicMember path: WritableKeyPath<Profile, String?>) -> String? {
        get { profile[keyPath: path] }
        set { profile[keyPath: path] = newValue }
    }

    package var isDisabled: Bool { disabled == true }

    /// Whether somebody has a way in that a takeover must not end, or cannot: the owner of an address that was removed
    /// lately, or the app's back end by custom tokens (threats.md, T-A17, T-E6).
    package func outlivesTakeover(at now: Date) -> Bool { customAuth || recoverableUntil.map { now < $0 } ?? false }

    /// Whether its email leaves it for whoever proves the address (S16).
    package func yieldsEmail(at now: Date) -> Bool {
        email != nil && !emailVerified && !isDisabled && outlivesTakeover(at: now)
    }

    /// `password`, `phone`, `emailLink` and `passkey`, if the account has them.
    package var ownMethods: Set<ProviderID> {
        var methods: Set<ProviderID> = []
        if hasPassword { methods.insert(.password) }
        if phoneNumber != nil { methods.insert(.phone) }
        if emailLinkSignIn { methods.insert(.emailLink) }
        if !passkeys.isEmpty { methods.insert(.passkey) }
        return methods
    }

    /// Every sign-in method: own methods and linked providers.
    package var methods: Set<ProviderID> { ownMethods.union(linked.map(\.provider)) }

    /// The methods that can sign in: without an email, passwords and email links cannot.
    package var waysIn: Set<ProviderID> { email == nil ? methods.subtracting([.password, .emailLink]) : methods }

    /// The account as the input of a decision.
    package func candidate(at now: Date) -> CandidateAccount {
        CandidateAccount(
            id: id,
            email: email,
            emailVerified: emailVerified,
            disabled: isDisabled,
            ownMethods: ownMethods,
            linked: Dictionary(linked.map { ($0.provider, $0.subject) }) { first, _ in first },
            hasSecondFactor: !secondFactors.isEmpty || !passkeys.isEmpty,
            outlivesTakeover: outlivesTakeover(at: now)
        )
    }
}

/// A provider's identity linked to an account, with the provider's profile at the time of linking.
@dynamicMemberLookup
package struct LinkedCredential: Sendable, Hashable {
    package var provider: ProviderID
    package var subject: String
    package var email: String?
    package var profile: Profile

    package init(provider: ProviderID, subject: String, email: String? = nil, profile: Profile = Profile()) {
        self.provider = provider
        self.subject = subject
        self.email = email
        self.profile = profile.only(Profile.ofIdentities)
    }

    package init(_ identity: FederatedIdentity) {
        self.init(
            provider: identity.provider,
            subject: identity.subject,
            email: identity.email?.canonical,
            profile: identity.profile
        )
    }

    package subscript(dynamicMember path: KeyPath<Profile, String?>) -> String? { profile[keyPath: path] }

    /// The credential with what its provider now says; what the provider leaves out stays.
    package func updated(by identity: FederatedIdentity) -> LinkedCredential {
        var updated = LinkedCredential(identity)
        updated.email = updated.email ?? email
        updated.profile.fill(from: profile)
        return updated
    }
}
