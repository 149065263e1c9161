/// Who makes a change, from where, and why, for the entries of the audit log.
///
/// Statements shared by several requests carry each one's own.
package struct AuditOrigin: Sendable, Hashable {
    package enum Actor: Sendable, Hashable, CustomStringConvertible {
        /// The account's user, or the user who takes it over.
        case account
        /// An admin key or a service account's key, by ID.
        case admin(String)
        /// An identity provider, by its notification.
        case provider(String)
        /// A user of the command line, by the operating system's user name.
        case command(String)
        /// The service itself.
        case service

        package var description: String {
            switch self {
            case .account: "account"
            case .admin(let id): "admin:\(id)"
            case .provider(let id): "provider:\(id)"
            case .command(let user): "command:\(user)"
            case .service: "service"
            }
        }
    }

    package var actor: Actor
    /// /24 of IPv4, /64 of IPv6.
    package var addressPrefix: String?
    /// The request's ID, which is also in its log entries.
    package var request: String?
    /// Method and path of the operation as in openapi.yaml, or the command.
    package var operation: String?
    /// The reason that the admin gave, at most 256 characters.
    package var reason: String?

    package init(
        actor: Actor,
        addressPrefix: String? = nil,
        request: String? = nil,
        operation: String? = nil,
        reason: String? = nil
    ) {
        self.actor = actor
        self.addressPrefix = addressPrefix
        self.request = request
        self.operation = operation
        self.reason = reason
    }

    /// Runs an operation as another actor than the request's caller.
    package static func acting<R>(
        as actor: Actor,
        because reason: String? = nil,
        _ body: () async throws -> R
    ) async rethrows -> R {
        try await RequestContext.with(
            {
                $0.origin.actor = actor
                if let reason { $0.origin.reason = reason }
            },
            body
        )
    }
}
