package import NIOCore
package import StrictJSON

/// Writes the JSON of responses, with members in the order of the calls.
///
/// A nil value omits its member: responses contain no `null`, and SDKs test for the presence of a name.
package struct JSONWriter: Sendable {
    private var json: JSONText

    package static let contentType = "application/json; charset=utf-8"

    package init(capacity: Int = 512) { json = JSONText(capacity: capacity) }

    package var bytes: ByteBuffer { ByteBuffer(bytes: json.bytes) }
    package var text: String { json.text }

    // MARK: Values

    package mutating func object(_ body: (inout JSONWriter) throws -> Void) rethrows {
        json.openObject()
        try body(&self)
        json.closeObject()
    }

    package mutating func array(_ body: (inout JSONWriter) throws -> Void) rethrows {
        json.openArray()
        try body(&self)
        json.closeArray()
    }

    package mutating func string(_ text: String) { json.string(text) }

    package mutating func value(_ value: JSONValue) { json.value(value) }

    /// Text that is already JSON.
    package mutating func raw(_ text: String) { json.raw(text) }

    // MARK: Members

    package mutating func member(_ name: String, _ value: String?) {
        if let value { json.member(name, value) }
    }

    package mutating func member(_ name: String, _ value: Bool?) {
        if let value { json.member(name, value) }
    }

    /// A flag that is only written if true.
    package mutating func member(_ name: String, ifTrue value: Bool) {
        if value { member(name, value) }
    }

    package mutating func member(_ name: String, number value: Int64?) {
        if let value { json.member(name, value) }
    }

    /// A 64-bit integer in protobuf's JSON format: a string of digits.
    package mutating func member(_ name: String, int64 value: Int64?) {
        guard let value else { return }
        member(name, String(value))
    }

    package mutating func member(_ name: String, strings values: [String]?) {
        if let values { json.member(name, values) }
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

    package mutating func name(_ name: String) { json.name(name) }
}
