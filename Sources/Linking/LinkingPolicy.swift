/// What a project decides about sign-in and linking.
package struct LinkingPolicy: Sendable, Hashable {
    /// One account per email: `signIn.allowDuplicateEmails` is false.
    package var oneAccountPerEmail: Bool
    /// When the address of the identity at hand counts as proven.
    package var emailTrust: EmailTrust
    /// Whether people may open accounts themselves: `client.permissions.disabledUserSignup` is false.
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

/// What becomes of a sign-in with a new identity whose address belongs to an account: `identity.linking` of a project.
///
/// Linking to the account that one is signed in to is allowed in each of them.
package enum LinkingMode: String, Sendable, Hashable, Codable, CaseIterable {
    /// It is refused; people link while they are signed in, or not at all.
    case never
    /// People confirm by signing in with what the account has, whatever the provider proves.
    case confirm
    /// An address that the provider proves links or takes over; any other is to be confirmed.
    case auto
}

/// An account as a decision sees it.
package struct CandidateAccount: Sendable, Hashable {
    package var id: AccountID
    package var email: EmailAddress?
    package var emailVerified: Bool
    package var disabled: Bool
    /// `password`, `phone` and `emailLink`, as far as the account has them.
    package var ownMethods: Set<ProviderID>
    /// The subject at each linked provider; at most one for each.
    package var linked: [ProviderID: String]

    package init(
        id: AccountID,
        email: EmailAddress? = nil,
        emailVerified: Bool = false,
        disabled: Bool = false,
        ownMethods: Set<ProviderID> = [],
        linked: [ProviderID: String] = [:]
    ) {
        self.id = id
        self.email = email
        self.emailVerified = emailVerified
        self.disabled = disabled
        self.ownMethods = ownMethods
        self.linked = linked
    }
}
