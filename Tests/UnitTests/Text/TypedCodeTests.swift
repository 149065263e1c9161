import Testing
import Text

@Suite struct TypedCodeTests {
    @Test(
        "digits are read as users type and paste them",
        arguments: [
            "123456", "123 456", " 123456\n", "123-456", "1 2 3 4 5 6", "１２３４５６", "１２３　４５６", "123\u{a0}456",
            "123\u{2009}456", "123–456", "123\u{2212}456", "１２３－４５６", "١٢٣٤٥٦", "۱۲۳۴۵۶", "१२३४५६",
            "\u{200e}123456\u{200f}",
            "\u{feff}123456", "123\u{ad}456",
        ]
    )
    func digits(_ text: String) { #expect(TypedCode.sixDigits(text) == "123456", "\(text)") }

    @Test(
        "what does not have the form of a code is none",
        arguments: ["", "12345", "1234567", "abcdef", "123 45a", "123.456", "+123456", "①②③④⑤⑥", "½23456", "一二三四五六"]
    )
    func others(_ text: String) { #expect(TypedCode.sixDigits(text) == nil, "\(text)") }

    @Test("letters in full width are those of ASCII, for codes of devices")
    func letters() {
        #expect(TypedCode.plain("ＷＤＪＢ－ＭＪＨＴ") == "WDJBMJHT")
        #expect(TypedCode.plain("wdjb mjht") == "wdjbmjht")
    }

    @Test(
        "pasted text loses the spaces around it",
        arguments: [
            (" ada@example.com\n", "ada@example.com"), ("\u{3000}a b\u{a0}", "a b"), ("   ", ""), ("", ""),
            ("\u{feff}ada@example.com\u{200b}\r\n", "ada@example.com"),
        ]
    )
    func trimmed(_ text: String, _ rest: String) { #expect(text.trimmingSpaces == rest) }
}
