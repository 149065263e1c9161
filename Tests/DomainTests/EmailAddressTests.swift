import Domain
import Foundation
import Testing

@Suite("Email addresses")
struct EmailAddressTests {
    @Test("T-E4: one canonical form", arguments: EmailVectors.accepted)
    func accepts(given: String, canonical: String) throws {
        let address = try #require(EmailAddress(given))
        #expect(Array(address.canonical.unicodeScalars) == Array(canonical.unicodeScalars))
        #expect(Array(address.original.unicodeScalars) == Array(given.unicodeScalars))
    }

    @Test("T-E4: refused", arguments: EmailVectors.refused)
    func refuses(why: String, given: String) {
        #expect(EmailAddress(given) == nil, "\(why)")
    }

    /// Every code point but the tens of thousands of ideographs and syllables, which fold to themselves.
    private static let letters =
        [0x21...0x33FF, 0xA000...0xABFF, 0xE000...0x16FFF, 0x1B000...0x1FFFF, 0x2F800...0x2FA1F].map(Array.init)
        .joined()

    @Test("T-E4: the canonical form of a canonical form is itself")
    func isIdempotent() throws {
        for (given, _) in EmailVectors.accepted {
            let once = try #require(EmailAddress(given))
            let twice = try #require(EmailAddress(once.canonical), "\(once.canonical)")
            #expect(Array(twice.canonical.unicodeScalars) == Array(once.canonical.unicodeScalars))
        }
        // Letters of every script, before the @ and in the domain.
        for value in Self.letters {
            guard let scalar = Unicode.Scalar(UInt32(value)) else { continue }
            for text in ["a\(scalar)@example.com", "a@x\(scalar).example"] {
                guard let once = EmailAddress(text) else { continue }
                let twice = EmailAddress(once.canonical)
                #expect(
                    twice?.canonical.unicodeScalars.elementsEqual(once.canonical.unicodeScalars) == true,
                    "\(value)"
                )
            }
        }
    }

    @Test("T-E4: no other letter becomes an ASCII one")
    func foldsNothingIntoASCII() {
        for value in Self.letters where value >= 0x80 {
            guard let scalar = Unicode.Scalar(UInt32(value)) else { continue }
            for text in ["\(scalar)@example.com", "ada@\(scalar).example"] {
                guard let address = EmailAddress(text) else { continue }
                let folded = address.canonical.split(separator: "@").map { $0.split(separator: ".")[0] }
                let part = text.hasPrefix("ada@") ? folded[1] : folded[0]
                let isASCII = part.utf8.allSatisfy { $0 < 128 } && !part.hasPrefix("xn--")
                #expect(!isASCII, "\(String(value, radix: 16)) became \(part)")
            }
        }
    }

    @Test("equal addresses are found by one key, and mail goes to what was given")
    func keepsTheOriginal() throws {
        let first = try #require(EmailAddress("Ada@Example.com"))
        let second = try #require(EmailAddress("ada@EXAMPLE.com"))
        #expect(first.canonical == second.canonical)
        #expect(first.original == "Ada@Example.com")
        #expect(first.domain == "example.com")
    }

    @Test("an address is not printed")
    func isQuiet() throws {
        let address = try #require(EmailAddress("ada@example.com"))
        #expect(!"\(address)".contains("ada"))
    }

    @Test("coded as its text, and checked again when read")
    func codes() throws {
        let address = try #require(EmailAddress("Ada@Example.com"))
        let data = try JSONEncoder().encode([address])
        #expect(try JSONDecoder().decode([EmailAddress].self, from: data) == [address])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([EmailAddress].self, from: Data(#"["ada@example.com,eve@example.com"]"#.utf8))
        }
    }
}
