package import Domain
package import Foundation
package import Projects

/// A webhook about what a user granted an application.
package struct GrantNotice: Sendable, Codable {
    /// The outbox's name for it.
    package static let kind = "webhook.grant"

    package var type: WebhookType
    package var date: Date
    package var data: Subject

    package struct Subject: Sendable, Hashable, Codable {
        var projectId: String
        /// Nil in the project itself.
        var tenantId: String?
        var localId: String
        var clientId: String
        /// `sid` in the application's ID tokens.
        var sessionId: String
        /// Nil for one that has ended, likewise the next.
        var scopes: [String]?
        var resources: [String]?
    }

    /// - Parameter granted: nil for a grant that has ended.
    package init(
        _ type: WebhookType,
        client: String,
        session: String,
        account: AccountID,
        granted: (scopes: [String], resources: [String])? = nil,
        in scope: Scope,
        date: Date
    ) {
        self.type = type
        self.date = date
        data = Subject(
            projectId: scope.project.rawValue,
            tenantId: scope.tenant == .none ? nil : scope.tenant.rawValue,
            localId: account.rawValue,
            clientId: client,
            sessionId: session,
            scopes: granted?.scopes,
            resources: granted?.resources
        )
    }
}
