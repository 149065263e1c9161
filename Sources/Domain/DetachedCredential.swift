package import struct Foundation.Date

/// A sign-in method that an account lost to another identity.
package struct DetachedCredential: Sendable, Hashable {
    /// An identity provider, `password`, `phone` or `passkey`.
    package var provider: ProviderID
    /// The user's ID at the provider, the email of a password, the number of a phone, or the IDs of passkeys.
    package var subject: String
    package var email: String?
    package var displayName: String?
    /// Nil for a password and a phone.
    package var linkedAt: Date?
    package var reason: Reason
    /// The provider of the identity that has the account since.
    package var byProvider: ProviderID
    package var bySubject: String
    package var detachedAt: Date

    package enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The account's email was verified for the first time, by another user (S7).
        case takeOver
        /// The provider reassigned the email to another user (S6).
        case emailRecycled
    }

    package init(
        provider: ProviderID,
        subject: String,
        email: String? = nil,
        displayName: String? = nil,
        linkedAt: Date? = nil,
        reason: Reason,
        byProvider: ProviderID,
        bySubject: String,
        detachedAt: Date
    ) {
        self.provider = provider
        self.subject = subject
        self.email = email
        self.displayName = displayName
        self.linkedAt = linkedAt
        self.reason = reason
        self.byProvider = byProvider
        self.bySubject = bySubject
        self.detachedAt = detachedAt
    }
}
