package import NIOCore

/// Writes JSON straight into a buffer, members in the order of the calls.
///
/// A nil value leaves its member out: this wire has no `null` in answers, and SDKs test for the presence of a name.
package struct JSONWriter: Sendable {
    private var buffer: ByteBuffer
    private var needsComma = false

    package static let contentType = "application/json; charset=utf-8"

    package init(capacity: Int = 512) {
        self.buffer = ByteBufferAllocator().buffer(capacity: capacity)
    }

    package var bytes: ByteBuffer { buffer }
    package var text: String { String(buffer: buffer) }

    // MARK: Values

    package mutating func object(_ body: (inout JSONWriter) throws -> Void) rethrows {
        separate()
        buffer.writeInteger(UInt8(ascii: "{"))
        needsComma = false
        try body(&self)
        buffer.writeInteger(UInt8(ascii: "}"))
        needsComma = true
    }

    package mutating func array(_ body: (inout JSONWriter) throws -> Void) rethrows {
        separate()
        buffer.writeInteger(UInt8(ascii: "["))
        needsComma = false
        try body(&self)
        buffer.writeInteger(UInt8(ascii: "]"))
        needsComma = true
    }

    package mutating func string(_ text: String) {
        separate()
        quote(text)
    }

    package mutating func value(_ value: WireValue) {
        switch value {
        case .null: raw("null")
        case .bool(let flag): raw(flag ? "true" : "false")
        case .number(let digits): raw(digits)
        case .string(let text): string(text)
        case .array(let values): array { json in values.forEach { json.value($0) } }
        case .object(let members):
            object { json in
                for member in members {
                    json.name(member.name)
                    json.value(member.value)
                }
            }
        }
    }

    /// Text that is JSON already.
    package mutating func raw(_ json: String) {
        separate()
        buffer.writeString(json)
    }

    // MARK: Members

    package mutating func member(_ name: String, _ value: String?) {
        guard let value else { return }
        self.name(name)
        string(value)
    }

    package mutating func member(_ name: String, _ value: Bool?) {
        guard let value else { return }
        self.name(name)
        raw(value ? "true" : "false")
    }

    /// A flag that is named only when it is true.
    package mutating func member(_ name: String, ifTrue value: Bool) {
        if value { member(name, value) }
    }

    package mutating func member(_ name: String, number value: Int64?) {
        guard let value else { return }
        self.name(name)
        raw(String(value))
    }

    /// A 64-bit integer as protobuf's JSON writes it: a string of digits.
    package mutating func member(_ name: String, int64 value: Int64?) {
        guard let value else { return }
        member(name, String(value))
    }

    package mutating func member(_ name: String, strings values: [String]?) {
        guard let values else { return }
        self.name(name)
        array { json in values.forEach { json.string($0) } }
    }

    package mutating func object(_ name: String, _ body: (inout JSONWriter) throws -> Void) rethrows {
        self.name(name)
        try object(body)
    }

    package mutating func array(_ name: String, _ body: (inout JSONWriter) throws -> Void) rethrows {
        self.name(name)
        try array(body)
    }

    package mutating func member(_ name: String, json text: String?) {
        guard let text else { return }
        self.name(name)
        raw(text)
    }

    package mutating func name(_ name: String) {
        separate()
        quote(name)
        buffer.writeInteger(UInt8(ascii: ":"))
        needsComma = false
    }

    // MARK: Text

    private mutating func separate() {
        if needsComma { buffer.writeInteger(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func quote(_ text: String) {
        buffer.writeInteger(UInt8(ascii: "\""))
        var rest = text.utf8[...]
        while let special = rest.firstIndex(where: Self.isEscaped) {
            buffer.writeBytes(rest[..<special])
            escape(rest[special])
            rest = rest[rest.index(after: special)...]
        }
        buffer.writeBytes(rest)
        buffer.writeInteger(UInt8(ascii: "\""))
    }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): buffer.writeString("\\\"")
        case UInt8(ascii: "\\"): buffer.writeString("\\\\")
        case 0x0a: buffer.writeString("\\n")
        case 0x0d: buffer.writeString("\\r")
        case 0x09: buffer.writeString("\\t")
        default:
            let digits = Array("0123456789abcdef".utf8)
            buffer.writeString("\\u00")
            buffer.writeInteger(digits[Int(byte >> 4)])
            buffer.writeInteger(digits[Int(byte & 15)])
        }
    }
}
