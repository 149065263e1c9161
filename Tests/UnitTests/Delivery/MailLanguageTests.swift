import Delivery
import Domain
import Foundation
import Projects
import Testing
import TestKit

@Suite("Languages of mails and texts")
struct MailLanguageTests {
    /// A project's settings and what somebody with a language reads.
    private struct Row: CustomStringConvertible {
        var asked: String?
        var usual: String?
        /// Subject and body, by tag; the empty one is the text without a tag.
        var own: [String: (String?, String?)]
        var subject: String
        /// The start of the body.
        var body: String
        /// `Content-Language`.
        var tag: String?

        var description: String { "\(asked ?? "-") of \(usual ?? "-") with \(own)" }
    }

    private static let mine: (String?, String?) = ("Betreff", "Text %LINK%")
    private static let english = ("Reset your password for Röstwerk", "Hello Ada Lovelace,", "en")
    private static let japanese = ("Röstwerk のパスワードの再設定", "Ada Lovelace 様", "ja")
    private static let german = ("Neues Passwort für Röstwerk", "Guten Tag Ada Lovelace,", "de")

    private static let rows: [Row] = [
        // A subject alone is used with our body in its language, and with no other.
        row("ja", "de", ["": ("Betreff", nil)], japanese),
        row("de-AT", "de", ["": ("Betreff", nil)], ("Betreff", german.1, "de")),
        row("fr", "de", ["": ("Betreff", nil)], ("Betreff", german.1, "de")),
        row("fr", nil, ["": ("Subject", nil)], ("Subject", english.1, "en")),
        row("ja", nil, ["": ("Subject", nil)], japanese),
        row("de", "fr", ["": ("Sujet", nil)], german), row("fr", "fr", ["": ("Sujet", nil)], english),
        // A body is used for all who have none of their own, with a subject of its language.
        row("ja", "de", ["": mine], ("Betreff", "Text https", "de")),
        row("ja", "de", ["": (nil, "Text %LINK%")], (german.0, "Text https", "de")),
        row("ja", "fr", ["": (nil, "Texte %LINK%")], ("Röstwerk", "Texte https", "fr")),
        row("ja", nil, ["": mine], ("Betreff", "Text https", nil)),
        // The exact tag, the language, the project's language, and then the text without a tag.
        row("pt_BR", "de", ["": mine, "pt": ("a", "b %LINK%"), "pt-br": ("c", "d %LINK%")], ("c", "d https", "pt-br")),
        row("pt-PT", "de", ["": mine, "PT": ("a", "b %LINK%"), "pt-BR": ("c", "d %LINK%")], ("a", "b https", "PT")),
        row("zh-Hant-TW", "de", ["zh-Hant": ("a", "b %LINK%"), "zh": ("c", "d %LINK%")], ("a", "b https", "zh-Hant")),
        row("ja", "de", ["": mine, "de": ("c", "d %LINK%"), "pt": ("a", "b %LINK%")], ("c", "d https", "de")),
        row("ja", "fr", ["": mine, "pt": ("a", "b %LINK%")], ("Betreff", "Text https", "fr")),
        row("ja", "de", ["": mine, "ja": ("a", nil)], ("a", japanese.1, "ja")),
        row("ja", "de", ["": mine, "ja": (nil, "b %LINK%")], (japanese.0, "b https", "ja")),
        row("ja", "de", ["de": ("c", nil)], japanese), row("fr", "de", ["de": ("c", nil)], ("c", german.1, "de")),
        row("en", "de", ["": mine, "ja": ("a", "b %LINK%")], ("Betreff", "Text https", "de")),
    ]

    private static func row(
        _ asked: String?,
        _ usual: String?,
        _ own: [String: (String?, String?)],
        _ read: (String, String, String?)
    ) -> Row {
        Row(asked: asked, usual: usual, own: own, subject: read.0, body: read.1, tag: read.2)
    }

    @Test("a mail is in one language", arguments: rows)
    private func mails(_ row: Row) throws {
        let project = try MailMessageTests.project { settings in
            settings.defaultLocale = row.usual
            for (tag, own) in row.own {
                if tag.isEmpty {
                    settings["resetPasswordTemplate"].subject = own.0
                    settings["resetPasswordTemplate"].body = own.1
                } else {
                    var text = MailSettings.Text()
                    (text.subject, text.body) = own
                    settings["resetPasswordTemplate"].localized[tag] = text
                }
            }
        }
        var mail = MailMessageTests.mail()
        mail.language = row.asked
        let message = try #require(try MailMessageTests.message(mail, of: project))
        #expect(message.subject == row.subject)
        #expect(message.text.hasPrefix(row.body), "\(message.text)")
        #expect(message.language == row.tag)
    }

