/// A mail that asks its reader to follow a link: rendered when it is sent.
package struct Mail: Sendable, Codable {
    /// The outbox's name for it.
    package static let kind = "mail"

    package enum Template: String, Sendable, Codable, CaseIterable {
        case passwordReset, verifyEmail, signIn, verifyAndChangeEmail, recoverEmail, revertSecondFactor
    }

    package var template: Template
    /// The address it goes to.
    package var to: String
    /// Where the link leads; the secret in it is why a Mail is kept sealed.
    package var link: String
    package var displayName: String?
    /// The new address, in verifyAndChangeEmail and recoverEmail.
    package var newEmail: String?
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
