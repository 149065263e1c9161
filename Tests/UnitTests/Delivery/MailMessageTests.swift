import Delivery
import Domain
import Foundation
import Projects
import Secrets
import SMTPClient
import Testing
import TestKit

/// What mails say, as Python's `email` reads them.
@Suite("Mails", .timeLimit(.minutes(10)))
struct MailMessageTests {
    static func project(
        smsTexts: [String: String] = [:],
        _ change: (inout MailSettings) -> Void = { _ in }
    ) throws -> Project {
        var settings = ProjectSettings()
        settings.phone.texts = smsTexts
        settings.mail.appName = "Röstwerk"
        change(&settings.mail)
        return Project(
            id: try #require(ProjectID(rawValue: "mail-project")),
            number: ProjectNumber(rawValue: 123_456_789_012),
            settings: settings,
            passwordSignerKey: Secret("")
        )
    }

    static func mail(_ template: Mail.Template = .passwordReset) -> Mail {
        Mail(
            template: template,
            to: "ada@example.com",
            link: "https://id.example.com/auth?mode=x&oobCode=abc",
            displayName: "Ada Lovelace",
            newEmail: template == .verifyAndChangeEmail || template == .recoverEmail ? "new@example.com" : nil
        )
    }

    static func message(
        _ mail: Mail,
        of project: Project? = nil,
        from sender: String = "Röstwerk GmbH & Söhne <mail@example.com>",
        id: String = "5f0c8a"
    ) throws -> MailMessage? {
        MailMessage.make(
            mail,
            id: id,
            of: try project ?? Self.project(),
            from: try #require(MailAddress(parsing: sender)),
            date: Date(timeIntervalSince1970: 1_800_000_000)
        )
    }

    /// What the other side reads.
    static func read(_ messages: [MailMessage]) async throws -> [JSON] {
        try await MailServer.with { server in
            try await SMTPClient.with(server.client()) { client in
                for message in messages {
                    try await client.send(message.bytes, from: "mail@example.com", to: "ada@example.com")
                }
            }
            return try await server.mails(messages.count)
        }
    }

    static func read(_ message: MailMessage?) async throws -> JSON {
        let message = try #require(message)
        return try #require(try await read([message]).first)
    }

    @Test("contain everything required in every language, as text and as HTML, with no placeholder left")
    func everyTemplate() async throws {
        let languages = ["en", "de", "ja"]
        let cases = languages.flatMap { language in Mail.Template.allCases.map { (language, $0) } }
        let messages = try cases.map { language, template in
            var mail = Self.mail(template)
            mail.language = language
            return try #require(try Self.message(mail))
        }
        let read = try await Self.read(messages)
        #expect(read.count == 18)
        for (mail, (language, template)) in zip(read, cases) {
            let text = try #require(mail["parts"]?["text/plain"]?.string)
            let html = try #require(mail["parts"]?["text/html"]?.string)
            let subject = try #require(mail["headers"]?["Subject"]?.string)
            #expect(mail["defects"] == [])
            #expect(mail["headers"]?["Content-Language"]?.string == language)
            #expect(subject.contains("Röstwerk"))
            #expect(
                text.contains("Ada Lovelace") && text.contains("\nhttps://id.example.com/auth?mode=x&oobCode=abc\n")
            )
            #expect(html.contains(#"href="https://id.example.com/auth?mode=x&amp;oobCode=abc""#))
            let hasNew = text.contains("new@example.com") && html.contains("new@example.com")
            #expect(hasNew == (template == .verifyAndChangeEmail || template == .recoverEmail))
            for part in [subject, text, html] { #expect(!part.contains("%"), "\(language) \(template): \(part)") }
            #expect((mail["longest"]?.number ?? 0) <= 78)
        }
        // No two say the same.
        #expect(Set(read.map { $0["headers"]?["Subject"]?.string }).count == 18)
        #expect(Set(read.map { $0["parts"]?["text/html"]?.string }).count == 18)
    }

