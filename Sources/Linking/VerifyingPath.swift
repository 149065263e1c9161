/// How an account's address becomes verified: all the ways there are, and what each does to what was there before.
///
/// The registry of the first-verification rule (threats.md, T-A7). Besides these only admins set an address verified.
package enum VerifyingPath: String, Sendable, Hashable, CaseIterable {
    /// A sign-in with a provider that proves the address (S7).
    case providerSignIn
    /// The signed-in account links such a provider.
    case providerLink
    /// A sign-in by the link of a mail.
    case emailLinkSignIn
    /// The signed-in account takes the link as a way in.
    case emailLinkLink
    case passwordReset
    /// The mail that the account's own session, or an admin, asked for.
    case verificationMail
    /// The mail to the new address, which the account's own session, or an admin, asked for.
    case emailChangeMail
    /// The mail to the address that was the account's before.
    case recoveryMail

    /// Whether the person did not sign in as the account, and so proved nothing of what is on it: when the address was
    /// never proved before, all of it goes.
    package var dropsUnproved: Bool {
        switch self {
        case .providerSignIn, .emailLinkSignIn, .passwordReset, .recoveryMail: true
        case .providerLink, .emailLinkLink, .verificationMail, .emailChangeMail: false
        }
    }
}

/// Who proved an address: an identity of a provider, or the address itself (`emailLink`, `password`).
package struct EmailProof: Sendable, Hashable {
    package var provider: ProviderID
    package var subject: String

    package init(provider: ProviderID, subject: String) {
        self.provider = provider
        self.subject = subject
    }
}

extension Account {
    /// The first verification by somebody who did not sign in as the account: every way in that was there before goes,
    /// and so does the address to which it could be recovered.
    package mutating func dropUnproved(validSince: Int64) {
        linked = []
        hasPassword = false
        phoneNumber = nil
        emailLinkSignIn = false
        secondFactors = []
        initialEmail = nil
        emailVerified = true
        self.validSince = validSince
    }
}
