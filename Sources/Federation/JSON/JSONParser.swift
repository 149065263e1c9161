/// Why a text is no JSON that the service takes.
package enum JSONError: Error, Sendable, Hashable {
    case malformed, duplicateMember, tooDeep, invalidText
}

extension JSONValue {
    /// Reads exactly one value (RFC 8259): strict UTF-8, no byte order mark, no duplicate member, no lone surrogate.
    ///
    /// - Parameter depth: how deep arrays and objects may nest.
    package init(_ bytes: some Collection<UInt8>, depth: Int = 64) throws(JSONError) {
        let source = Array(bytes)
        guard source.isValidUTF8 else { throw .invalidText }
        var parser = JSONParser(source: source)
        self = try parser.document(depth: depth)
    }

    package init(_ text: String, depth: Int = 64) throws(JSONError) {
        try self.init(Array(text.utf8), depth: depth)
    }
}

private struct JSONParser {
    let source: [UInt8]
    var index = 0

    init(source: [UInt8]) { self.source = source }

    mutating func document(depth: Int) throws(JSONError) -> JSONValue {
        let result = try value(depth: depth)
        skipSpace()
        guard index == source.count else { throw .malformed }
        return result
    }

    private var next: UInt8? { index < source.count ? source[index] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 32 || byte == 9 || byte == 10 || byte == 13 { index += 1 }
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(JSONError) {
        guard next == UInt8(ascii: character) else { throw .malformed }
        index += 1
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return .object(try object(depth: depth))
        case UInt8(ascii: "["): return .array(try array(depth: depth))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func literal(_ word: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        for byte in word.description.utf8 {
            guard next == byte else { throw .malformed }
            index += 1
        }
        return value
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSONObject {
        guard depth > 0 else { throw .tooDeep }
        try expect("{")
        var object = JSONObject()
        var names: Set<[UInt8]> = []
        skipSpace()
        if next == UInt8(ascii: "}") {
            index += 1
            return object
        }
        while true {
            skipSpace()
            let name = try string()
            // By bytes: texts that Unicode calls equivalent are different names.
            guard names.insert(Array(name.utf8)).inserted else { throw .duplicateMember }
            skipSpace()
            try expect(":")
            object.append(name, try value(depth: depth - 1))
            skipSpace()
            guard next == UInt8(ascii: ",") else { break }
            index += 1
        }
        try expect("}")
        return object
    }

    private mutating func array(depth: Int) throws(JSONError) -> [JSONValue] {
        guard depth > 0 else { throw .tooDeep }
        try expect("[")
        var values: [JSONValue] = []
        skipSpace()
        if next == UInt8(ascii: "]") {
            index += 1
            return values
        }
        while true {
            values.append(try value(depth: depth - 1))
            skipSpace()
            guard next == UInt8(ascii: ",") else { break }
            index += 1
        }
        try expect("]")
        return values
    }

    private mutating func digits() throws(JSONError) {
        let start = index
        while let byte = next, (48...57).contains(byte) { index += 1 }
        guard index > start else { throw .malformed }
    }

    private mutating func number() throws(JSONError) -> String {
        let start = index
        if next == UInt8(ascii: "-") { index += 1 }
        let integerStart = index
        try digits()
        guard source[integerStart] != UInt8(ascii: "0") || index == integerStart + 1 else { throw .malformed }
        if next == UInt8(ascii: ".") {
            index += 1
            try digits()
        }
        if let byte = next, byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
            index += 1
            if let sign = next, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { index += 1 }
            try digits()
        }
        return String(decoding: source[start..<index], as: UTF8.self)
    }

    private mutating func string() throws(JSONError) -> String {
        try expect("\"")
        var bytes: [UInt8] = []
        while let byte = next {
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"): bytes.append(contentsOf: String(try escape()).utf8)
            case 0..<32: throw .malformed
            default: bytes.append(byte)
            }
        }
        throw .malformed
    }

    private mutating func escape() throws(JSONError) -> Unicode.Scalar {
        guard let byte = next else { throw .malformed }
        index += 1
        switch byte {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let first = try codeUnit()
            guard (0xd800...0xdbff).contains(first) else {
                guard let scalar = Unicode.Scalar(first) else { throw .invalidText }
                return scalar
            }
            guard next == UInt8(ascii: "\\") else { throw .invalidText }
            index += 1
            guard next == UInt8(ascii: "u") else { throw .invalidText }
            index += 1
            let second = try codeUnit()
            guard (0xdc00...0xdfff).contains(second),
                let scalar = Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))
            else { throw .invalidText }
            return scalar
        default: throw .malformed
        }
    }

    private mutating func codeUnit() throws(JSONError) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw .malformed }
            unit = unit << 4 | UInt32(digit)
            index += 1
        }
        return unit
    }
}

extension [UInt8] {
    /// Whether the bytes are UTF-8 without overlong forms or surrogates.
    var isValidUTF8: Bool { String(validating: self, as: UTF8.self) != nil }
}
