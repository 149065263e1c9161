/// How a project's mails look, where it wants them otherwise than they come.
package struct MailSettings: Sendable, Hashable, Codable {
    /// The language of mails to people whose app names none (BCP 47); nil for English.
    package var defaultLocale: String?
    /// What mails call the app; nil for the project's id.
    package var appName: String?
    private var overrides: [String: Override] = [:]

    /// What is otherwise in a template, by its name in ``templates``.
    package subscript(template: String) -> Override {
        get { overrides[template] ?? Override() }
        set { overrides[template] = newValue == Override() ? nil : newValue }
    }

    /// The templates by the names that `notification.sendEmail` has for them, the last two being ours.
    package static let templates = [
        "resetPasswordTemplate", "verifyEmailTemplate", "changeEmailTemplate", "revertSecondFactorAdditionTemplate",
        "signInTemplate", "verifyAndChangeEmailTemplate",
    ]

    /// What a project wants otherwise in one template; nil leaves it as it comes.
    ///
    /// Subject and body are for every language.
    package struct Override: Sendable, Hashable, Codable {
        package var subject: String?
        package var body: String?
        /// The body is HTML, not plain text.
        package var isHTML = false
        package var senderDisplayName: String?
        /// What stands before the `@` of the sender, whose domain is the node's.
        package var senderLocalPart: String?
        package var replyTo: String?

        package init() {}
    }

    package init() {}
}
