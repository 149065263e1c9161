package import Foundation
import Linking
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
        let settings = project.settings.mail
        let override = settings[mail.template.settingsName]
        let language = MailLanguage.best([mail.language, settings.defaultLocale])
        guard let recipient = EmailAddress(mail.to), mail.newEmail.map({ EmailAddress($0) != nil }) ?? true,
            var text = language.texts[mail.template], let sender = sender.changed(by: override)
        else { return nil }
        if mail.code == nil { text.code = "" }
        if mail.newEmail == nil, !text.beforeWithoutNew.isEmpty { text.before = text.beforeWithoutNew }
        let values = [
            "%LINK%": mail.link, "%CODE%": mail.code ?? "", "%EMAIL%": mail.to, "%NEW_EMAIL%": mail.newEmail ?? "",
            "%DISPLAY_NAME%": mail.displayName.flatMap(harmlessName) ?? mail.to,
            "%APP_NAME%": project.appName,
        ]
        var bodies: (text: String?, html: String?)
        if let body = override.body {
            bodies = override.isHTML ? (nil, body) : (body, nil)
        } else {
            bodies = (language.plain(text), language.html(text))
        }
        bodies.text = bodies.text.map { fill($0, values) }
        bodies.html = bodies.html.map { fill($0, values.mapValues { $0.escaped(.html) }) }
        var message = MailMessage(
            id: id,
            from: sender,
            to: recipient,
            subject: fill(override.subject ?? text.subject, values),
            date: date,
            text: bodies.text,
            html: bodies.html
        )
        message?.replyTo = override.replyTo.flatMap { EmailAddress($0) }
        message?.language = override.body == nil ? language.tag : nil
        return message
    }

    /// In one pass, so that a value is never read as a placeholder.
    private static func fill(_ text: String, _ values: [String: String]) -> String {
        text.replacing(/%[A-Z_]+%/) { match in values[String(match.output)] ?? String(match.output) }
    }

    /// A display name that cannot pass for a link or a message.
    ///
    /// An attacker who signs up with someone's email chooses the name that our email to that address starts with.
    /// It is read as a mail program or a browser does: by scalars, with compatibility characters folded (`．` to `.`) and
    /// either slash. `。` separates the labels of a domain, too.
    private static func harmlessName(_ name: String) -> String? {
        let read = name.precomposedStringWithCompatibilityMapping.unicodeScalars
        let link = /[.。\/:@\\][\p{M}]*[\p{L}\p{N}][\p{L}\p{N}]|[\/\\:][\p{M}]*[\/\\]/.matchingSemantics(.unicodeScalar)
        let isHarmless =
            (1...64).contains(read.count) && !String(read).contains(link)
            && read.allSatisfy {
                ![.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
            }
        return isHarmless ? name : nil
    }
}

extension MailLanguage {
    fileprivate func plain(_ text: MailText) -> String {
        let paragraphs = [greeting, text.before, "%LINK%", text.code, text.after, closing]
        return paragraphs.filter { !$0.isEmpty }.joined(separator: "\n\n") + "\n"
    }

    fileprivate func html(_ text: MailText) -> String {
        let link = #"<a href="%LINK%">\#(text.link)</a>"#
        let paragraphs = [
            greeting, text.before, link, text.code, text.after,
            closing.split(separator: "\n").joined(separator: "<br>\n"),
        ].filter { !$0.isEmpty }
        return """
            <!DOCTYPE html>
            <html lang="\(tag)">
            <head><meta charset="utf-8"><meta name="viewport" content="width=device-width"></head>
            <body style="font: 16px/1.5 sans-serif; max-width: 36em">
            \(paragraphs.map { "<p>\($0)</p>" }.joined(separator: "\n"))
            </body>
            </html>

            """
    }
}

extension MailAddress {
    fileprivate func changed(by override: MailSettings.Override) -> MailAddress? {
        var email: EmailAddress? = email
        if let localPart = override.senderLocalPart { email = EmailAddress("\(localPart)@\(self.email.domain)") }
        return email.flatMap { MailAddress($0, name: override.senderDisplayName ?? name) }
    }
}

extension Mail.Template {
    /// The template's name in a project's settings; one of ``MailSettings/templates``.
    package var settingsName: String {
        switch self {
        case .passwordReset: "resetPasswordTemplate"
        case .verifyEmail: "verifyEmailTemplate"
        case .recoverEmail: "changeEmailTemplate"
        case .revertSecondFactor: "revertSecondFactorAdditionTemplate"
        case .signIn: "signInTemplate"
        case .verifyAndChangeEmail: "verifyAndChangeEmailTemplate"
        }
    }
}
