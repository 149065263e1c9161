/// Parses the JSON of tokens (RFC 8259), several times faster than Foundation, whose decoder would take as long as the
/// verification of a signature.
///
/// Refuses more than 16 levels, and members that occur twice (RFC 7519 §4), because parsers disagree about them.
struct ClaimParser {
    /// A member of an object, and where its value stands.
    struct Member {
        var name: String
        var value: Range<Int>

        /// Compares lengths first, which differ mostly.
        func isNamed(_ other: String) -> Bool { name.utf8.count == other.utf8.count && name == other }
    }

    // Valid during a call of a static function only.
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position: Int
    /// Whether values are wanted, or only where they end.
    private var isBuilding: Bool

    /// Returns the members of the object in the given range, which must contain nothing else.
    static func members(of bytes: [UInt8], in range: Range<Int>) -> [Member]? {
        bytes.withUnsafeBufferPointer { bytes in
            var parser = ClaimParser(
                bytes: UnsafeBufferPointer(rebasing: bytes[..<range.upperBound]),
                at: range.lowerBound
            )
            return parser.members()
        }
    }

    /// Returns the value in a range that ``members(of:in:)`` returned; nil if an object in it has a member twice.
    static func value(of bytes: [UInt8], in range: Range<Int>) -> ClaimValue? {
        bytes.withUnsafeBufferPointer { bytes in
            var parser = ClaimParser(bytes: bytes, at: range.lowerBound)
            parser.isBuilding = true
            return parser.value(depth: 1)
        }
    }

    private init(bytes: UnsafeBufferPointer<UInt8>, at position: Int) {
        self.bytes = bytes
        self.position = position
        self.isBuilding = false
    }

    private mutating func members() -> [Member]? {
        guard take(UInt8(ascii: "{")) else { return nil }
        var members: [Member] = []
        members.reserveCapacity(16)
        if !take(UInt8(ascii: "}")) {
            repeat {
                skipSpace()
                isBuilding = true
                guard next == UInt8(ascii: "\""), let name = string(), take(UInt8(ascii: ":")),
                    !members.contains(where: { $0.isNamed(name) })
                else { return nil }
                isBuilding = false
                skipSpace()
                let start = position
                guard value(depth: 1) != nil else { return nil }
                members.append(Member(name: name, value: start..<position))
            } while take(UInt8(ascii: ","))
            guard take(UInt8(ascii: "}")) else { return nil }
        }
        skipSpace()
        return position == bytes.count ? members : nil
    }

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
                let value = value(depth: depth + 1)
            else { return nil }
            guard !isBuilding || members.updateValue(value, forKey: name) == nil else { return nil }
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "}")) ? .object(members) : nil
    }

    private mutating func array(depth: Int) -> ClaimValue? {
        position += 1
        var elements: [ClaimValue] = []
        if take(UInt8(ascii: "]")) { return .array(elements) }
        repeat {
            guard let value = value(depth: depth + 1) else { return nil }
            if isBuilding { elements.append(value) }
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "]")) ? .array(elements) : nil
    }

    private mutating func word(_ word: StaticString) -> Bool {
        let isThere = word.withUTF8Buffer { bytes[position...].starts(with: $0) }
        position += isThere ? word.utf8CodeUnitCount : 0
        return isThere
    }

    private mutating func string() -> String? {
        let start = position + 1
        // A local variable: a token is mostly strings.
        var end = start
        while end < bytes.count, bytes[end] >= 0x20, bytes[end] != UInt8(ascii: "\""), bytes[end] != UInt8(ascii: "\\")
        {
            end += 1
        }
        position = end
        switch next {
        case UInt8(ascii: "\""):
            position += 1
            return isBuilding ? String(decoding: bytes[start..<end], as: UTF8.self) : ""
        case UInt8(ascii: "\\"): return escapedString(from: start)
        default: return nil
        }
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
        if next == UInt8(ascii: "-") { position += 1 }
        let digits = position
        var magnitude: Int64? = 0
        while let byte = next, isDigit(byte) {
            position += 1
            let (product, overflow) = (magnitude ?? 0).multipliedReportingOverflow(by: 10)
            let (sum, overflow2) = product.addingReportingOverflow(Int64(byte - 0x30))
            magnitude = overflow || overflow2 ? nil : magnitude.map { _ in sum }
        }
        // RFC 8259 §6: digits, without leading zeros.
        guard position > digits, position == digits + 1 || bytes[digits] != UInt8(ascii: "0") else { return nil }
        if let magnitude, next.map({ !isNumeric($0) }) ?? true {
            return .integer(digits > start ? -magnitude : magnitude)
        }
        while let byte = next, isNumeric(byte) { position += 1 }
        guard isDigit(bytes[position - 1]),
            let number = Double(String(decoding: bytes[start..<position], as: UTF8.self)),
            number.isFinite
        else { return nil }
        return .number(number)
    }

    private func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private func isNumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): true
        default: isDigit(byte)
        }
    }
}