    @Test("quote what stands before the @ where RFC 5321 needs it", arguments: ["a..b", "a.", ".a"])
    func dots(_ local: String) async throws {
        let address = try #require(EmailAddress("\(local)@docomo.ne.jp"))
        #expect(MailAddress.onTheWire(address) == "\"\(local)\"@docomo.ne.jp")
        var mail = Self.mail()
        mail.to = address.original
        let message = try #require(try Self.message(mail))
        #expect(try await Self.read(message)["headers"]?["To"]?.string == "\(local)@docomo.ne.jp", "as it is read")
    }

    @Test("about an address that was removed name no new one", arguments: ["en", "de", "ja"])
    func removal(_ language: String) async throws {
        var mail = Self.mail(.recoverEmail)
        mail.language = language
        let change = try #require(try Self.message(mail))
        mail.newEmail = nil
        let removal = try #require(try Self.message(mail))
        let texts = try await Self.read([change, removal]).map { $0["parts"]?["text/plain"]?.string ?? "" }
        #expect(texts[0] != texts[1] && texts[1].contains("ada@example.com"), "\(texts)")
        // Nothing stands where the new one would: two spaces, or one before the full stop.
        #expect(!texts[1].contains("%") && !texts[1].contains("  ") && !texts[1].contains(" ."), "\(texts)")
        #expect(texts[1].contains(["en": "removed", "de": "entfernt", "ja": "削除"][language] ?? "-"), "\(texts)")
    }

    @Test("contain the code beside the link, in every language, where there is one", arguments: ["en", "de", "ja"])
    func codes(_ language: String) async throws {
        for template in Mail.Template.allCases {
            var mail = Self.mail(template)
            mail.language = language
            mail.code = "012345"
            let message = try #require(try Self.message(mail))
            let hasCode = template == .signIn || template == .verifyEmail
            for part in [message.text, message.html ?? ""] {
                #expect(part.contains("012345") == hasCode && !part.contains("%"), "\(part)")
            }
        }
        var mail = Self.mail(.signIn)
        mail.code = "012345"
        let project = try Self.project { $0["signInTemplate"].body = "%CODE%, or %LINK%" }
        #expect(try Self.message(mail, of: project)?.text.hasPrefix("012345, or https://") == true)
        mail.code = nil
        #expect(try Self.message(mail, of: project)?.text.hasPrefix(", or https://") == true)
    }

    @Test("have the headers of a mail that a program sends")
    func headers() async throws {
        let mail = try await Self.read(try Self.message(Self.mail()))
        let headers = try #require(mail["headers"])
        #expect(headers["From"] == "Röstwerk GmbH & Söhne <mail@example.com>")
        #expect(headers["To"] == "ada@example.com")
        #expect(headers["Message-ID"] == "<5f0c8a@example.com>")
        #expect(headers["Date"] == "Fri, 15 Jan 2027 08:00:00 +0000")
        #expect(headers["Auto-Submitted"] == "auto-generated")
        #expect(headers["Content-Type"]?.string?.hasPrefix("multipart/alternative") == true)
        let names = try #require(mail["names"]?.array)
        #expect(Set(names).count == names.count && names.count == 9)
    }

    @Test("carry names and subjects of any script and length, folded")
    func encodedWords() async throws {
        let name = String(repeating: "日本語の長い名前 🦊 ", count: 12) + "x"
        let project = try Self.project { settings in
            settings["resetPasswordTemplate"].subject = name
            settings["resetPasswordTemplate"].senderDisplayName = name
        }
        let mail = try await Self.read(try Self.message(Self.mail(), of: project))
        #expect(mail["headers"]?["Subject"]?.string == name)
        #expect(mail["sender name"]?.string == "\(name) <mail@example.com>")
        #expect((mail["longest"]?.number ?? 100) <= 78)
        for odd in [#"Ada "the" \ Countess"#, "=?UTF-8?Q?x?=", "Smith, John <x@y>", "a@b"] {
            let email = try #require(EmailAddress("mail@example.com"))
            let sender = try #require(MailAddress(email, name: odd))
            let made = MailMessage.make(Self.mail(), id: "1", of: try Self.project(), from: sender, date: Date())
            let read = try await Self.read(made)
            #expect(read["headers"]?["From"]?.string?.contains("<mail@example.com>") == true)
            #expect(read["raw"]?.string?.contains("<x@y>") == false, "a name is no address")
            #expect(read["defects"] == [])
        }
    }

