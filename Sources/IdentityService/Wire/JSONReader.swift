package import NIOCore

/// Reads one JSON text (RFC 8259), stricter than most: a member named twice, bad UTF-8, a lone surrogate, a NUL and
/// more than 32 levels are refused, because two readers that differ over such a text would see two requests (T-C11).
package struct JSONReader {
    package enum Fault: Error, Hashable {
        case unexpectedEnd
        case unexpectedToken
        case invalidText
        case nul
        case tooDeep
        case duplicateName(String)

        /// What production says, where it says something.
        package var description: String {
            switch self {
            case .unexpectedEnd: "Invalid JSON payload received. Unexpected end of string."
            case .unexpectedToken: "Invalid JSON payload received. Unexpected token."
            case .invalidText: "Invalid JSON payload received. Invalid UTF-8 or escape in a string."
            case .nul: "Invalid JSON payload received. A string holds the character U+0000."
            case .tooDeep: "Invalid JSON payload received. Message too deep. Max recursion depth reached."
            case .duplicateName(let name): "Invalid JSON payload received. Duplicate name \"\(name)\"."
            }
        }
    }

    private static let maximumDepth = 32
    /// Up to this many members a scan finds a duplicate faster than a set.
    private static let scannedMembers = 16

    private let bytes: ByteBufferView
    private var at: Int
    private var depth = 0

    private init(_ bytes: ByteBufferView) {
        self.bytes = bytes
        self.at = bytes.startIndex
    }

    package static func read(_ buffer: ByteBuffer) throws(Fault) -> WireValue {
        var reader = JSONReader(buffer.readableBytesView)
        reader.skipSpace()
        let value = try reader.value()
        reader.skipSpace()
        guard reader.at == reader.bytes.endIndex else { throw .unexpectedToken }
        return value
    }

    package static func read(_ text: String) throws(Fault) -> WireValue {
        try read(ByteBuffer(string: text))
    }

    private var current: UInt8? { at < bytes.endIndex ? bytes[at] : nil }

    private mutating func skipSpace() {
        while let byte = current, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { at += 1 }
    }

    private mutating func value() throws(Fault) -> WireValue {
        switch current {
        case nil: throw .unexpectedEnd
        case UInt8(ascii: "{"): return try nested { (reader) throws(Fault) in try reader.object() }
        case UInt8(ascii: "["): return try nested { (reader) throws(Fault) in try reader.array() }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func nested(_ body: (inout JSONReader) throws(Fault) -> WireValue) throws(Fault) -> WireValue {
        depth += 1
        guard depth <= Self.maximumDepth else { throw .tooDeep }
        at += 1
        skipSpace()
        let value = try body(&self)
        depth -= 1
        return value
    }

    private mutating func object() throws(Fault) -> WireValue {
        var members: [WireValue.Member] = []
        var names: Set<String> = []
        if take("}") { return .object([]) }
        while true {
            guard current == UInt8(ascii: "\"") else { throw current == nil ? .unexpectedEnd : .unexpectedToken }
            let name = try string()
            if members.count == Self.scannedMembers { names = Set(members.map(\.name)) }
            let known =
                members.count < Self.scannedMembers
                ? members.contains { $0.name == name } : !names.insert(name).inserted
            guard !known else { throw .duplicateName(name) }
            skipSpace()
            guard take(":") else { throw current == nil ? .unexpectedEnd : .unexpectedToken }
            skipSpace()
            members.append(WireValue.Member(name: name, value: try value()))
            skipSpace()
            if take("}") { return .object(members) }
            guard take(",") else { throw current == nil ? .unexpectedEnd : .unexpectedToken }
            skipSpace()
        }
    }

    private mutating func array() throws(Fault) -> WireValue {
        var values: [WireValue] = []
        if take("]") { return .array([]) }
        while true {
            values.append(try value())
            skipSpace()
            if take("]") { return .array(values) }
            guard take(",") else { throw current == nil ? .unexpectedEnd : .unexpectedToken }
            skipSpace()
        }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard current == UInt8(ascii: character) else { return false }
        at += 1
        return true
    }

    private mutating func word(_ text: StaticString, _ value: WireValue) throws(Fault) -> WireValue {
        for expected in text.description.utf8 {
            guard let byte = current else { throw .unexpectedEnd }
            guard byte == expected else { throw .unexpectedToken }
            at += 1
        }
        return value
    }

    private mutating func number() throws(Fault) -> String {
        let start = at
        if current == UInt8(ascii: "-") { at += 1 }
        if current == UInt8(ascii: "0") { at += 1 } else { try digits() }
        if current == UInt8(ascii: ".") {
            at += 1
            try digits()
        }
        if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
            at += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { at += 1 }
            try digits()
        }
        return String(decoding: bytes[start..<at], as: UTF8.self)
    }

    private mutating func digits() throws(Fault) {
        let start = at
        while let byte = current, (0x30...0x39).contains(byte) { at += 1 }
        guard at > start else { throw current == nil ? .unexpectedEnd : .unexpectedToken }
    }

    private mutating func string() throws(Fault) -> String {
        at += 1
        let start = at
        while let byte = current {
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: bytes[start..<at], as: UTF8.self) else { throw .invalidText }
                at += 1
                return text
            case UInt8(ascii: "\\"): return try escapedString(from: start)
            case 0..<0x20: throw byte == 0 ? .nul : .invalidText
            default: at += 1
            }
        }
        throw .unexpectedEnd
    }

    /// The slow way, from the first backslash on.
    private mutating func escapedString(from start: Int) throws(Fault) -> String {
        var text = Array(bytes[start..<at])
        while let byte = current {
            at += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else { throw .invalidText }
                return string
            case UInt8(ascii: "\\"): text.append(contentsOf: try escape().utf8)
            case 0..<0x20: throw byte == 0 ? .nul : .invalidText
            default: text.append(byte)
            }
        }
        throw .unexpectedEnd
    }

    private mutating func escape() throws(Fault) -> Unicode.Scalar {
        guard let byte = current else { throw .unexpectedEnd }
        at += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape()
        default: throw .invalidText
        }
    }

    private mutating func unicodeEscape() throws(Fault) -> Unicode.Scalar {
        let unit = try hexadecimal()
        guard unit != 0 else { throw .nul }
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard (0xd800..<0xdc00).contains(unit), take("\\"), take("u") else { throw .invalidText }
        let low = try hexadecimal()
        guard (0xdc00..<0xe000).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (unit - 0xd800) << 10 + (low - 0xdc00))
        else { throw .invalidText }
        return scalar
    }

    private mutating func hexadecimal() throws(Fault) -> UInt32 {
        guard bytes.distance(from: at, to: bytes.endIndex) >= 4 else { throw .unexpectedEnd }
        var value: UInt32 = 0
        for byte in bytes[at..<at + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw .invalidText }
            value = value << 4 | UInt32(digit)
        }
        at += 4
        return value
    }
}
