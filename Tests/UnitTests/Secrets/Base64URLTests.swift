import Foundation
import Secrets
import Testing

@Suite struct Base64URLTests {
    private static func bytes(_ count: Int, seed: UInt8) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ Int(seed) &* 37) }
    }

    private static let someLetters = Array("AZaz09-_".utf8)

    /// Foundation's Base64 as the judge.
    private static func expected(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }

    @Test func encodesAsFoundationDoesAndDecodesAgain() {
        for count in 0...70 {
            for seed: UInt8 in 0..<8 {
                let bytes = Self.bytes(count, seed: seed)
                let text = Base64URL.encode(bytes)
                #expect(text == Self.expected(bytes))
                #expect(Base64URL.decode(text) == bytes)
                #expect(Base64URL.decode(Array(text.utf8)[...]) == bytes)
                var appended = Array("x.".utf8)
                Base64URL.append(bytes, to: &appended)
                #expect(String(decoding: appended, as: UTF8.self) == "x." + text)
            }
        }
    }

    /// Every text of up to two characters over the whole of ASCII, and many of three.
    @Test("T-D4: whatever decodes is the one spelling of its bytes") func decodesCanonicalTextAlone() {
        let ascii = (0..<128).map { UInt8($0) }
        var accepted = 0
        func check(_ text: [UInt8]) {
            guard let bytes = Base64URL.decode(text[...]) else { return }
            accepted += 1
            if Base64URL.encode(bytes) != String(decoding: text, as: UTF8.self) {
                Issue.record("\(text) is a second spelling of \(bytes)")
            }
        }
        check([])
        for first in ascii {
            check([first])
            for second in ascii {
                check([first, second])
                guard Self.someLetters.contains(first) else { continue }
                for third in ascii { check([first, second, third]) }
            }
        }
        #expect(accepted == 1 + 256 + Self.someLetters.count * 1024)
    }

    @Test(arguments: [
        "A", "AA=", "AA==", "AAA=", "AA A", "AA\n", "AA+A", "AA/A", "AB", "AAB", "ÄÄ", "AAAAA", "ＡＡ", "AA\0A",
    ])
    func refuses(_ text: String) {
        #expect(Base64URL.decode(text) == nil)
    }
}
