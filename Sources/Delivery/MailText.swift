import Projects

/// The text of an email in one language, with Firebase's placeholders.
struct MailText: Sendable {
    var subject: String
    var before: String
    /// Instead of `before`, in a ``Mail/Template/recoverEmail`` about an address that none replaced.
    var beforeWithoutNew = ""
    /// The link's text, where links can have one.
    var link: String
    /// How to use the code instead, in an email that has one; empty for emails that never do.
    var code = ""
    var after: String
}

/// All emails of one language.
struct MailLanguage: Sendable {
    /// BCP 47.
    var tag: String
    var greeting: String
    /// How long the link is valid.
    var expiry: String
    var closing: String
    var texts: [Mail.Template: MailText]

    static let all = [english, german, japanese]

    /// The language of the first supported tag, ignoring its further parts: `de-AT` is German (RFC 4647 §3.4).
    static func best(_ tags: [String?]) -> MailLanguage {
        for tag in tags {
            if let language = tag.flatMap({ of($0) }) { return language }
        }
        return english
    }

    /// Nil for a language without texts.
    static func of(_ tag: String) -> MailLanguage? { all.first { $0.tag == LanguageTag.language(tag) } }
}
