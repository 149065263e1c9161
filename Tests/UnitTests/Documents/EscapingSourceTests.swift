import TestKit
import Testing

@Suite("Escaping in sources")
struct EscapingSourceTests {
    /// `"\u{d4e}<"` and `"<\u{301}"` are one Character each: what replaces by Character leaves their bracket.
    @Test("T-B14: nothing escapes by Character")
    func byCharacter() throws {
        let byCharacter = #/\.replacing\("(?:[<>&"'%?+,]|\\["'\\nr])"|\[Character: String\]/#
        let found = try Repository.files(below: "Sources", suffix: ".swift").flatMap { file in
            try Repository.text("Sources/\(file)").matches(of: byCharacter).map { "\(file): \($0.output)" }
        }
        #expect(found == [])
    }
}
