import Delivery
import Logging
import Projects
import Storage

extension DeliverMessages {
    /// Sends a message over HTTP.
    func handOver(
        _ message: OutboxStore.Message,
        _ send: (Messenger, Project) async throws(DeliveryError) -> Void
    ) async -> OutboxStore.Outcome {
        // This node may learn of the project in a moment.
        guard let messenger = parts.messenger, let project = parts.configuration.snapshot.project(message.project)
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
            guard isOver else { return tryAgain(message, error) }
            log(.error, "Gave up a message that cannot be delivered", message, error)
            return .abandoned
        }
    }
}
