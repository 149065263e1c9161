import Delivery
import Logging
import Projects
import SMTPClient
import Storage

extension DeliverMessages {
    /// A mail that the server refuses is given up at once: the next attempt would be refused as well.
    func send(_ mail: Mail, _ message: OutboxStore.Message) async -> OutboxStore.Outcome {
        // It may be known to this node in a moment.
        guard let mailer = parts.mailer, let project = parts.configuration.snapshot.project(message.project) else {
            return tryAgain(message, SMTPError.stopped)
        }
        do {
            try await mailer.send(mail, id: message.id, of: project, date: parts.now())
            log(.info, "Sent a mail", message)
            return .delivered
        } catch {
            guard error.isPermanent else { return tryAgain(message, error) }
            log(.error, "Gave up a mail that the server refuses", message, error)
            return .abandoned
        }
    }
}