    @Test("T-E4: are made for one address, and for no text that would be a header, a second address, or a command")
    func injection() throws {
        let breaks = ["\r\nBcc: eve@example.com", "\nBcc: eve@example.com", "\r", "\0", ", eve@example.com", "> x"]
        for tail in breaks {
            var mail = Self.mail(.recoverEmail)
            mail.to = "ada@example.com" + tail
            #expect(try Self.message(mail) == nil)
            mail = Self.mail(.recoverEmail)
            mail.newEmail = "new@example.com" + tail
            #expect(try Self.message(mail) == nil)
            #expect(MailAddress(parsing: "mail@example.com" + tail) == nil)
        }
        let email = try #require(EmailAddress("mail@example.com"))
        for tail in breaks.prefix(4) {
            #expect(MailAddress(email, name: "App" + tail) == nil)
            let subject = try Self.project { $0["resetPasswordTemplate"].subject = "Hello" + tail }
            #expect(try Self.message(Self.mail(), of: subject) == nil)
            let name = try Self.project { $0["resetPasswordTemplate"].senderDisplayName = "Hello" + tail }
            #expect(try Self.message(Self.mail(), of: name) == nil)
            let local = try Self.project { $0["resetPasswordTemplate"].senderLocalPart = "noreply" + tail }
            #expect(try Self.message(Self.mail(), of: local) == nil)
        }
    }

    @Test(
        "greet by the address where a name could pass for more than a name",
        arguments: [
            "https://evil.example", "click evil.example", "//evil", "Ada\r\nBcc: x@example.com", "a@evil.example",
            String(repeating: "x", count: 65), "Ada\u{202e}", "Ada\u{2028}x", "", nil,
        ]
    )
    func harmlessName(_ name: String?) throws {
        var mail = Self.mail()
        mail.displayName = name
        let message = try #require(try Self.message(mail))
        #expect(message.text.hasPrefix("Hello ada@example.com,\n") == true)
        #expect(message.html?.contains("<p>Hello ada@example.com,</p>") == true)
        mail.displayName = "J. R. R. Tolkien-Müller 日本"
        let other = try #require(try Self.message(mail))
        #expect(other.text.hasPrefix("Hello J. R. R. Tolkien-Müller 日本,\n") == true)
    }

    @Test(
        "greet by the address where letters or marks that join with their neighbours hide a link",
        arguments: [
            "\u{d4e}<a href=https:/\\e-vil。com \u{d4e}>Your account is at risk, click", "https:/\\e-vil", "e-vil。com",
            "evil．example", "evil\u{d4e}.com", "https:\u{301}//x", "\u{d4e}//evil", "a@\u{301}evil.example",
            String(repeating: "a\u{301}\u{302}\u{303}\u{304}", count: 20),
        ]
    )
    func joinedName(_ name: String) throws {
        var mail = Self.mail()
        mail.displayName = name
        let message = try #require(try Self.message(mail))
        #expect(message.text.hasPrefix("Hello ada@example.com,\n") == true, "\(message.text)")
    }

