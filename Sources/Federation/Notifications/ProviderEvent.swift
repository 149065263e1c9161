package import Linking
package import struct Foundation.Date

/// What a provider said by itself about one of its people, after its signature was verified.
package struct ProviderEvent: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        /// The person withdrew the app's permission, or the provider did.
        case consentRevoked
        /// The person was signed out everywhere.
        case sessionsRevoked
        /// The person's account at the provider is gone.
        case accountDeleted
        /// The person asks for the deletion of what the app has from the provider.
        case deletionRequested
        /// Somebody else may be using the account at the provider.
        case accountHijacked
        /// The account at the provider is its owner's again.
        case accountRestored
        /// The relay address no longer passes mail on.
        case forwardingStopped
        case forwardingResumed
    }

    package var provider: ProviderID
    /// The provider's id of this event: one that comes again is the same.
    package var id: String
    package var kind: Kind
    package var subject: String
    package var occurredAt: Date

    /// The id of a request for deletion that a person can look up by this code.
    package static func deletionID(_ code: String) -> String { "deletion/" + code }

    package init(provider: ProviderID, id: String, kind: Kind, subject: String, occurredAt: Date) {
        self.provider = provider
        self.id = id
        self.kind = kind
        self.subject = subject
        self.occurredAt = occurredAt
    }
}

/// A request that a provider sends by itself.
package struct ProviderNotification: Sendable {
    /// By their names in lower case.
    package var headers: [String: String]
    package var body: [UInt8]
    /// It came to the address for requests of deletion (Facebook).
    package var asksForDeletion: Bool

    package init(headers: [String: String], body: [UInt8], asksForDeletion: Bool = false) {
        self.headers = headers
        self.body = body
        self.asksForDeletion = asksForDeletion
    }
}

/// A notification that is the provider's, and how the provider wants it answered.
package struct ReceivedNotification: Sendable {
    package enum Answer: Sendable {
        /// 200 with an empty object.
        case done
        /// 202.
        case accepted
        /// 204.
        case noContent
        /// 200 with a page that tells of the deletion, and its code.
        case deletion(code: String)
    }

    /// Without what means nothing here.
    package var events: [ProviderEvent]
    package var answer: Answer
}
