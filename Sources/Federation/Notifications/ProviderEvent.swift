package import Domain
package import struct Foundation.Date

/// A provider's event about a user, after its signature was verified.
package struct ProviderEvent: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        /// The user, or the provider, revoked the app's permission.
        case consentRevoked
        /// The user was signed out everywhere.
        case sessionsRevoked
        /// The user's account at the provider was deleted.
        case accountDeleted
        /// The user requests the deletion of the data that the app has from the provider.
        case deletionRequested
        /// Someone else may be using the account at the provider.
        case accountHijacked
        /// The account at the provider is under its user's control again.
        case accountRestored
        /// The relay address no longer forwards emails.
        case forwardingStopped
        case forwardingResumed
    }

    package var provider: ProviderID
    /// The provider's ID of this event; a repeated event has the same one.
    package var id: String
    package var kind: Kind
    package var subject: String
    package var occurredAt: Date

    /// The ID of a deletion request that a user can look up with this code.
    package static func deletionID(_ code: String) -> String { "deletion/" + code }
}

/// A provider's request to the notification endpoint.
package struct ProviderNotification: Sendable {
    /// By lowercase name.
    package var headers: [String: String]
    package var body: [UInt8]
    /// Whether it arrived at the URL for deletion requests (Facebook).
    package var asksForDeletion: Bool

    package init(headers: [String: String], body: [UInt8], asksForDeletion: Bool = false) {
        self.headers = headers
        self.body = body
        self.asksForDeletion = asksForDeletion
    }
}

/// A verified notification, and the response that the provider expects.
package struct ReceivedNotification: Sendable {
    package enum Answer: Sendable {
        /// 200 with an empty object.
        case done
        /// 202.
        case accepted
        /// 204.
        case noContent
        /// 200 with the URL of a status page and its code.
        case deletion(code: String)
    }

    /// Without events that are ignored.
    package var events: [ProviderEvent]
    package var answer: Answer
}
