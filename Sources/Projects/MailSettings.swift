/// A project's changes to its emails.
///
/// Members that rows of earlier releases lack are optional.
package struct MailSettings: Sendable, Hashable, Codable {
    /// The language of texts without a tag, and of emails to users whose app requests none (BCP 47); nil for English.
    package var defaultLocale: String?
    /// The app's name in emails; nil for the project's ID.
    package var appName: String?
    private var overrides: [String: Override] = [:]
    private var linkLifetimes: [String: Int64]?

    /// The changes to a template, by its name in ``templates``.
    package subscript(template: String) -> Override {
        get { overrides[template] ?? Override() }
        set { overrides[template] = newValue == Override() ? nil : newValue }
    }

    /// The languages in which we have texts.
    package static let languages = ["en", "de", "ja"]

    /// The names of the templates in `notification.sendEmail`.
    package static let templates = MailTemplate.allCases.map(\.settingsName)

    /// A project's changes to one template; nil uses the default.
    package struct Override: Sendable, Hashable, Codable {
        /// In the project's default language, as ``body``.
        package var subject: String?
        package var body: String?
        /// The body is HTML, not plain text.
        package var isHTML = false
        package var senderDisplayName: String?
        /// The part of the sender before the `@`; the domain is the node's.
        package var senderLocalPart: String?
        package var replyTo: String?
        private var texts: [String: Text]?

        /// By language (BCP 47), as the admin spelled it.
        package var localized: [String: Text] {
            get { texts ?? [:] }
            set { texts = newValue.isEmpty ? nil : newValue }
        }

        fileprivate var withoutTag: Text {
            var text = Text()
            (text.subject, text.body, text.isHTML) = (subject, body, isHTML)
            (text.senderDisplayName, text.replyTo) = (senderDisplayName, replyTo)
            return text
        }

        package init() {}
    }

    /// A project's own text in one language; nil uses the default.
    package struct Text: Sendable, Hashable, Codable {
        package var subject: String?
        package var body: String?
        /// The body is HTML, not plain text.
        package var isHTML = false
        package var senderDisplayName: String?
        package var replyTo: String?

        package init() {}
    }

    /// The project's own text for a user, and its language; nil if no one said which.
    ///
    /// The first there is of: the user's language, exactly and then less so, the project's language, and the text
    /// without a tag.
    package func text(of template: String, for language: String?) -> (text: Text, language: String?) {
        let override = self[template]
        guard let own = LanguageTag.find(override.localized, for: language, defaultLocale) else {
            return (override.withoutTag, defaultLocale)
        }
        return (own.text, own.tag)
    }

    /// The lifetime of the link in an email, in seconds.
    package subscript(linkOf template: MailTemplate) -> Int64 {
        get { linkLifetimes?[template.rawValue] ?? template.standardLinkLifetime }
        set {
            linkLifetimes = linkLifetimes ?? [:]
            linkLifetimes?[template.rawValue] = newValue == template.standardLinkLifetime ? nil : newValue
            if linkLifetimes == [:] { linkLifetimes = nil }
        }
    }

    package init() {}
}
