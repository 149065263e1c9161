import Linking
import Projects

extension SettingsMember {
    /// The content of emails: Firebase's `notification`, and the app's name.
    static let mail: [SettingsMember] =
        [
            text("notification.defaultLocale", "be a language, such as de or pt-BR", isLanguage) { settings, text in
                settings.mail.defaultLocale = text
            },
            text("identity.appName", "be one line of at most 128 characters", isLine(128)) { settings, text in
                settings.mail.appName = text
            },
        ] + MailSettings.templates.flatMap(members)

    private static func members(of template: String) -> [SettingsMember] {
        let path = "notification.sendEmail.\(template)"
        return [
            text("\(path).subject", "be one line of at most 256 characters", isLine(256)) { settings, text in
                settings.mail[template].subject = text
            },
            text("\(path).body", "contain %LINK% and at most 65536 bytes", isBody) { settings, text in
                settings.mail[template].body = text
            },
            SettingsMember(path: "\(path).bodyFormat") { object, name, settings in
                settings.mail[template].isHTML = try object.choice(name, of: ["PLAIN_TEXT", "HTML"]) == "HTML"
            },
            text("\(path).senderDisplayName", "be one line of at most 128 characters", isLine(128)) { settings, text in
                settings.mail[template].senderDisplayName = text
            },
            text("\(path).senderLocalPart", "be the part of an address before the @", isLocalPart) {
                settings,
                text in settings.mail[template].senderLocalPart = text
            },
            text("\(path).replyTo", "be an email address", { EmailAddress($0) != nil }) { settings, text in
                settings.mail[template].replyTo = text
            },
        ]
    }

    /// - Parameter set: receives nil for an absent or empty text.
    private static func text(
        _ path: String,
        _ rule: String,
        _ isValid: @escaping @Sendable (String) -> Bool,
        _ set: @escaping @Sendable (inout ProjectSettings, String?) -> Void
    ) -> SettingsMember {
        SettingsMember(path: path) { object, name, settings in
            let text = try object.string(name).flatMap { $0.isEmpty ? nil : $0 }
            if let text, !isValid(text) { throw WireError("INVALID_CONFIG", "\(path) must \(rule).") }
            set(&settings, text)
        }
    }

    /// A line break in a name or a subject would start another header.
    private static func isLine(_ length: Int) -> @Sendable (String) -> Bool {
        { text in
            text.count <= length && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        }
    }

    @Sendable private static func isBody(_ text: String) -> Bool {
        text.contains("%LINK%") && text.utf8.count <= 65_536 && !text.utf8.contains(0)
    }

    @Sendable private static func isLocalPart(_ text: String) -> Bool {
        !text.contains("@") && EmailAddress("\(text)@example.com") != nil
    }

    @Sendable private static func isLanguage(_ text: String) -> Bool {
        text.wholeMatch(of: /[A-Za-z]{2,8}([\-_][A-Za-z0-9]{1,8}){0,4}/) != nil
    }
}