    @Test("escape a character that joins with its neighbours", arguments: ["<", ">", "&", "\"", "'"])
    func escapesJoined(_ special: String) throws {
        for name in ["\u{d4e}\(special)", "\(special)\u{301}"] {
            var mail = Self.mail()
            let html = try #require(try Self.message(mail)?.html)
            mail.displayName = name
            let hostile = try #require(try Self.message(mail)?.html)
            func count(_ html: String) -> Int { html.utf8.count { Array(special.utf8) == [$0] } }
            // An entity begins with an ampersand itself.
            #expect(count(hostile) == count(html) + (special == "&" ? 1 : 0), "\(hostile)")
        }
    }

    @Test("escape values in HTML, and do not treat values as placeholders")
    func escapes() throws {
        var mail = Self.mail()
        mail.displayName = #"<b>"Ada" & 'co' %LINK%"#
        let message = try #require(try Self.message(mail))
        #expect(message.html?.contains("Hello &lt;b&gt;&quot;Ada&quot; &amp; &#39;co&#39; %LINK%,") == true)
        #expect(message.text.hasPrefix(#"Hello <b>"Ada" & 'co' %LINK%,"#) == true)
    }

    @Test(
        "are in the language of the app, or of the project, or in English",
        arguments: [
            ("de", nil, "de"), ("de-AT", nil, "de"), ("JA_jp", "de", "ja"), ("fr", "ja", "ja"), ("fr", "it", "en"),
            (nil, "de-CH", "de"), (nil, nil, "en"), ("", "de", "de"), ("deutsch", nil, "en"), ("x\r\ny", nil, "en"),
        ] as [(String?, String?, String)]
    )
    func language(_ asked: String?, _ usual: String?, _ expected: String) throws {
        var mail = Self.mail()
        mail.language = asked
        let project = try Self.project { $0.defaultLocale = usual }
        #expect(try Self.message(mail, of: project)?.language == expected)
    }

    @Test("use the project's own texts and sender")
    func overrides() async throws {
        let project = try Self.project { settings in
            settings.appName = nil
            settings["verifyEmailTemplate"].subject = "Welcome to %APP_NAME%, %DISPLAY_NAME%"
            settings["verifyEmailTemplate"].body = "<p>%DISPLAY_NAME%: <a href='%LINK%'>%EMAIL%</a> %UNKNOWN%"
            settings["verifyEmailTemplate"].isHTML = true
            settings["verifyEmailTemplate"].senderDisplayName = "Hello"
            settings["verifyEmailTemplate"].senderLocalPart = "hello"
            settings["verifyEmailTemplate"].replyTo = "help@example.org"
            settings["changeEmailTemplate"].body = "%EMAIL% is %NEW_EMAIL%, or %LINK%\n"
        }
        var verify = Self.mail(.verifyEmail)
        verify.language = "de"
        let messages = try [verify, Self.mail(.recoverEmail), Self.mail(.passwordReset)].map { mail in
            try #require(try Self.message(mail, of: project))
        }
        let read = try await Self.read(messages)
        #expect(read[0]["headers"]?["Subject"] == "Welcome to mail-project, Ada Lovelace")
        #expect(read[0]["headers"]?["From"] == "Hello <hello@example.com>")
        #expect(read[0]["headers"]?["Reply-To"] == "help@example.org")
        #expect(
            read[0]["parts"] == [
                "text/plain": """
                Ada Lovelace: ada@example.com <https://id.example.com/auth?mode=x&oobCode=abc> %UNKNOWN%

                """,
                "text/html": """
                <p>Ada Lovelace: <a href='https://id.example.com/auth?mode=x&amp;oobCode=abc'>ada@example.com</a> \
                %UNKNOWN%
                """,
            ]
        )
        #expect(read[1]["headers"]?["From"] == "Röstwerk GmbH & Söhne <mail@example.com>")
        #expect(
            read[1]["parts"] == [
                "text/plain": "ada@example.com is new@example.com, or https://id.example.com/auth?mode=x&oobCode=abc\n"
            ]
        )
        #expect(read[2]["headers"]?["Subject"] == "Reset your password for mail-project")
    }
}
