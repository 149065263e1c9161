import Foundation
import Projects

/// What an email says, whole in one language, with its placeholders.
///
/// A project's own body is used for every user, in the language that ``MailSettings/text(of:for:)`` found; what it lacks
/// comes from our text in that language, or names the app alone. A subject of its own without a body is used only with
/// our body in its language.
struct MailWords {
    var subject: String
    var text: String
    /// Nil for a body that a project wrote as plain text.
    var html: String?
    var senderDisplayName: String?
    var replyTo: String?
    /// BCP 47; nil for a body whose language no one said.
    var tag: String?

    init?(_ mail: Mail, of settings: MailSettings) {
        let name = mail.template.settingsName
        let (own, named) = settings.text(of: name, for: mail.language)
        let language = named ?? MailLanguage.english.tag
        if let body = own.body {
            tag = named?.replacing("_", with: "-")
            subject = own.subject ?? MailLanguage.of(language)?.texts[mail.template]?.subject ?? "%APP_NAME%"
            html = own.isHTML ? body : nil
            text = own.isHTML ? PlainText.of(html: body) : body
            // Mark-up can hide it from the text.
            if !text.contains("%LINK%") { text += "\n%LINK%\n" }
        } else {
            let builtIn = MailLanguage.best([mail.language, settings.defaultLocale])
            guard var words = builtIn.texts[mail.template] else { return nil }
            if mail.code == nil { words.code = "" }
            if mail.newEmail == nil, !words.beforeWithoutNew.isEmpty { words.before = words.beforeWithoutNew }
            tag = builtIn.tag
            subject = LanguageTag.language(language) == builtIn.tag ? own.subject ?? words.subject : words.subject
            (text, html) = (builtIn.plain(words, mail), builtIn.html(words, mail))
        }
        let others = settings[name]
        let isUsed = own.body != nil || LanguageTag.language(language) == tag
        senderDisplayName = (isUsed ? own.senderDisplayName : nil) ?? others.senderDisplayName
        replyTo = (isUsed ? own.replyTo : nil) ?? others.replyTo
    }

    /// `3 hours`, in the language of the text.
    func duration(_ seconds: Int64?) -> String {
        guard let seconds else { return "" }
        // The largest unit that says it well, and never more than it is.
        func says(_ length: Int64) -> Bool { seconds.isMultiple(of: length) || seconds >= 2 * length }
        let (unit, length): (Duration.UnitsFormatStyle.Unit, Int64) =
            says(86_400) ? (.days, 86_400) : says(3_600) ? (.hours, 3_600) : (.minutes, 60)
        let style = Duration.UnitsFormatStyle(allowedUnits: [unit], width: .wide).locale(
            Locale(identifier: tag ?? "en")
        )
        return Duration.seconds(seconds - seconds % length).formatted(style)
    }
}

extension MailLanguage {
    fileprivate func plain(_ text: MailText, _ mail: Mail) -> String {
        paragraphs(text, "%LINK%", mail).joined(separator: "\n\n") + "\n"
    }

    fileprivate func html(_ text: MailText, _ mail: Mail) -> String {
        let paragraphs = paragraphs(text, #"<a href="%LINK%">\#(text.link)</a>"#, mail).map {
            let lines = $0.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
            return "<p>\(lines.joined(separator: "<br>\n"))</p>"
        }
        return """
            <!DOCTYPE html>
            <html lang="\(tag)">
            <head><meta charset="utf-8"><meta name="viewport" content="width=device-width"></head>
            <body style="font: 16px/1.5 sans-serif; max-width: 36em">
            \(paragraphs.joined(separator: "\n"))
            </body>
            </html>

            """
    }

    private func paragraphs(_ text: MailText, _ link: String, _ mail: Mail) -> [String] {
        let expiry = mail.lifetime == nil ? "" : expiry
        return [greeting, text.before, link, expiry, text.code, text.after, closing].filter { !$0.isEmpty }
    }
}
