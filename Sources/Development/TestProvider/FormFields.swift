import Secrets

/// The pairs of a query string or of a form body, as sent (`application/x-www-form-urlencoded`).
package struct FormFields: Sendable {
    package private(set) var pairs: [(name: String, value: String)] = []
    /// True when a space was written as `+`, which some providers refuse.
    package private(set) var usesPlusForSpace = false
    /// True when a percent sign isn't followed by two hexadecimal digits, or when the bytes aren't UTF-8.
    package private(set) var isMalformed = false

    package init(_ text: String) {
        guard !text.isEmpty else { return }
        for part in text.split(separator: "&", omittingEmptySubsequences: true) {
            let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if part.contains("+") { usesPlusForSpace = true }
            guard let name = Self.decode(halves[0]), let value = halves.count == 2 ? Self.decode(halves[1]) : "" else {
                isMalformed = true
                continue
            }
            pairs.append((name, value))
        }
    }

    package init(pairs: [(String, String)]) {
        self.pairs = pairs.map { (name: $0.0, value: $0.1) }
    }

    /// The first value of that name; nil when there is none.
    package subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }

    /// Names that occur more than once.
    package var repeatedNames: [String] {
        Dictionary(grouping: pairs, by: \.name).filter { $0.value.count > 1 }.keys.sorted()
    }

    /// Separated words of a parameter, such as `scope`.
    package func words(_ name: String, separator: Character = " ") -> [String] {
        (self[name] ?? "").split(separator: separator).map(String.init)
    }

    /// The pairs in wire form; everything but RFC 3986's unreserved characters is percent-encoded.
    package var text: String {
        pairs.map { Self.encode($0.name) + "=" + Self.encode($0.value) }.joined(separator: "&")
    }

    package static func encode(_ text: String) -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e: encoded.append(byte)
            default: encoded += Array(("%" + [byte].lowercaseHex.uppercased()).utf8)
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Decodes `%XX` and `+`; nil for a broken escape or for bytes that aren't UTF-8.
    package static func decode(_ text: some StringProtocol) -> String? {
        var decoded: [UInt8] = []
        var bytes = text.utf8.makeIterator()
        while let byte = bytes.next() {
            switch byte {
            case 0x2b: decoded.append(0x20)
            case 0x25:
                guard let high = bytes.next().flatMap(hexDigit), let low = bytes.next().flatMap(hexDigit) else {
                    return nil
                }
                decoded.append(high << 4 | low)
            default: decoded.append(byte)
            }
        }
        return String(validating: decoded, as: UTF8.self)
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }
}
