import Testing
import Text

@Suite struct PercentEncodingTests {
    @Test("RFC 3986 §2.3: only unreserved characters stay") func keepsUnreserved() {
        let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
        #expect(PercentEncoding.encode(unreserved) == unreserved)
        #expect(
            PercentEncoding.encode(":/?#[]@!$&'()*+,;= %")
                == "%3A%2F%3F%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D%20%25"
        )
        #expect(PercentEncoding.encode("\u{0}\u{7f}") == "%00%7F")
    }

    @Test(
        "RFC 3986 §2.5: other characters are encoded as UTF-8",
        arguments: [("À", "%C3%80"), ("ア", "%E3%82%A2"), ("-", "-"), ("👋", "%F0%9F%91%8B"), ("", "")]
    )
    func encodesUTF8(_ text: String, _ encoded: String) {
        #expect(PercentEncoding.encode(text) == encoded)
        #expect(PercentEncoding.decode(encoded) == text)
        #expect(PercentEncoding.decode(encoded.lowercased()) == text)
    }

    @Test("RFC 5849 §3.6") func encodesForSignatures() {
        #expect(PercentEncoding.encode("Ladies + Gentlemen") == "Ladies%20%2B%20Gentlemen")
        #expect(PercentEncoding.encode("An encoded string!") == "An%20encoded%20string%21")
        #expect(PercentEncoding.encode("Dogs, Cats & Mice") == "Dogs%2C%20Cats%20%26%20Mice")
        #expect(PercentEncoding.encode("a@b/c", keeping: .unreserved + "@") == "a@b%2Fc")
    }

    @Test("a plus sign is a space in forms alone") func readsPlus() {
        #expect(PercentEncoding.decode("a+b%2Bc") == "a+b+c")
        #expect(PercentEncoding.decode("a+b%2Bc", plusIsSpace: true) == "a b+c")
    }

    @Test(
        "strict: an invalid escape, invalid UTF-8 or NUL is refused; lenient: it stays or becomes U+FFFD",
        arguments: [
            ("%", "%"), ("%4", "%4"), ("%4g", "%4g"), ("%%41", "%A"), ("%+1", "%+1"), ("a%zz%41", "a%zzA"),
            ("%ff", "\u{fffd}"), ("%ED%A0%80", "\u{fffd}\u{fffd}\u{fffd}"), ("%C0%AF", "\u{fffd}\u{fffd}"),
            ("a%00b", "a\u{0}b"), ("a\u{0}b", "a\u{0}b"),
        ]
    )
    func refuses(_ text: String, _ lenient: String) {
        #expect(PercentEncoding.decode(text) == nil)
        #expect(PercentEncoding.decodeLeniently(text) == lenient)
    }
}
