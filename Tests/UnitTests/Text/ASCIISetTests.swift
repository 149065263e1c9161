import Testing
import Text

@Suite struct ASCIISetTests {
    @Test("each set has the characters of its name, and no other byte") func hasItsCharacters() {
        let all = UInt8.min...UInt8.max
        func text(_ set: ASCIISet) -> String { String(decoding: all.filter(set.contains), as: UTF8.self) }
        #expect(text(.digits) == "0123456789")
        #expect(text(.lowercase) == "abcdefghijklmnopqrstuvwxyz")
        #expect(text(.letters) == "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
        #expect(text(.unreserved).count == 66)
        #expect(text(.visible) == String(decoding: UInt8(33)...126, as: UTF8.self))
        #expect(text("-_." + .digits) == "-.0123456789_")
    }

    @Test(
        "letters and digits of other scripts are not in them",
        arguments: ["é", "ａ", "٤", "Ⅷ", "\u{212A}", "a\u{0301}"]
    )
    func refusesOtherScripts(_ text: String) { #expect(!text.consists(of: .alphanumerics)) }

    @Test(
        "RFC 1123 §2.1: labels of host names",
        arguments: [
            ("a", true), ("a-b", true), ("1", true), ("", false), ("-a", false), ("a-", false), ("A", false),
            ("a_b", false), (String(repeating: "a", count: 63), true), (String(repeating: "a", count: 64), false),
        ]
    )
    func knowsLabels(_ text: String, _ isLabel: Bool) { #expect(text[...].isHostLabel == isLabel) }
}
