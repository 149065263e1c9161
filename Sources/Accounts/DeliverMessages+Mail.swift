import Delivery
import Logging
import Projects
import SMTPClient
import Storage

extension DeliverMessages {
    /// Sends an email; one that the server refuses is given up immediately, because a retry would be refused too.
    ///
    /// If the server refuses the user or the sender, it is retried, because an operator may fix that.
    func send(_ mail: Mail, _ message: OutboxStore.Message) async -> OutboxStore.Outcome {
        let project = parts.configuration.snapshot.project(message.project)
        if parts.messenger != nil, project?.settings.delivery.takes(.mailSend) ?? false {
            return await handOver(message) { messenger, project throws(DeliveryError) in
                try await messenger.send(mail, id: message.id, of: project, date: parts.now())
            }
        }
        // This node may learn of the project in a moment.
        guard let mailer = parts.mailer, let project else {
            return tryAgain(message, SMTPError.stopped)
        }
        do {
            try await mailer.send(mail, id: message.id, of: project, date: parts.now())
            log(.info, "Sent an email", message)
            return .delivered
        } catch {
            guard error.isPermanent else { return tryAgain(message, error) }
            log(.error, "Gave up an email that the server refused", message, error)
            return .abandoned
        }
    }
}
