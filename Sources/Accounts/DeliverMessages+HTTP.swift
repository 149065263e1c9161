import Delivery
import Domain
import Logging
import OAuth
import Projects
import Storage

extension DeliverMessages {
    /// Sends a message over HTTP.
    func handOver(
        _ message: OutboxStore.Message,
        _ send: (Messenger, Project) async throws(DeliveryError) -> Void
    ) async -> OutboxStore.Outcome {
        // This node may learn of the project in a moment.
        guard let messenger = service.options.messenger,
            let project = service.configuration.snapshot.project(message.project)
        else {
            return tryAgain(message, DeliveryError.notConfigured)
        }
        do {
            try await send(messenger, project)
            log(.info, "Sent a message", message)
            return .delivered
        } catch {
            // Retries once, for a node that does not have the configuration yet.
            let isOver = error.isPermanent || (error == .notConfigured && message.attempts > 1)
            guard isOver else { return tryAgain(message, error, after: error.retryAfter) }
            log(.error, "Gave up a message that cannot be delivered", message, error)
            return .abandoned
        }
    }

    /// Tells an application that a user's session with it has ended.
    func tell(_ logout: ApplicationLogout, _ message: OutboxStore.Message) async throws -> OutboxStore.Outcome {
        let client = try await service.stores.oauthClients.client(logout.client, of: message.project)
        // An application that was removed, or no longer wants to know.
        guard let client, let url = client.metadata.backChannelLogoutURI else { return .delivered }
        return await handOver(message) { messenger, project throws(DeliveryError) in
            guard let token = try? service.logoutToken(logout, id: message.id, of: project) else {
                throw .notConfigured
            }
            try await messenger.send(
                logout: token,
                to: url,
                isVouchedFor: client.isVouchedFor,
                of: project,
                date: service.now()
            )
        }
    }
}

extension AccountsService {
    fileprivate func logoutToken(_ logout: ApplicationLogout, id: String, of project: Project) throws -> String {
        let token = LogoutToken(
            issuer: try applicationIssuer(of: project),
            client: logout.client,
            account: AccountID(logout.account),
            session: logout.session
        )
        return try sign(token.payload(id: id, at: seconds), type: LogoutToken.type, of: project)
    }
}
