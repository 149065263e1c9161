import Delivery
import Testing

@Suite("Names in mails")
struct MailNameTests {
    private static func greeting(_ name: String) throws -> String? {
        var mail = MailMessageTests.mail()
        mail.displayName = name
        return try MailMessageTests.message(mail)?.text.prefix { $0 != "\n" }.description
    }

    @Test(
        "keep what nobody sees where the script or the emoji needs it",
        arguments: [
            "می\u{200c}خواهم", "علی\u{200c}رضا", "عَلیّ\u{200c}رضا", "क\u{94d}\u{200d}ष", "क\u{94d}\u{200c}ष",
            "ශ\u{dca}\u{200d}රී", "ന\u{d4d}\u{200d}", "👨\u{200d}👩\u{200d}👧\u{200d}👦", "👩🏽\u{200d}⚕\u{fe0f} Ada",
            "🏳\u{fe0f}\u{200d}🌈", "❤\u{fe0f}", "1\u{fe0f}\u{20e3}", "葛\u{e0100}城", "ᠠ\u{180b}",
        ]
    )
    func keeps(_ name: String) throws {
        #expect(try Self.greeting(name) == "Hello \(name),")
    }

    @Test("keep mark-up, which is only text", arguments: ["</body>", "Ada </b> <Lovelace>", "<body>", "</title>Ada"])
    func keepsMarkup(_ name: String) throws {
        #expect(try Self.greeting(name) == "Hello \(name),")
    }

    @Test(
        "are replaced where it only hides something",
        arguments: [
            "pay\u{200d}pal", "pay\u{200c}pal", "exam\u{200c}ple.com", "exam\u{200d}ple.com", "x.c\u{200d}o\u{200d}m",
            // Joiners are allowed here, and the rest is an address nevertheless.
            "می\u{200c}خواهم.com", "x.\u{935}\u{94d}\u{200d}com", "evil.भ\u{93e}रत", "x.v\u{94d}\u{200c}com",
            // Nothing to join: at an end, between other letters, or only on one side.
            "\u{200c}می", "می\u{200c}", "می\u{200c}a", "a\u{200c}می", "ا\u{200c}ب", "ب\u{200d}ب", "خ\u{200c}\u{200c}ب",
            "👩\u{200d}x", "x\u{200d}👩", "1\u{200d}2", "ℹ\u{fe0f}\u{200d}ℹ", "Ⓜ\u{200d}Ⓜ", "👩\u{200d}\u{200d}👩",
            // Brothers: directions, tags, variants of letters that have none, fillers, and other things without a form.
            "Ada\u{202e}", "\u{2066}Ada\u{2069}", "Ada\u{200e}", "\u{61c}Ada",
            "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}", "Ada\u{e0041}", "pay\u{fe0f}pal",
            "x.c\u{fe0f}om", "pay\u{e0100}pal", "\u{fe0f}Ada", "\u{3164}", "a\u{34f}b", "a\u{2060}b", "a\u{feff}b",
            "a\u{ad}b", "a\u{17b4}b",
            // End tags of a link.
            "<//evil", "</evil.example>", "</a> x/path", "</\u{200b}/evil",
        ]
    )
    func replaces(_ name: String) throws {
        #expect(try Self.greeting(name) == "Hello ada@example.com,")
    }
}
