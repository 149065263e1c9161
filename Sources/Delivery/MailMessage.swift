package import Domain
package import Foundation

/// A complete email (RFC 5322, RFC 2045): one recipient, and the same text in one or two formats.
package struct MailMessage: Sendable {
    package let sender: MailAddress
    package let recipient: EmailAddress
    package var replyTo: EmailAddress?
    package let subject: String
    package let date: Date
    /// The same at each attempt, so that a recipient who gets it twice can tell.
    package let id: String
    /// BCP 47.
    package var language: String?
    package let text: String
    package let html: String?

    /// - Parameter id: letters, digits and dashes.
    /// - Returns: nil for a subject with a control character, which could start another header.
    package init?(
        id: String,
        from sender: MailAddress,
        to recipient: EmailAddress,
        subject: String,
        date: Date,
        text: String,
        html: String?
    ) {
        guard subject.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else { return nil }
        self.sender = sender
        self.recipient = recipient
        self.subject = subject
        self.date = date
        self.id = id
        self.text = text
        self.html = html
    }

    /// Header and body, in ASCII except for addresses, with lines of at most 78 characters.
    package var bytes: [UInt8] {
        var lines = [
            "From: \(sender.header)",
            "To: \(MailAddress.onTheWire(recipient))",
            "Subject: \(MailHeader.text(subject))",
            "Date: \(MailHeader.date(date))",
            "Message-ID: <\(id)@\(sender.email.domain)>",
            "MIME-Version: 1.0",
            // Prevents automatic replies (RFC 3834).
            "Auto-Submitted: auto-generated",
        ]
        if let replyTo { lines.append("Reply-To: \(MailAddress.onTheWire(replyTo))") }
        if let language { lines.append("Content-Language: \(language)") }
        let parts = [part("plain", text)] + (html.map { [part("html", $0)] } ?? [])
        if parts.count == 1 {
            lines += parts[0]
        } else {
            // The last part is the best (RFC 2046 §5.1.4). Base64 has no `_`, so no line of a part equals the boundary.
            let boundary = "=_\(id)"
            lines += ["Content-Type: multipart/alternative;", " boundary=\"\(boundary)\"", ""]
            for part in parts { lines += ["--\(boundary)"] + part }
            lines.append("--\(boundary)--")
        }
        return Array((lines.joined(separator: "\r\n") + "\r\n").utf8)
    }

    private func part(_ type: String, _ text: String) -> [String] {
        [
            "Content-Type: text/\(type); charset=utf-8", "Content-Transfer-Encoding: base64", "",
            // Lines of text end with CR LF (RFC 2046 §4.1.1), whatever a project typed.
            Data(text.replacing(/\r\n|\r|\n/.matchingSemantics(.unicodeScalar), with: "\r\n").utf8)
                .base64EncodedString(options: [
                    .lineLength76Characters, .endLineWithCarriageReturn, .endLineWithLineFeed,
                ]),
        ]
    }
}
