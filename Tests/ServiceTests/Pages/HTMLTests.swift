import IdentityService
import TestKit
import Testing

@Suite("HTML")
struct HTMLTests {
    @Test("T-B14: JSON in a data block contains no bracket, whatever stands beside it, and decodes to the same")
    func dataBlock() throws {
        var random = SplitMix(seed: 14)
        for _ in 0..<10_000 {
            guard let scalar = Unicode.Scalar(UInt32.random(in: 0x20...0x10ffff, using: &random)) else { continue }
            try expectInert("\(scalar)</script>\(scalar)<!--\(scalar)")
        }
        for text in ["\u{d4e}<", "<\u{301}", "\u{200d}<\u{fe0f}", "\u{110bd}<\u{20e3}"] { try expectInert(text) }
    }

    private func expectInert(_ text: String) throws {
        let json = JSON.object(["text": .string(text)])
        let html: HTML = "\(json: json.text)"
        #expect(!html.text.utf8.contains(UInt8(ascii: "<")), "\(text.debugDescription)")
        let read = try JSON(parsing: Array(html.text.utf8))["text"]?.string
        #expect(read?.unicodeScalars.elementsEqual(text.unicodeScalars) == true, "\(text.debugDescription)")
    }
}
