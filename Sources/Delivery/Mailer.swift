package import Foundation
package import Projects
package import SMTPClient

/// Renders emails with their projects' templates and sends them.
package struct Mailer: Sendable {
    /// Returns once the server has accepted the email.
    package typealias Transport = @Sendable (MailMessage) async throws(SMTPError) -> Void

    private let sender: MailAddress
    private let transport: Transport

    package init(from sender: MailAddress, _ transport: @escaping Transport) {
        self.sender = sender
        self.transport = transport
    }

    package init(from sender: MailAddress, through client: SMTPClient) {
        self.init(from: sender) { message throws(SMTPError) in
            try await client.send(
                message.bytes,
                from: MailAddress.onTheWire(message.sender.email),
                to: MailAddress.onTheWire(message.recipient)
            )
        }
    }

    /// - Parameter id: the message's ID in the outbox, the same at each attempt.
    package func send(_ mail: Mail, id: String, of project: Project, date: Date) async throws(SMTPError) {
        guard let message = MailMessage.make(mail, id: id, of: project, from: sender, date: date) else {
            throw .invalidAddress
        }
        try await transport(message)
    }
}
