import Delivery
import Foundation
import Logging
import Projects
import SMTPClient
import Storage

extension DeliverMessages {
    /// Sends an email.
    ///
    /// One whose recipient the server refuses is given up immediately, because a retry would be refused too. Any other
    /// refusal may be the operator's to fix, so the email is retried, as after a failure. It is given up if the server
    /// then refuses it again, and has accepted others of its project since.
    func send(_ mail: Mail, _ message: OutboxStore.Message) async -> OutboxStore.Outcome {
        let project = service.configuration.snapshot.project(message.project)
        if service.options.messenger != nil, project?.settings.delivery.takes(.mailSend) ?? false {
            let outcome = await handOver(message) { messenger, project throws(DeliveryError) in
                try await messenger.send(mail, id: message.id, of: project, date: service.now())
            }
            switch outcome {
            case .delivered: mailServer.accepted(message.project, at: service.now())
            case .retry: mailServer.failed()
            case .partly, .abandoned: break
            }
            return outcome
        }
        // This node may learn of the project in a moment.
        guard let mailer = service.options.mailer, let project else {
            return tryAgain(message, SMTPError.stopped)
        }
        do {
            try await mailer.send(mail, id: message.id, of: project, date: service.now())
            mailServer.accepted(project.id, at: service.now())
            log(.info, "Sent an email", message)
            return .delivered
        } catch {
            guard error.isPermanent || refusesOnly(message, error) else {
                if !error.isAboutRecipient { mailServer.failed() }
                return tryAgain(message, error)
            }
            log(.error, "Gave up an email that the server refused", message, error)
            return .abandoned
        }
    }

    /// Whether the server refuses this email, but has accepted another one of the project since the attempt before.
    private func refusesOnly(_ message: OutboxStore.Message, _ error: SMTPError) -> Bool {
        guard case .refused = error, message.attempts > 1,
            let delay = schedule.delay(afterAttempts: message.attempts - 1)
        else { return false }
        return mailServer.hasAccepted(message.project, since: service.now().addingTimeInterval(-delay))
    }
}
