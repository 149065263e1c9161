import Domain
import Projects

extension Setting {
    /// The content of emails: Firebase's `notification`, and the app's name.
    static let mail: [Setting] =
        [
            text(
                "notification.defaultLocale",
                \.mail.defaultLocale,
                TextRule("be a language, such as de or pt-BR", LanguageTag.isValid)
            ),
            text("identity.appName", \.mail.appName, line(128)),
        ] + MailTemplate.allCases.map(\.settingsName).flatMap(ofTemplate)
        + MailTemplate.allCases.map {
            seconds("identity.emailLinkSeconds.\($0.rawValue)", \.mail[linkOf: $0], in: MailTemplate.linkLifetimes)
        }

    private static func ofTemplate(_ name: String) -> [Setting] {
        let path = "notification.sendEmail.\(name)"
        return [
            text("\(path).subject", \.mail[name].subject, line(256), placeholders: MailTemplate.placeholders),
            text("\(path).body", \.mail[name].body, body, placeholders: MailTemplate.placeholders),
            bodyFormat("\(path).bodyFormat", name),
            text("\(path).senderDisplayName", \.mail[name].senderDisplayName, line(128)),
            text(
                "\(path).senderLocalPart",
                \.mail[name].senderLocalPart,
                TextRule("be the part of an address before the @") {
                    !$0.contains("@") && EmailAddress("\($0)@example.com") != nil
                }
            ),
            text("\(path).replyTo", \.mail[name].replyTo, address), localized("\(path).localized", name),
        ]
    }

    private static let body = TextRule("contain %LINK% and at most 65536 bytes") {
        $0.contains("%LINK%") && $0.utf8.count <= 65_536 && !$0.utf8.contains(0)
    }

    private static let address = TextRule("be an email address") { EmailAddress($0) != nil }

    /// A template's texts by language; each is whole, so that no email mixes two languages.
    private static func localized(_ path: String, _ template: String) -> Setting {
        let field = Field(path, get: { $0.mail[template].localized }) { settings, texts in
            try check(languages: texts.keys, path)
            for (tag, text) in texts {
                try check(text.subject, "\(path).\(tag).subject", line(256), MailTemplate.placeholders)
                try check(text.body, "\(path).\(tag).body", body, MailTemplate.placeholders)
                try check(text.senderDisplayName, "\(path).\(tag).senderDisplayName", line(128))
                try check(text.replyTo, "\(path).\(tag).replyTo", address)
                guard text.body != nil || !text.isHTML else {
                    throw AdministrationError.invalid("\(path).\(tag).bodyFormat must come with a body.")
                }
                let isWhole = text.subject != nil && text.body != nil
                guard isWhole || MailSettings.languages.contains(LanguageTag.language(tag)) else {
                    throw AdministrationError.invalid(
                        "\(path).\(tag) must have a subject and a body: there are no others in this language."
                    )
                }
            }
            let size = texts.values.reduce(0) { $0 + ($1.subject?.utf8.count ?? 0) + ($1.body?.utf8.count ?? 0) }
            guard size <= 262_144 else {
                throw AdministrationError.invalid("\(path) must have at most 262144 bytes together.")
            }
            settings.mail[template].localized = texts.filter { $0.value != MailSettings.Text() }
        }
        return Setting(path: path, value: .mailTexts(field))
    }

    /// Of a map by language.
    static func check(languages tags: some Collection<String>, _ path: String) throws {
        guard tags.count <= 100, tags.allSatisfy(LanguageTag.isValid),
            Set(tags.map(LanguageTag.normal)).count == tags.count
        else {
            throw AdministrationError.invalid(
                "\(path) must have languages such as de or pt-BR, each once, at most 100."
            )
        }
    }

    /// The template without a body has none.
    private static func bodyFormat(_ path: String, _ template: String) -> Setting {
        let formats = ["PLAIN_TEXT", "HTML"]
        @Sendable func format(_ override: MailSettings.Override) -> String {
            override.body == nil ? "" : formats[override.isHTML ? 1 : 0]
        }
        let field = Field(path, get: { format($0.mail[template]) }) {
            $0.mail[template].isHTML = $1 == formats[1]
        }
        return Setting(path: path, value: .choice(field, of: formats))
    }

    /// A line break in a name or a subject would start another header.
    private static func line(_ length: Int) -> TextRule {
        TextRule("be one line of at most \(length) characters") { text in
            text.count <= length && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        }
    }

    /// The design of our pages, except the app's name.
    static let pages = [
        color("accentColor", \.accentColor), color("backgroundColor", \.backgroundColor),
        color("darkAccentColor", \.darkAccentColor), color("darkBackgroundColor", \.darkBackgroundColor),
    ]

    private static func color(
        _ name: String,
        _ color: any WritableKeyPath<PageSettings, PageColor?> & Sendable
    ) -> Setting {
        let path = "identity.pages.\(name)"
        let field = Field(path, get: { $0.pages[keyPath: color]?.text ?? "" }) { settings, text in
            settings.pages[keyPath: color] = PageColor(text)
            guard text.isEmpty || settings.pages[keyPath: color] != nil else {
                throw AdministrationError.invalid("\(path) must be #rrggbb.")
            }
        }
        return Setting(path: path, value: .text(field))
    }
}
