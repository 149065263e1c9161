import Delivery
import Foundation
import Projects
import Storage
import TestKit
import Testing

@Suite("Settings of mails and texts", .database)
struct MailSettingTests {
    private func patch(_ service: TestService, _ path: String, _ value: JSON) async throws -> Reply {
        let body = path.split(separator: ".").reversed().reduce(value) { [String($1): $0] }
        return try await service.admin("config?updateMask=\(path)", body, method: "PATCH", version: "v2")
    }

    @Test("what cannot be a mail is refused with a sentence that names the member")
    func refused() async throws {
        let template = "notification.sendEmail.signInTemplate"
        let localized = "\(template).localized"
        let whole: JSON = ["subject": "a", "body": "%LINK%"]
        let placeholders =
            "%LINK%, %CODE%, %EMAIL%, %NEW_EMAIL%, %DISPLAY_NAME%, %APP_NAME%, %EXPIRES_IN%, %CODE_EXPIRES_IN%."
        let languages = "must have languages such as de or pt-BR, each once, at most 100."
        let rows: [(String, JSON, String)] = [
            (
                "\(template).body", .string("%LINK%" + String(repeating: "x", count: 1_000_000)),
                "\(template).body must contain %LINK% and at most 65536 bytes."
            ),
            ("\(template).body", "none", "\(template).body must contain %LINK% and at most 65536 bytes."),
            (
                "\(template).body", "%LINK% %NAME%",
                "\(template).body must not contain %NAME%: the placeholders are \(placeholders)"
            ),
            (
                "\(template).subject", "Hi %SECOND_FACTOR%",
                "\(template).subject must not contain %SECOND_FACTOR%: the placeholders are \(placeholders)"
            ),
            (localized, ["fr": ["subject": "a"]], "\(localized).fr must have a subject and a body"),
            (localized, ["fr-CA": ["body": "%LINK%"]], "\(localized).fr-CA must have a subject and a body"),
            (localized, ["fr": ["subject": "a", "body": "none"]], "\(localized).fr.body must contain %LINK%"),
            (localized, ["de": ["body": "%LINK%%NAME%"]], "\(localized).de.body must not contain %NAME%"),
            (localized, ["de": ["subject": "a\nb"]], "\(localized).de.subject must be one line"),
            (localized, ["de": ["replyTo": "a"]], "\(localized).de.replyTo must be an email address"),
            (localized, ["de": whole, "DE": whole], "\(localized) \(languages)"),
            (localized, ["pt-BR": whole, "pt_br": whole], "\(localized) \(languages)"),
            (localized, ["français": whole], "\(localized) \(languages)"),
            (localized, ["de": ["subjet": "a"]], "Unknown name \"subjet\" at '\(localized).de'"),
            (localized, ["de": "a"], "Invalid value at"),
            (
                "notification.sendSms.localized", ["de": "Hallo"],
                "notification.sendSms.localized.de must contain %CODE%"
            ),
            ("notification.sendSms.localized", ["de": "%CODE%\n@evil.example #1"], "be one line"),
            ("notification.sendSms.localized", ["de": "%CODE% %LINK%"], "the placeholders are %CODE%, %APP_NAME%."),
            ("notification.sendSms.localized", ["d": "%CODE%"], languages),
            ("identity.emailLinkSeconds.signIn", 299, "must be between 300 and 604800 seconds."),
            ("identity.emailLinkSeconds.signIn", 604_801, "must be between 300 and 604800 seconds."),
        ]
        try await TestService.run { service in
            let before = try await service.admin("config", version: "v2").json
            for (path, value, sentence) in rows {
                let reply = try await patch(service, path, value)
                #expect(reply.status == 400 && reply.error?.contains(sentence) == true, "\(path): \(reply)")
            }
            #expect(try await service.admin("config", version: "v2").json == before)
            // A percent-encoded address is no placeholder.
            let encoded = try await patch(service, "\(template).body", "%LINK% https://app.example.com/%EF%BC%9A")
            encoded.expectOK()
        }
    }

    @Test("a language is set and shown with the others, by its own spelling; customized is only read")
    func localized() async throws {
        let path = "notification.sendEmail.verifyEmailTemplate"
        try await TestService.run { service in
            let texts: JSON = ["de": ["senderDisplayName": "App"], "pt_BR": ["subject": "a", "body": "%LINK%"]]
            let set = try await patch(service, "\(path).localized", texts.merging(["en": [:], "ja": .null]))
            let template = set["notification"]?["sendEmail"]?["verifyEmailTemplate"]
            #expect(
                template == [
                    "localized": [
                        "de": ["senderDisplayName": "App"],
                        "pt_BR": ["subject": "a", "body": "%LINK%", "bodyFormat": "PLAIN_TEXT"],
                    ]
                ],
                "\(set)"
            )
            let customized = try await patch(service, path, ["subject": "Hi", "customized": false])
            let shown = customized["notification"]?["sendEmail"]?["verifyEmailTemplate"]
            #expect(shown == ["subject": "Hi", "customized": true], "\(customized)")
        }
    }

    @Test(
        "a name that is mark-up is kept as it is, and escaped in the mail",
        arguments: [
            ("Ada <body> </b>", "<p>Hello Ada &lt;body&gt; &lt;/b&gt;,</p>"),
            ("Ada </body>", "<p>Hello Ada &lt;/body&gt;,</p>"),
        ]
    )
    func hostileName(_ name: String, _ greeting: String) async throws {
        try await TestService.run { service in
            let user = try await service.signUp("ada@example.com")
            let update: JSON = ["idToken": JSON(user.idToken), "displayName": .string(name)]
            try await service.call("accounts:update", update).expectOK()
            let found = try await service.admin("accounts:lookup", ["localId": [JSON(user.localID)]])
            #expect(found["users"]?[0]?["displayName"]?.string == name, "\(found)")
            _ = try await service.sendCode(.passwordReset, ["email": "ada@example.com"])
            let mail = try await service.mail(.passwordReset, to: "ada@example.com").mail
            #expect(mail.displayName == name)
            let sender = try #require(MailAddress(parsing: "mail@example.com"))
            let message = MailMessage.make(mail, id: "1", of: service.project, from: sender, date: .distantPast)
            let html = try #require(message?.html)
            #expect(html.ranges(of: "</body>").count == 1 && html.contains(greeting), "\(html)")
        }
    }
}
