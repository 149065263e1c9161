package import struct Foundation.Date

/// A way in that an account lost to another identity.
package struct DetachedCredential: Sendable, Hashable {
    /// An identity provider, `password` or `phone`.
    package var provider: ProviderID
    /// The provider's own id of the person, the address of a password, the number of a phone.
    package var subject: String
    package var email: String?
    package var displayName: String?
    /// Nil for a password and a phone.
    package var linkedAt: Date?
    package var reason: Reason
    /// Who has the account since.
    package var byProvider: ProviderID
    package var bySubject: String
    package var detachedAt: Date

    package enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The account's address was proved for the first time, by somebody else (S7).
        case takeOver
        /// The provider gave the address to somebody else (S6).
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
