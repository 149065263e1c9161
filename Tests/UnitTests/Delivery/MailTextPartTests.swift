import Delivery
import Projects
import TestKit
import Testing

/// The text of a project's own HTML, as Python's `email` reads the mail.
@Suite("Text parts of mails", .timeLimit(.minutes(10)))
struct MailTextPartTests {
    private static let link = "https://id.example.com/auth?mode=x&oobCode=abc"

    private static func html(_ body: String) throws -> Project {
        try MailMessageTests.project { settings in
            settings["resetPasswordTemplate"].body = body
            settings["resetPasswordTemplate"].isHTML = true
        }
    }

    private static func text(_ body: String) throws -> String? {
        try MailMessageTests.message(MailMessageTests.mail(), of: html(body))?.text
    }

    @Test("a project's HTML has one beside it, first, between boundaries that are in neither")
    func parts() async throws {
        let body = "<p>Dear %DISPLAY_NAME%,\r\nset it\rhere:\n<a href=\"%LINK%\">here</a>\n--=_5f0c8a\n--=_5f0c8a--</p>"
        let message = try MailMessageTests.message(MailMessageTests.mail(), of: Self.html(body))
        let read = try await MailMessageTests.read(message)
        #expect(read["defects"] == [])
        #expect(read["order"] == ["text/plain", "text/html"])
        #expect(read["encodings"] == ["base64", "base64"])
        #expect(read["odd line breaks"] == false)
        #expect((read["longest"]?.number ?? 100) <= 78)
        let parts = try #require(read["parts"])
        #expect(
            parts["text/plain"]?.string
                == "Dear Ada Lovelace, set it here: here <\(Self.link)> --=_5f0c8a --=_5f0c8a--\n"
        )
        #expect(parts["text/html"]?.string?.contains("\n--=_5f0c8a--</p>") == true)
        let boundary = try #require(read["boundary"]?.string)
        // In the header, before each part, and at the end.
        #expect(read["raw"]?.string?.ranges(of: boundary).count == 4)
    }

    @Test("plain text stays the only part, with lines that end as the standard has them")
    func plain() async throws {
        let project = try MailMessageTests.project { $0["resetPasswordTemplate"].body = "a\r\nb\rc\n\n<p>%LINK%" }
        let read = try await MailMessageTests.read(MailMessageTests.message(MailMessageTests.mail(), of: project))
        #expect(read["order"] == ["text/plain"] && read["odd line breaks"] == false)
        #expect(read["parts"] == ["text/plain": "a\nb\nc\n\n<p>\(Self.link)"].json)
    }

    @Test(
        "reads HTML as a browser shows it",
        arguments: [
            ("a <a href=%LINK%>b</a>.", "a b <%LINK%>."),
            ("<a href='%LINK%'>%LINK%</a>", "%LINK%"),
            ("<A HREF = \"%LINK%&amp;x=1\"><b>Go</b> on </A>now", "Go on <%LINK%&x=1> now"),
            ("<a href=\"%LINK%\"><img src=\"b.png\" alt=\"Confirm &amp; go\"></a>", "Confirm & go <%LINK%>"),
            ("<a href=\"%LINK%\"><img src=b.png></a>", "%LINK%"),
            ("<a href=%LINK%>b", "b <%LINK%>"),
            ("%LINK% <a href='mailto:a@b.example'>a@b.example</a> <a href='#x'>up</a>", "%LINK% a@b.example up"),
            ("%LINK%<br>b<br/>c<br><br><br>d", "%LINK%\nb\nc\n\nd"),
            ("<h1>T</h1><p>a\n  b\t c</p>\n<p>&nbsp;</p><div>%LINK%</div><div>e</div>", "T\n\na b c\n\n%LINK%\ne"),
            ("<ul><li>%LINK%<li>b<ol start=3><li>c</li><li>d</ol></ul>e", "- %LINK%\n- b\n  3. c\n  4. d\n\ne"),
            ("<table><tr><th>a<th>b<tr><td>%LINK%</td><td>d</td></tr></table>", "a b\n%LINK% d"),
            (
                "<!DOCTYPE html><html><head><title>t</title><style>p > b {}</style><meta x=\"a>b\"></head>"
                    + "<body><!-- c > d --><script>if (a</b) '</p>'</script >%LINK%</body></html>", "%LINK%"
            ),
            ("&lt;p&gt; &auml;&Auml;&euro;&#8364;&#x20AC;&#128;&hellip;&apos; %LINK%", "<p> äÄ€€€€…' %LINK%"),
            (
                "&amp;lt; &nosuch; &auml &#0;&#xd800;&#99999999; %LINK%",
                "&lt; &nosuch; &auml \u{fffd}\u{fffd}\u{fffd} %LINK%"
            ),
            ("1 < 2 <3 %LINK% a<", "1 < 2 <3 %LINK% a<"),
            ("a&zwj;b %LINK%", "a\u{200d}b %LINK%"),
            // What nothing ends hides the rest, but not the link.
            ("a<!-- %LINK%", "a\n\n%LINK%"), ("a<b %LINK%", "a\n\n%LINK%"), ("a<style>%LINK%", "a\n\n%LINK%"),
            ("a<a href=\"%LINK%", "a\n\n%LINK%"), ("<form action=\"%LINK%\">a</form>", "a\n\n%LINK%"),
        ]
    )
    func reads(_ html: String, _ text: String) throws {
        #expect(try Self.text(html) == text.replacing("%LINK%", with: Self.link) + "\n")
    }

    @Test("takes time in proportion to its length")
    func linear() throws {
        for piece in ["<a ", "<a b='", "<!--", "&", "<style>", "</", "<ul><li>", "<"] {
            let body = String(repeating: piece, count: 65_000 / piece.utf8.count) + "%LINK%"
            #expect(try Self.text(body)?.isEmpty == false)
        }
    }

    @Test("escape a name that is mark-up in HTML, and show it as it is in the text")
    func names() throws {
        var mail = MailMessageTests.mail()
        mail.displayName = "Ada <body> &amp; %LINK%"
        let message = try MailMessageTests.message(mail, of: Self.html("<b>%DISPLAY_NAME%</b> %LINK%"))
        #expect(message?.text == "Ada <body> &amp; %LINK% \(Self.link)\n")
        #expect(message?.html?.hasPrefix("<b>Ada &lt;body&gt; &amp;amp; %LINK%</b>") == true)
    }
}

extension [String: String] {
    fileprivate var json: JSON { .object(mapValues { .string($0) }) }
}
