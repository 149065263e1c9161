/// Writes JSON directly to bytes, without white space; members appear in the order in which they are written.
package struct JSONText: Sendable {
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    package init(capacity: Int = 256) { bytes.reserveCapacity(capacity) }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    // MARK: Values

    package mutating func openObject() { open("{") }
    package mutating func closeObject() { close("}") }
    package mutating func openArray() { open("[") }
    package mutating func closeArray() { close("]") }

    package mutating func string(_ text: String) {
        separate()
        quote(text)
    }

    package mutating func value(_ value: JSONValue) {
        switch value {
        case .null: raw("null")
        case .bool(let flag): raw(flag ? "true" : "false")
        case .number(let digits): raw(digits)
        case .string(let text): string(text)
        case .array(let values):
            openArray()
            for value in values { self.value(value) }
            closeArray()
        case .object(let object):
            openObject()
            for member in object.members { self.member(member.name, member.value) }
            closeObject()
        }
    }

    /// Text that is already JSON.
    package mutating func raw(_ json: String) {
        separate()
        bytes += json.utf8
    }

    // MARK: Members

    /// The name of the next value.
    package mutating func name(_ name: String) {
        separate()
        quote(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    package mutating func member(_ name: String, _ value: String) {
        self.name(name)
        string(value)
    }

    package mutating func member(_ name: String, _ value: Int64) {
        self.name(name)
        raw(String(value))
    }

    package mutating func member(_ name: String, _ value: Bool) {
        self.name(name)
        raw(value ? "true" : "false")
    }

    package mutating func member(_ name: String, _ values: [String]) {
        self.name(name)
        openArray()
        for value in values { string(value) }
        closeArray()
    }

    package mutating func member(_ name: String, _ value: JSONValue) {
        self.name(name)
        self.value(value)
    }

    package mutating func openObject(_ name: String) {
        self.name(name)
        openObject()
    }

    // MARK: Text

    private mutating func open(_ bracket: Unicode.Scalar) {
        separate()
        bytes.append(UInt8(ascii: bracket))
        needsComma = false
    }

    private mutating func close(_ bracket: Unicode.Scalar) {
        bytes.append(UInt8(ascii: bracket))
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    /// Without an early exit and without `||`, so that it is vectorized.
    private static func needsEscapes(_ text: Span<UInt8>) -> Bool {
        var found: UInt8 = 0
        for index in text.indices {
            let byte = text[index]
            found |= (byte < 0x20 ? 1 : 0) | (byte == UInt8(ascii: "\"") ? 1 : 0) | (byte == UInt8(ascii: "\\") ? 1 : 0)
        }
        return found != 0
    }

    private mutating func quote(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        defer { bytes.append(UInt8(ascii: "\"")) }
        let start = bytes.count
        bytes.append(contentsOf: text.utf8)
        guard Self.needsEscapes(bytes.span.extracting(start...)) else { return }
        bytes.removeSubrange(start...)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case UInt8(ascii: "\n"): bytes += "\\n".utf8
            case UInt8(ascii: "\r"): bytes += "\\r".utf8
            case UInt8(ascii: "\t"): bytes += "\\t".utf8
            case 0..<0x20:
                let digits = Array("0123456789abcdef".utf8)
                bytes += "\\u00".utf8
                bytes += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            default: bytes.append(byte)
            }
        }
    }
}

extension JSONObject {
    package var jsonText: String { JSONValue.object(self).jsonText }
}

extension JSONValue {
    /// JSON without white space, with members in their order.
    package var jsonText: String {
        var json = JSONText()
        json.value(self)
        return json.text
    }
}
