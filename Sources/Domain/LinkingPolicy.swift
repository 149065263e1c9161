/// A project's settings for sign-in and linking.
package struct LinkingPolicy: Sendable, Hashable {
    /// One account per email: `signIn.allowDuplicateEmails` is false.
    package var oneAccountPerEmail: Bool
    /// When the identity's address counts as verified.
    package var emailTrust: EmailTrust
    /// Whether users can create accounts themselves: `client.permissions.disabledUserSignup` is false.
    package var signUpAllowed: Bool
    package var linking: LinkingMode

    package init(
        oneAccountPerEmail: Bool = true,
        emailTrust: EmailTrust = .never,
        signUpAllowed: Bool = true,
        linking: LinkingMode = .auto
    ) {
        self.oneAccountPerEmail = oneAccountPerEmail
        self.emailTrust = emailTrust
        self.signUpAllowed = signUpAllowed
        self.linking = linking
    }
}

/// What to do when a new identity's email already has an account: a project's `identity.linking`.
///
/// Linking to the signed-in account is allowed in each mode.
package enum LinkingMode: String, Sendable, Hashable, Codable, CaseIterable {
    /// Refuse the sign-in; users can only link while they are signed in.
    case never
    /// Users must confirm by signing in with an existing method, even if the provider verifies the email.
    case confirm
    /// An email that the provider verifies links or takes over; any other must be confirmed.
    case auto
}

/// An account as the input of a decision.
package struct CandidateAccount: Sendable, Hashable {
    package var id: AccountID
    package var email: EmailAddress?
    package var emailVerified: Bool
    package var disabled: Bool
    /// `password`, `phone`, `emailLink` and `passkey`, if the account has them.
    package var ownMethods: Set<ProviderID>
    /// The subject at each linked provider; at most one for each.
    package var linked: [ProviderID: String]
    /// Whether it has a second factor, or a passkey, which can be one.
    package var hasSecondFactor: Bool
    /// Whether somebody has a way in that a takeover must not end, or cannot (``Account/outlivesTakeover(at:)``).
    package var outlivesTakeover: Bool

    package init(
        id: AccountID,
        email: EmailAddress? = nil,
        emailVerified: Bool = false,
        disabled: Bool = false,
        ownMethods: Set<ProviderID> = [],
        linked: [ProviderID: String] = [:],
        hasSecondFactor: Bool = false,
        outlivesTakeover: Bool = false
    ) {
        self.id = id
        self.email = email
        self.emailVerified = emailVerified
        self.disabled = disabled
        self.ownMethods = ownMethods
        self.linked = linked
        self.hasSecondFactor = hasSecondFactor
        self.outlivesTakeover = outlivesTakeover
    }
}
