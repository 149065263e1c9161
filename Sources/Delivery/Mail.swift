package import Projects

/// An email with a link; it is rendered when it is sent.
package struct Mail: Sendable, Codable {
    /// The outbox's name for it.
    package static let kind = "mail"

    /// The lifetime of a code beside a link, in seconds; never longer than the link's.
    package static let codeLifetime: Int64 = 600

    package typealias Template = MailTemplate

    package var template: Template
    /// The recipient.
    package var to: String
    /// The account that it is about, for the log; nil for an email without one.
    package var account: String?
    /// The link; because it contains a secret, a Mail is stored sealed.
    package var link: String
    package var displayName: String?
    /// The six digits that the user can enter instead; nil for the link alone.
    package var code: String?
    /// The new address, in verifyAndChangeEmail, and in recoverEmail unless the address was removed.
    package var newEmail: String?
    /// The lifetime of the link, in seconds; nil in an email that an earlier release wrote.
    package var lifetime: Int64?
    /// BCP 47, from X-Firebase-Locale; nil for the project's own.
    package var language: String?

    package init(
        template: Template,
        to: String,
        link: String,
        displayName: String? = nil,
        newEmail: String? = nil,
        language: String? = nil
    ) {
        self.template = template
        self.to = to
        self.link = link
        self.displayName = displayName
        self.newEmail = newEmail
        self.language = language
    }
}
