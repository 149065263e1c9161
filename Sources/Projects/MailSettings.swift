/// A project's changes to its emails.
package struct MailSettings: Sendable, Hashable, Codable {
    /// The default language of emails (BCP 47); nil for English.
    package var defaultLocale: String?
    /// The app's name in emails; nil for the project's ID.
    package var appName: String?
    private var overrides: [String: Override] = [:]

    /// The changes to a template, by its name in ``templates``.
    package subscript(template: String) -> Override {
        get { overrides[template] ?? Override() }
        set { overrides[template] = newValue == Override() ? nil : newValue }
    }

    /// The templates by their names in `notification.sendEmail`; the last two are not part of Firebase.
    package static let templates = [
        "resetPasswordTemplate", "verifyEmailTemplate", "changeEmailTemplate", "revertSecondFactorAdditionTemplate",
        "signInTemplate", "verifyAndChangeEmailTemplate",
    ]

    /// A project's changes to one template; nil uses the default.
    ///
    /// Subject and body apply to every language.
    package struct Override: Sendable, Hashable, Codable {
        package var subject: String?
        package var body: String?
        /// The body is HTML, not plain text.
        package var isHTML = false
        package var senderDisplayName: String?
        /// The part of the sender before the `@`; the domain is the node's.
        package var senderLocalPart: String?
        package var replyTo: String?

        package init() {}
    }

    package init() {}
}
