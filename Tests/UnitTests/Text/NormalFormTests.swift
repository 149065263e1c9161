import Projects
import Testing
import Text

/// RFC 3986 §6.2.2 and §6.2.3.
@Suite("Normal form of URLs") struct NormalFormTests {
    @Test(
        "spellings of one resource are one text",
        arguments: [
            ("https://mcp.example.com", "https://mcp.example.com/"),
            ("HTTPS://MCP.Example.COM/", "https://mcp.example.com/"),
            ("https://mcp.example.com:443", "https://mcp.example.com/"),
            ("https://mcp.example.com:/a", "https://mcp.example.com/a"), ("http://a.example:80/", "http://a.example/"),
            ("https://a.example/%7Euser/%c3%a4", "https://a.example/~user/%C3%A4"),
            ("https://a.example/a/./b/../c", "https://a.example/a/c"),
            ("https://a.example/a/%2e%2E/b", "https://a.example/b"), ("https://a.example/a/..", "https://a.example/"),
            ("https://a.example/../../a/.", "https://a.example/a/"), ("https://a.example?q", "https://a.example/?q"),
            ("eXAMPLE://a/./b/../b/%63/%7bfoo%7d", "example://a/b/c/%7Bfoo%7D"), ("URN:example:a", "urn:example:a"),
        ]
    )
    func isOne(_ text: String, _ normal: String) throws {
        #expect(try #require(URLParts(text)).normalForm == normal)
        #expect(try #require(URLParts(normal)).normalForm == normal, "it is its own normal form")
    }

    @Test(
        "what two servers may tell apart stays apart",
        arguments: [
            ("https://a.example/a", "https://a.example/a/"), ("https://a.example/", "https://a.example./"),
            ("https://a.example/A", "https://a.example/a"), ("https://a.example/", "https://a.example/?"),
            ("https://a.example/", "http://a.example/"), ("https://a.example/", "https://a.example:8443/"),
            ("https://a.example:80/", "https://a.example/"), ("https://a.example/a/b", "https://a.example/a%2Fb"),
            ("https://a.example/a", "https://a.example//a"), ("https://a.example/%2541", "https://a.example/A"),
            ("https://a.example/?A", "https://a.example/?a"), ("https://a.example/", "https://a.example/%2F"),
            ("https://a.example/", "https://b@a.example/"), ("https://a.example/", "https://a.example/#"),
            ("urn:example:a", "urn:Example:a"), ("https://a.example/+", "https://a.example/%20"),
        ]
    )
    func staysTwo(_ one: String, _ other: String) throws {
        #expect(try #require(URLParts(one)).normalForm != (try #require(URLParts(other)).normalForm))
    }

    @Test(
        "no resource has a user, a fragment, or what servers read differently",
        arguments: [
            "https://user@a.example/", "https://@a.example/", "https://a.example/#", "https://a.example/#f",
            "https://ex%61mple.com/", "https://a.example\\@b.example/", "https://a.example/\\", "https:///a",
            "https://a.example:99999/", "https://a .example/", "/relative", "https:a.example",
        ]
    )
    func isNone(_ text: String) { #expect(!OAuthSettings.isResource(text)) }
}
