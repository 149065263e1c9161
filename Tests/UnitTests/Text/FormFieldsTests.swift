import Testing
import Text

@Suite struct FormFieldsTests {
    /// The parser's cases of the Web Platform Tests, `url/urlencoded-parser.any.js`.
    @Test(
        "WHATWG URL §5.1",
        arguments: [
            ("test", [["test", ""]]), ("a=b&c=d", [["a", "b"], ["c", "d"]]),
            ("a=b&c=d&", [["a", "b"], ["c", "d"]]), ("&&&a=b&&&&c=d&", [["a", "b"], ["c", "d"]]),
            ("a=a&a=b&a=c", [["a", "a"], ["a", "b"], ["a", "c"]]), ("a==a", [["a", "=a"]]),
            ("a=a+b+c+d", [["a", "a b c d"]]), ("%=a", [["%", "a"]]), ("%a=a", [["%a", "a"]]),
            ("%a_=a", [["%a_", "a"]]), ("%61=a", [["a", "a"]]), ("%61+%4d%4D=", [["a MM", ""]]),
            ("id=0&value=%", [["id", "0"], ["value", "%"]]), ("b=%2sf%2a", [["b", "%2sf*"]]),
            ("b=%2%2af%2a", [["b", "%2*f*"]]), ("b=%%2a", [["b", "%*"]]), ("", []), ("=a", [["", "a"]]),
            ("a=%FE%FF", [["a", "\u{fffd}\u{fffd}"]]), ("é&t=é", [["é", ""], ["t", "é"]]),
        ]
    )
    func parses(_ text: String, _ pairs: [[String]]) {
        #expect(FormFields(text).pairs.map { [$0.name, $0.value] } == pairs)
        if !text.contains("%") || text.hasPrefix("%61") {
            #expect(FormFields(strict: text)?.pairs.map { [$0.name, $0.value] } == pairs)
        } else {
            #expect(FormFields(strict: text) == nil)
        }
    }

    @Test("what is written is read again") func writes() {
        let pairs = [("a b", "c&d=e"), ("ä", "+%"), ("", ""), ("a b", "2")]
        let text = FormFields(pairs: pairs).text
        #expect(text == "a%20b=c%26d%3De&%C3%A4=%2B%25&=&a%20b=2")
        #expect(FormFields(strict: text)?.pairs.map { [$0.name, $0.value] } == pairs.map { [$0.0, $0.1] })
        #expect(FormFields(text)["a b"] == "c&d=e")
        #expect(FormFields(text)["c"] == nil)
    }

    @Test("pairs as they stand stay encoded") func splits() {
        #expect(FormFields.split("a%20=b+c&&d&=e=f").map { "\($0.name)|\($0.value)" } == ["a%20|b+c", "d|", "|e=f"])
    }

    @Test(
        "parameters are added to a URL's query",
        arguments: [
            ("https://a.example", "https://a.example?x=1%202"), ("https://a.example/?", "https://a.example/?x=1%202"),
            ("https://a.example/?y=%41&z", "https://a.example/?y=%41&z&x=1%202"),
            ("https://a.example/?x=0&X=0&%78=0", "https://a.example/?X=0&x=1%202"),
            ("https://a.example/?y#f?g", "https://a.example/?y&x=1%202#f?g"), ("app:/back", "app:/back?x=1%202"),
        ]
    )
    func adds(_ url: String, _ longer: String) {
        #expect(url.adding([("x", "1 2")]) == longer)
        #expect("a:?X=0&y".adding([("x", "1")], ignoringCase: true) == "a:?y&x=1")
    }
}