    @Test("senders and reply addresses of a language are used with its text alone")
    func senders() throws {
        let project = try MailMessageTests.project { settings in
            settings.defaultLocale = "de"
            settings["resetPasswordTemplate"].senderDisplayName = "App"
            settings["resetPasswordTemplate"].replyTo = "app@example.org"
            var text = MailSettings.Text()
            (text.senderDisplayName, text.replyTo) = ("Die App", "hilfe@example.org")
            settings["resetPasswordTemplate"].localized["de"] = text
        }
        for (language, name, reply) in [
            ("de", "Die App", "hilfe@example.org"), ("fr", "Die App", "hilfe@example.org"),
            ("ja", "App", "app@example.org"),
        ] {
            var mail = MailMessageTests.mail()
            mail.language = language
            let message = try #require(try MailMessageTests.message(mail, of: project))
            #expect(message.sender.name == name && message.replyTo?.original == reply, "\(language)")
        }
    }

    @Test("settings of earlier releases are read as before")
    func oldRows() throws {
        let row = """
            {"defaultLocale": "de", "overrides": {"signInTemplate": {"subject": "Hallo", "isHTML": true, "replyTo": "a@b.c"}}}
            """
        let settings = try JSONDecoder().decode(MailSettings.self, from: Data(row.utf8))
        #expect(settings["signInTemplate"].subject == "Hallo" && settings["signInTemplate"].localized.isEmpty)
        #expect(settings[linkOf: .signIn] == 21_600)
        let phone = Data(
            #"{"isEnabled": true, "testNumbers": {}, "regions": {"isAllowlist": false, "listed": []}}"#.utf8
        )
        let read = try JSONDecoder().decode(PhoneSettings.self, from: phone)
        #expect(read.texts.isEmpty && !read.bindsCodesToPages)
        let mail = Data(#"{"template": "signIn", "to": "ada@example.com", "link": "https://id.example.com/x"}"#.utf8)
        let message = try #require(try MailMessageTests.message(JSONDecoder().decode(Mail.self, from: mail)))
        #expect(!message.text.contains("expires") && !message.text.contains("\n\n\n"), "\(message.text)")
    }

    @Test(
        "say how long a link is valid, in their language",
        arguments: [
            ("en", 300, "The link expires in 5 minutes."), ("en", 3_600, "The link expires in 1 hour."),
            ("en", 10_800, "The link expires in 3 hours."), ("en", 604_800, "The link expires in 7 days."),
            ("en", 5_400, "The link expires in 90 minutes."), ("de", 259_200, "Der Link gilt 3 Tage."),
            ("de", 21_600, "Der Link gilt 6 Stunden."), ("ja", 10_800, "リンクの有効期限は3時間です。"),
            ("ja", 86_400, "リンクの有効期限は1日です。"),
        ]
    )
    func durations(_ language: String, _ seconds: Int64, _ sentence: String) throws {
        var mail = MailMessageTests.mail(.signIn)
        (mail.language, mail.lifetime, mail.code) = (language, seconds, "012345")
        let message = try #require(try MailMessageTests.message(mail))
        #expect(message.text.contains("\n\(sentence)\n"), "\(message.text)")
        #expect(message.html?.contains("<p>\(sentence)</p>") == true)
        // Digits beside the link are never valid for longer than it.
        let code = ["en": " minutes", "de": " Minuten", "ja": "分"][language] ?? "-"
        #expect(message.text.contains("10\(code)") == (seconds != 300), "\(message.text)")
        let own = try MailMessageTests.project {
            $0.defaultLocale = "fr"
            $0["signInTemplate"].body = "%LINK% (%EXPIRES_IN%)"
        }
        mail.lifetime = 10_800
        #expect(try MailMessageTests.message(mail, of: own)?.text.hasSuffix(" (3\u{a0}heures)") == true)
    }

    @Test(
        "an SMS is in the language of the app, or in the project's own text of another",
        arguments: [
            ("fr-CA", "de", "123456 pour Röstwerk"), ("ja", "de", "Code 123456"),
            ("ja", "en", "Röstwerkの確認コードは123456です。"),
            (nil, nil, "123456 is your verification code for Röstwerk."), (nil, "fr", "123456 pour Röstwerk"),
        ] as [(String?, String?, String)]
    )
    func sms(_ asked: String?, _ usual: String?, _ text: String) throws {
        let own = ["fr": "%CODE% pour %APP_NAME%", "de": "Code %CODE%"]
        let project = try MailMessageTests.project(smsTexts: own) { $0.defaultLocale = usual }
        var sms = SMS(to: "+4915550100", code: "123456", validUntil: .distantFuture, language: asked)
        #expect(sms.text(of: project) == text)
        sms.host = "app.example.com"
        #expect(sms.text(of: project) == text + "\n\n@app.example.com #123456")
        sms.appHash = "FA+9qCX9VSu"
        #expect(sms.text(of: project) == text + "\n\nFA+9qCX9VSu", "an app reads the last line, too")
    }
}
