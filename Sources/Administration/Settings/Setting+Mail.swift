import Linking
import Projects

extension Setting {
    /// The content of emails: Firebase's `notification`, and the app's name.
    static let mail: [Setting] =
        [
            text(
                "notification.defaultLocale",
                \.mail.defaultLocale,
                TextRule("be a language, such as de or pt-BR") {
                    $0.wholeMatch(of: /[A-Za-z]{2,8}([\-_][A-Za-z0-9]{1,8}){0,4}/) != nil
                }
            ),
            text("identity.appName", \.mail.appName, line(128)),
        ] + MailSettings.templates.flatMap(ofTemplate)

    private static func ofTemplate(_ name: String) -> [Setting] {
        let path = "notification.sendEmail.\(name)"
        return [
            text("\(path).subject", \.mail[name].subject, line(256)),
            text(
                "\(path).body",
                \.mail[name].body,
                TextRule("contain %LINK% and at most 65536 bytes") {
                    $0.contains("%LINK%") && $0.utf8.count <= 65_536 && !$0.utf8.contains(0)
                }
            ),
            bodyFormat("\(path).bodyFormat", name),
            text("\(path).senderDisplayName", \.mail[name].senderDisplayName, line(128)),
            text(
                "\(path).senderLocalPart",
                \.mail[name].senderLocalPart,
                TextRule("be the part of an address before the @") {
                    !$0.contains("@") && EmailAddress("\($0)@example.com") != nil
                }
            ),
            text("\(path).replyTo", \.mail[name].replyTo, TextRule("be an email address") { EmailAddress($0) != nil }),
        ]
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
