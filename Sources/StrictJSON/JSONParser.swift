import Text

extension JSONValue {
    /// Parses one JSON text (RFC 8259), more strictly than most parsers.
    ///
    /// A repeated member, invalid UTF-8, a lone surrogate and a NUL are refused, because two parsers could read such a
    /// text differently (T-C11).
    ///
    /// - Parameter depth: the maximum nesting of arrays and objects.
    /// - Parameter allowsNUL: for texts in which one odd string must not invalidate the rest, such as a profile.
    package init(
        parsing bytes: some Sequence<UInt8>,
        depth: Int = 64,
        allowsNUL: Bool = false
    ) throws(JSONError) {
        var parser = JSONParser(bytes: Array(bytes), depth: depth, allowsNUL: allowsNUL)
        self = try parser.document()
    }

    package init(parsing text: String, depth: Int = 64, allowsNUL: Bool = false) throws(JSONError) {
        try self.init(parsing: text.utf8, depth: depth, allowsNUL: allowsNUL)
    }
}

private struct JSONParser {
    /// Up to this number of members, a scan finds a duplicate faster than a set.
    private static let scannedMembers = 16

    private let bytes: [UInt8]
    private let allowsNUL: Bool
    /// The number of levels that may still be opened.
    private var depth: Int
    private var at = 0

    init(bytes: [UInt8], depth: Int, allowsNUL: Bool) {
        self.bytes = bytes
        self.depth = depth
        self.allowsNUL = allowsNUL
    }

    mutating func document() throws(JSONError) -> JSONValue {
        skipSpace()
        let value = try value()
        skipSpace()
        guard at == bytes.count else { throw error(.unexpectedToken) }
        return value
    }

    private func error(_ reason: JSONError.Reason) -> JSONError { JSONError(reason, at: at) }

    /// An unexpected token, or the end of the text.
    private var unexpected: JSONError { error(current == nil ? .unexpectedEnd : .unexpectedToken) }

    private var current: UInt8? { at < bytes.count ? bytes[at] : nil }

    private mutating func skipSpace() {
        while let byte = current, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { at += 1 }
    }

    private mutating func value() throws(JSONError) -> JSONValue {
        switch current {
        case nil: throw error(.unexpectedEnd)
        case UInt8(ascii: "{"): return try nested { (reader) throws(JSONError) in try reader.object() }
        case UInt8(ascii: "["): return try nested { (reader) throws(JSONError) in try reader.array() }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func nested(
        _ body: (inout JSONParser) throws(JSONError) -> JSONValue
    ) throws(JSONError) -> JSONValue {
        guard depth > 0 else { throw error(.tooDeep) }
        depth -= 1
        at += 1
        skipSpace()
        let value = try body(&self)
        depth += 1
        return value
    }

    private mutating func object() throws(JSONError) -> JSONValue {
        var members: [JSONObject.Member] = []
        var names: Set<[UInt8]> = []  // bytes, for String takes canonically equivalent names for one
        if take("}") { return .object(JSONObject()) }
        while true {
            guard current == UInt8(ascii: "\"") else { throw unexpected }
            let start = at
            let name = try string()
            if members.count == Self.scannedMembers { names = Set(members.map { Array($0.name.utf8) }) }
            let known =
                members.count < Self.scannedMembers
                ? members.contains { $0.isNamed(name) } : !names.insert(Array(name.utf8)).inserted
            guard !known else { throw JSONError(.duplicateMember, at: start, duplicate: name) }
            skipSpace()
            guard take(":") else { throw unexpected }
            skipSpace()
            members.append(JSONObject.Member(name: name, value: try value()))
            skipSpace()
            if take("}") { return .object(JSONObject(members)) }
            guard take(",") else { throw unexpected }
            skipSpace()
        }
    }

    private mutating func array() throws(JSONError) -> JSONValue {
        var values: [JSONValue] = []
        if take("]") { return .array([]) }
        while true {
            values.append(try value())
            skipSpace()
            if take("]") { return .array(values) }
            guard take(",") else { throw unexpected }
            skipSpace()
        }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard current == UInt8(ascii: character) else { return false }
        at += 1
        return true
    }

    private mutating func word(_ text: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        for expected in text.description.utf8 {
            guard let byte = current else { throw error(.unexpectedEnd) }
            guard byte == expected else { throw error(.unexpectedToken) }
            at += 1
        }
        return value
    }

    private mutating func number() throws(JSONError) -> String {
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

    private mutating func digits() throws(JSONError) {
        let start = at
        while let byte = current, (0x30...0x39).contains(byte) { at += 1 }
        guard at > start else { throw unexpected }
    }

    private mutating func string() throws(JSONError) -> String {
        at += 1
        let start = at
        var seen: UInt8 = 0
        while let byte = current {
            switch byte {
            case UInt8(ascii: "\""):
                // ASCII is valid UTF-8.
                let text =
                    seen < 0x80
                    ? String(decoding: bytes[start..<at], as: UTF8.self)
                    : String(validating: bytes[start..<at], as: UTF8.self)
                guard let text else { throw error(.invalidText) }
                at += 1
                return text
            case UInt8(ascii: "\\"): return try escapedString(from: start)
            case 0..<0x20: throw error(byte == 0 ? .nul : .invalidText)
            default:
                seen |= byte
                at += 1
            }
        }
        throw error(.unexpectedEnd)
    }

    /// The slow path, from the first backslash on.
    private mutating func escapedString(from start: Int) throws(JSONError) -> String {
        var text = Array(bytes[start..<at])
        while let byte = current {
            at += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else { throw error(.invalidText) }
                return string
            case UInt8(ascii: "\\"): text.append(contentsOf: try escape().utf8)
            case 0..<0x20: throw error(byte == 0 ? .nul : .invalidText)
            default: text.append(byte)
            }
        }
        throw error(.unexpectedEnd)
    }

    private mutating func escape() throws(JSONError) -> Unicode.Scalar {
        guard let byte = current else { throw error(.unexpectedEnd) }
        at += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape()
        default: throw error(.invalidText)
        }
    }

    private mutating func unicodeEscape() throws(JSONError) -> Unicode.Scalar {
        let unit = try hexadecimal()
        guard unit != 0 || allowsNUL else { throw error(.nul) }
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard (0xd800..<0xdc00).contains(unit), take("\\"), take("u") else { throw error(.invalidText) }
        let low = try hexadecimal()
        guard (0xdc00..<0xe000).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (unit - 0xd800) << 10 + (low - 0xdc00))
        else { throw error(.invalidText) }
        return scalar
    }

    private mutating func hexadecimal() throws(JSONError) -> UInt32 {
        guard bytes.count - at >= 4 else { throw error(.unexpectedEnd) }
        var value: UInt32 = 0
        for byte in bytes[at..<at + 4] {
            guard let digit = byte.hexadecimalDigit else { throw error(.invalidText) }
            value = value << 4 | UInt32(digit)
        }
        at += 4
        return value
    }
}
