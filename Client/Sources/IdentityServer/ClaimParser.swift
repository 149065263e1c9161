/// Parses the JSON of tokens (RFC 8259), several times faster than Foundation, whose decoder would take longer than the
/// verification of a signature.
///
/// Refuses members that occur twice (RFC 7519 §4), because parsers disagree about them, and more than 16 levels.
struct ClaimParser {
    private let bytes: [UInt8]
    private var position = 0

    static func parse(_ bytes: [UInt8]) -> [String: ClaimValue]? {
        var parser = ClaimParser(bytes: bytes)
        guard case .object(let members)? = parser.value(depth: 0) else { return nil }
        parser.skipSpace()
        return parser.position == bytes.count ? members : nil
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d { position += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) -> ClaimValue? {
        skipSpace()
        guard depth < 16, let byte = next else { return nil }
        switch byte {
        case UInt8(ascii: "{"): return object(depth: depth)
        case UInt8(ascii: "["): return array(depth: depth)
        case UInt8(ascii: "\""): return string().map { .string($0) }
        case UInt8(ascii: "t"): return word("true") ? .bool(true) : nil
        case UInt8(ascii: "f"): return word("false") ? .bool(false) : nil
        case UInt8(ascii: "n"): return word("null") ? .null : nil
        default: return number()
        }
    }

    private mutating func object(depth: Int) -> ClaimValue? {
        position += 1
        var members: [String: ClaimValue] = [:]
        if take(UInt8(ascii: "}")) { return .object(members) }
        repeat {
            skipSpace()
            guard next == UInt8(ascii: "\""), let name = string(), take(UInt8(ascii: ":")),
                let value = value(depth: depth + 1), members.updateValue(value, forKey: name) == nil
            else { return nil }
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "}")) ? .object(members) : nil
    }

    private mutating func array(depth: Int) -> ClaimValue? {
        position += 1
        var elements: [ClaimValue] = []
        if take(UInt8(ascii: "]")) { return .array(elements) }
        repeat {
            guard let value = value(depth: depth + 1) else { return nil }
            elements.append(value)
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "]")) ? .array(elements) : nil
    }

    private mutating func word(_ word: StaticString) -> Bool {
        let isThere = word.withUTF8Buffer { bytes[position...].starts(with: $0) }
        position += isThere ? word.utf8CodeUnitCount : 0
        return isThere
    }

    private mutating func string() -> String? {
        position += 1
        let start = position
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return String(decoding: bytes[start..<position - 1], as: UTF8.self)
            case UInt8(ascii: "\\"): return escapedString(from: start)
            case 0..<0x20: return nil
            default: position += 1
            }
        }
        return nil
    }

    /// Continues a string at its first backslash.
    private mutating func escapedString(from start: Int) -> String? {
        var text = Array(bytes[start..<position])
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escape = escape() else { return nil }
                text += escape
            case 0..<0x20: return nil
            default: text.append(byte)
            }
        }
        return nil
    }

    private mutating func escape() -> [UInt8]? {
        guard let byte = next else { return nil }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0c]
        case UInt8(ascii: "n"): return [0x0a]
        case UInt8(ascii: "r"): return [0x0d]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"):
            guard let unit = hexadecimal() else { return nil }
            guard UTF16.isLeadSurrogate(unit) else {
                return Unicode.Scalar(unit).map { Array(String(Character($0)).utf8) }
            }
            guard bytes[position...].starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) else { return nil }
            position += 2
            guard let trail = hexadecimal(), UTF16.isTrailSurrogate(trail) else { return nil }
            return Array(String(decoding: [unit, trail], as: UTF16.self).utf8)
        default: return nil
        }
    }

    private mutating func hexadecimal() -> UInt16? {
        guard position + 4 <= bytes.count else { return nil }
        var unit: UInt16 = 0
        for byte in bytes[position..<position + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        position += 4
        return unit
    }

    private mutating func number() -> ClaimValue? {
        let start = position
        while let byte = next, Self.numeric.contains(byte) { position += 1 }
        let text = bytes[start..<position]
        let digits = text.drop { $0 == UInt8(ascii: "-") }
        // RFC 8259 §6: at most one sign before the digits, no leading zeros, digits on both sides of a point.
        guard text.count - digits.count <= 1, let first = digits.first, let last = digits.last,
            isDigit(first), isDigit(last),
            first != UInt8(ascii: "0") || digits.count == 1 || !isDigit(digits[digits.startIndex + 1])
        else { return nil }
        let isInteger = digits.allSatisfy(isDigit)
        let string = String(decoding: text, as: UTF8.self)
        if isInteger, let integer = Int64(string) { return .integer(integer) }
        guard let number = Double(string), number.isFinite else { return nil }
        return .number(number)
    }

    private func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static let numeric = Set("+-.0123456789eE".utf8)
}
