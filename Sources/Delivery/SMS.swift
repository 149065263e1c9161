package import struct Foundation.Date

/// An SMS with a code; its text is created when it is sent.
package struct SMS: Sendable, Codable {
    /// The outbox's name for it.
    package static let kind = "sms"

    /// The lifetime of a code in seconds (threats.md, T-E2).
    package static let lifetime = 600.0

    /// The recipient's number, E.164.
    package var to: String
    /// The reason that an SMS is stored sealed.
    package var code: String
    /// Afterwards, the SMS is not sent any more.
    package var validUntil: Date
    /// BCP 47, from X-Firebase-Locale; nil for the project's own.
    package var language: String?
    /// Set by an Android app, whose SMS ends with it, so that the app reads the SMS itself (SMS Retriever).
    package var appHash: String?
    /// The host of the page that requested it, to which browsers then bind the code.
    package var host: String?
    /// The code's sessionInfo; only in `identity dev`, which shows it.
    package var session: String?

    package init(to: String, code: String, validUntil: Date, language: String? = nil, appHash: String? = nil) {
        self.to = to
        self.code = code
        self.validUntil = validUntil
        self.language = language
        self.appHash = appHash
    }
}
