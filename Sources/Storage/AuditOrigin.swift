/// Who changes something, from where, and why: what the entries of the audit log say of it.
///
/// It belongs to the task that answers a request or runs a command, as its logger does. Statements that are shared with
/// other requests take each one's own.
package struct AuditOrigin: Sendable, Hashable {
    package enum Actor: Sendable, Hashable, CustomStringConvertible {
        /// The person whose account it is, or who comes to have it.
        case account
        /// An admin key or a service account's key, by its id.
        case admin(String)
        /// An identity provider, by its notification.
        case provider(String)
        /// Somebody at the command line, by the name of the operating system's user.
        case command(String)
        /// The service by itself.
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
    /// The request's id, which its lines in the log have too.
    package var request: String?
    /// Method and path of the operation, as openapi.yaml has them, or the command.
    package var operation: String?
    /// What the admin said, at most 256 characters.
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

    /// Does something as somebody else than the request's caller.
    package static func acting<R>(
        as actor: Actor,
        because reason: String? = nil,
        _ body: () async throws -> R
    ) async rethrows -> R {
        var origin = current
        origin.actor = actor
        origin.reason = reason ?? origin.reason
        return try await $current.withValue(origin, operation: body)
    }

    @TaskLocal package static var current = AuditOrigin(actor: .service)
}
