import IdentityCore
import Testing

@Suite struct Base64URLTests {
    /// RFC 4648 §10, without padding, and RFC 7515 appendix C.
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
        ("foobar", "Zm9vYmFy"),
    ])
    func decodesTheVectors(_ text: String, _ encoded: String) {
        #expect(Base64URL.encode(text.utf8) == encoded)
        #expect(Base64URL.decode(encoded) == Array(text.utf8))
    }

    @Test func usesTheAlphabetOfURLs() {
        #expect(Base64URL.decode("A-z_4ME") == [3, 236, 255, 224, 193])
        #expect(Base64URL.encode([3, 236, 255, 224, 193]) == "A-z_4ME")
    }

    @Test(arguments: ["Z", "Zm9vY", "Zh", "Zm9", "Zg==", "Zm9+", "Zm9/", "Zm 9", "Zm9v\n", "Zé8"])
    func refusesOtherText(_ text: String) { #expect(Base64URL.decode(text) == nil) }
}
