package import struct Foundation.Date

/// An SMS with a code: worded when it is sent.
package struct SMS: Sendable, Codable {
    /// The outbox's name for it.
    package static let kind = "sms"

    /// Seconds for which a code is good (threats.md, T-E2).
    package static let lifetime = 600.0

    /// The number it goes to, E.164.
    package var to: String
    /// Why an SMS is kept sealed.
    package var code: String
    /// Of no use afterwards, and not sent any more.
    package var validUntil: Date
    /// BCP 47, from X-Firebase-Locale; nil for the project's own.
    package var language: String?
    /// Of an Android app, whose last line it is to be, so that the app reads the SMS by itself (SMS Retriever).
    package var appHash: String?
    /// The sessionInfo that belongs to the code; in `identity dev` alone, which shows it.
    package var session: String?

    package init(to: String, code: String, validUntil: Date, language: String? = nil, appHash: String? = nil) {
        self.to = to
        self.code = code
        self.validUntil = validUntil
        self.language = language
        self.appHash = appHash
    }
}
