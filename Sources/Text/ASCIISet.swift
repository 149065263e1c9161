/// A set of ASCII characters; no other byte is in it.
///
/// `Character`'s own tests (`isLetter`, `isNumber`) also accept the letters and digits of every other script.
package struct ASCIISet: Sendable, Hashable, ExpressibleByStringLiteral {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    package init(stringLiteral characters: StaticString) {
        for character in characters.description.utf8 { insert(character) }
    }

    private init(_ bytes: ClosedRange<UInt8>) {
        for byte in bytes { insert(byte) }
    }

    private mutating func insert(_ byte: UInt8) {
        if byte < 64 { low |= 1 << byte } else { high |= 1 << (byte & 63) }
    }

    package func contains(_ byte: UInt8) -> Bool {
        byte < 128 && (byte < 64 ? low : high) >> (byte & 63) & 1 == 1
    }

    package static func + (left: ASCIISet, right: ASCIISet) -> ASCIISet {
        var both = left
        both.low |= right.low
        both.high |= right.high
        return both
    }

    package static let ascii = ASCIISet(0x00...0x7f)
    package static let digits = ASCIISet(0x30...0x39)
    package static let lowercase = ASCIISet(0x61...0x7a)
    package static let letters = lowercase + ASCIISet(0x41...0x5a)
    package static let alphanumerics = letters + digits
    /// RFC 3986 §2.3.
    package static let unreserved = alphanumerics + "-._~"
    /// VCHAR of RFC 5234: neither spaces nor control characters.
    package static let visible = ASCIISet(0x21...0x7e)
}

// For both types by name: a generic function of another module is not specialized, and many times as slow.
extension String {
    /// Whether every character is in the set; true for an empty text.
    package func consists(of set: ASCIISet) -> Bool { utf8.allSatisfy(set.contains) }

    package var isASCII: Bool { utf8.allSatisfy { $0 < 128 } }
}

extension Substring {
    /// Whether every character is in the set; true for an empty text.
    package func consists(of set: ASCIISet) -> Bool { utf8.allSatisfy(set.contains) }

    package var isASCII: Bool { utf8.allSatisfy { $0 < 128 } }

    /// Whether it is one label of a host name in lowercase (RFC 1123 §2.1).
    package var isHostLabel: Bool {
        (1...63).contains(utf8.count) && consists(of: .lowercase + .digits + "-") && !hasPrefix("-") && !hasSuffix("-")
    }
}

extension [UInt8] {
    /// Nil for anything but pairs of hexadecimal digits, of either case.
    package init?(hexadecimal text: some Collection<UInt8>) {
        let digits = text.compactMap(\.hexadecimalDigit)
        guard digits.count.isMultiple(of: 2), digits.count == text.count else { return nil }
        self = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

extension UInt8 {
    /// The value of a hexadecimal digit of either case; nil for any other character.
    package var hexadecimalDigit: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        case 0x61...0x66: self - 0x61 + 10
        default: nil
        }
    }
}
