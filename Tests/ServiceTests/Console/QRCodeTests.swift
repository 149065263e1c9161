import Foundation
import IdentityService
import Secrets
import Testing

/// The judge is PyPI's `qrcode` 8.2: `qr_codes.tsv` has, for a text of so many letters, the SHA-256 of the code that it
/// draws with level M, bytes, and our choice of mask.
///
/// PyPI's `zxing-cpp` read the same texts from our codes.
@Suite("QR codes")
struct QRCodeTests {
    @Test("codes of every size are, module by module, those of another implementation")
    func judged() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "qr_codes.tsv")
        let rows = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
            $0.split(separator: "\t")
        }
        #expect(rows.count > 40)
        for row in rows {
            let count = try #require(Int(row[0]))
            let code = try #require(QRCode(Self.text(count)))
            let modules = (0..<code.size).map { y in (0..<code.size).map { code.isDark($0, y) ? "1" : "0" }.joined() }
            #expect(SecureHash.sha256Hex(modules.joined(separator: "/")) == row[1], "\(count) bytes")
        }
    }

    @Test("a text that no code holds has none")
    func limit() {
        #expect(QRCode(Self.text(2331))?.size == 177)
        #expect(QRCode(Self.text(2332)) == nil)
        #expect(QRCode("")?.size == 21)
    }

    /// Letters that repeat late.
    private static func text(_ count: Int) -> String {
        var letters: [UInt8] = []
        for index in 0..<count {
            let letter: Int = (index * index + index / 7) % 26
            letters.append(UInt8(0x61 + letter))
        }
        return String(decoding: letters, as: UTF8.self)
    }
}
