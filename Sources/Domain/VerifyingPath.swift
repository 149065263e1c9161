/// The ways in which an account's email becomes verified, and what each does to earlier credentials.
///
/// The registry of the first-verification rule (threats.md, T-A7). Otherwise only admins mark an email as verified.
package enum VerifyingPath: String, Sendable, Hashable, CaseIterable {
    /// A sign-in with a provider that verifies the email (S7).
    case providerSignIn
    /// The signed-in account links such a provider.
    case providerLink
    /// A sign-in with an email link.
    case emailLinkSignIn
    /// The signed-in account adds email link as a sign-in method.
    case emailLinkLink
    case passwordReset
    /// The verification email that the account's own session, or an admin, requested.
    case verificationMail
    /// The email to the new address that the account's own session, or an admin, requested.
    case emailChangeMail
    /// The email to the account's previous address.
    case recoveryMail

    /// Whether the user did not sign in as the account: if the email was never verified before, all earlier credentials
    /// are removed.
    package var dropsUnproved: Bool {
        switch self {
        case .providerSignIn, .emailLinkSignIn, .passwordReset, .recoveryMail: true
        case .providerLink, .emailLinkLink, .verificationMail, .emailChangeMail: false
        }
    }
}

/// What verified an email: a provider's identity, or the email itself (`emailLink`, `password`).
package struct EmailProof: Sendable, Hashable {
    package var provider: ProviderID
    package var subject: String

    package init(provider: ProviderID, subject: String) {
        self.provider = provider
        self.subject = subject
    }
}

extension Account {
    /// Applies the first verification by a user who did not sign in as the account: removes every earlier sign-in
    /// method, the address to which the account could be recovered, and the profile.
    ///
    /// Second factors stay and are asked for (T-D12): they need a verified email wherever they are written, so only an
    /// account of an earlier release, or a sign-up in `identity dev`, has any here.
    package mutating func dropUnproved(validSince: Int64) {
        linked = []
        hasPassword = false
        phoneNumber = nil
        emailLinkSignIn = false
        passkeys = []
        profile = Profile()
        initialEmail = nil
        emailVerified = true
        self.validSince = validSince
    }
}
