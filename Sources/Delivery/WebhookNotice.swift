package import Domain
package import Foundation
package import Projects

/// A webhook about an account; it waits in the outbox with the account's state at the time of the event.
package struct WebhookNotice: Sendable, Codable {
    /// The outbox's name for it.
    package static let kind = "webhook"

    package var type: WebhookType
    package var date: Date
    package var data: Subject

    /// The account; for a deleted one, its last state.
    package struct Subject: Sendable, Hashable, Codable {
        var projectId: String
        /// Nil in the project itself.
        var tenantId: String?
        var localId: String
        /// Incremented by each change of the account; nil in a message of an earlier release.
        var version: Int64?
        var email: String?
        var emailVerified: Bool
        var phoneNumber: String?
        var displayName: String?
        var photoUrl: String?
        var disabled: Bool
        /// `password`, `phone`, `emailLink` and identity providers.
        var methods: [String]
        var customAttributes: String?
        var createdAt: String
        var passwordUpdatedAt: String?
        /// Sessions that signed in before have ended.
        var validSince: String
        /// The account that was merged into this one, or separated from it again.
        package var mergedLocalId: String?

        package init(_ account: Account, of scope: Scope) {
            projectId = scope.project.rawValue
            tenantId = scope.tenant == .none ? nil : scope.tenant.rawValue
            localId = account.id.rawValue
            version = account.version
            email = account.email?.canonical
            emailVerified = account.emailVerified
            phoneNumber = account.phoneNumber
            displayName = account.displayName
            photoUrl = account.photoURL
            disabled = account.isDisabled
            methods = account.methods.map(\.rawValue).sorted()
            customAttributes = account.customAttributes
            createdAt = account.createdAt.formatted(.iso8601)
            passwordUpdatedAt = account.passwordUpdatedAt?.formatted(.iso8601)
            validSince = Date(timeIntervalSince1970: Double(account.validSince)).formatted(.iso8601)
        }
    }

    /// Whether it says anything that differs from an account.
    package func differs(from account: Account, of scope: Scope) -> Bool {
        var other = Subject(account, of: scope)
        other.version = data.version
        return data != other
    }

    package init(_ type: WebhookType, about account: Account, of scope: Scope, date: Date) {
        self.type = type
        self.date = date
        data = Subject(account, of: scope)
    }
}
