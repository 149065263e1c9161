/// Reads JSON text more strictly than Foundation: RFC 8259 with the rules of RFC 7493 (I-JSON).
///
/// No member name twice in one object, no half surrogates, no malformed UTF-8, at most 64 levels: two readers of what
/// this one accepts can't see different things in it.
struct JSONReader {
    private let bytes: [UInt8]
    private var position = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The object that is the whole of a text, or nil.
    static func object(_ bytes: [UInt8]) -> JSONObject? {
        var reader = JSONReader(bytes)
        guard let value = try? reader.value(depth: 0), case .object(let object) = value else { return nil }
        reader.skipSpace()
        return reader.position == bytes.count ? object : nil
    }

    private struct Malformed: Error {}

    private mutating func value(depth: Int) throws(Malformed) -> JSONValue {
        guard depth < 64 else { throw Malformed() }
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): return .object(try object(depth: depth))
        case UInt8(ascii: "["): return .array(try array(depth: depth))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func object(depth: Int) throws(Malformed) -> JSONObject {
        try expect(UInt8(ascii: "{"))
        var members: [JSONObject.Member] = []
        var names: Set<[UInt8]> = []  // bytes, for String takes canonically equivalent names for one
        skipSpace()
        guard !accept(UInt8(ascii: "}")) else { return JSONObject(members: []) }
        repeat {
            skipSpace()
            let name = try string()
            guard names.insert(Array(name.utf8)).inserted else { throw Malformed() }
            skipSpace()
            try expect(UInt8(ascii: ":"))
            skipSpace()
            let start = position
            let value = try value(depth: depth + 1)
            members.append(JSONObject.Member(name: name, value: value, text: bytes[start..<position]))
            skipSpace()
        } while accept(UInt8(ascii: ","))
        try expect(UInt8(ascii: "}"))
        return JSONObject(members: members)
    }

    private mutating func array(depth: Int) throws(Malformed) -> [JSONValue] {
        try expect(UInt8(ascii: "["))
        var values: [JSONValue] = []
        skipSpace()
        guard !accept(UInt8(ascii: "]")) else { return [] }
        repeat {
            values.append(try value(depth: depth + 1))
            skipSpace()
        } while accept(UInt8(ascii: ","))
        try expect(UInt8(ascii: "]"))
        return values
    }

    private mutating func string() throws(Malformed) -> String {
        try expect(UInt8(ascii: "\""))
        var text: [UInt8] = []
        while let byte = peek {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else { throw Malformed() }
                return string
            case UInt8(ascii: "\\"): text += Array(String(try escape()).utf8)
            case 0..<0x20: throw Malformed()
            default: text.append(byte)
            }
        }
        throw Malformed()
    }

    private mutating func escape() throws(Malformed) -> Unicode.Scalar {
        guard let byte = peek else { throw Malformed() }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            var code = try hexadecimal()
            if 0xd800..<0xdc00 ~= code {
                try expect(UInt8(ascii: "\\"))
                try expect(UInt8(ascii: "u"))
                let low = try hexadecimal()
                guard 0xdc00..<0xe000 ~= low else { throw Malformed() }
                code = 0x10000 + (code - 0xd800) << 10 + (low - 0xdc00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw Malformed() }  // a low surrogate alone
            return scalar
        default: throw Malformed()
        }
    }

    private mutating func hexadecimal() throws(Malformed) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw Malformed() }
            code = code << 4 | UInt32(digit)
            position += 1
        }
        return code
    }

    private mutating func number() throws(Malformed) -> String {
        let start = position
        _ = accept(UInt8(ascii: "-"))
        if !accept(UInt8(ascii: "0")) { try digits() }
        if accept(UInt8(ascii: ".")) { try digits() }
        if accept(UInt8(ascii: "e")) || accept(UInt8(ascii: "E")) {
            if !accept(UInt8(ascii: "+")) { _ = accept(UInt8(ascii: "-")) }
            try digits()
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func digits() throws(Malformed) {
        let start = position
        while let byte = peek, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte { position += 1 }
        guard position > start else { throw Malformed() }
    }

    private mutating func word(_ word: String, _ value: JSONValue) throws(Malformed) -> JSONValue {
        for byte in word.utf8 { try expect(byte) }
        return value
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func accept(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ byte: UInt8) throws(Malformed) {
        guard accept(byte) else { throw Malformed() }
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { position += 1 }
    }
}
