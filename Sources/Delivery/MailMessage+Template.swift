import Domain
package import Foundation
package import Projects
import Text

extension MailMessage {
    /// The email from the project's template, in the user's language.
    ///
    /// - Parameter sender: the node's; a project may change its name and the part before the `@`.
    /// - Returns: nil if an address is not valid, which a retry would not change.
    package static func make(
        _ mail: Mail,
        id: String,
        of project: Project,
        from sender: MailAddress,
        date: Date
    ) -> MailMessage? {
        guard let recipient = EmailAddress(mail.to), mail.newEmail.map({ EmailAddress($0) != nil }) ?? true,
            let words = MailWords(mail, of: project.settings.mail),
            let sender = sender.changed(
                localPart: project.settings.mail[mail.template.settingsName].senderLocalPart,
                name: words.senderDisplayName
            )
        else { return nil }
        let values = [
            "%LINK%": mail.link, "%CODE%": mail.code ?? "", "%EMAIL%": mail.to, "%NEW_EMAIL%": mail.newEmail ?? "",
            "%DISPLAY_NAME%": mail.displayName.flatMap(MailName.harmless) ?? mail.to,
            "%APP_NAME%": project.appName, "%EXPIRES_IN%": words.duration(mail.lifetime),
            "%CODE_EXPIRES_IN%": words.duration(min(mail.lifetime ?? .max, Mail.codeLifetime)),
        ]
        var message = MailMessage(
            id: id,
            from: sender,
            to: recipient,
            subject: fill(words.subject, values),
            date: date,
            text: fill(words.text, values),
            html: words.html.map { fill($0, values.mapValues { $0.escaped(.html) }) }
        )
        message?.replyTo = words.replyTo.flatMap { EmailAddress($0) }
        message?.language = words.tag
        return message
    }

    /// In one pass, so that a value is never read as a placeholder.
    private static func fill(_ text: String, _ values: [String: String]) -> String {
        text.replacing(/%[A-Z_]+%/) { match in values[String(match.output)] ?? String(match.output) }
    }
}

extension MailAddress {
    fileprivate func changed(localPart: String?, name: String?) -> MailAddress? {
        var email: EmailAddress? = email
        if let localPart { email = EmailAddress("\(localPart)@\(self.email.domain)") }
        return email.flatMap { MailAddress($0, name: name ?? self.name) }
    }
}
