package import struct Foundation.Date

/// An element whose array can be bound or read: one dimension, or `bytea` for `[UInt8]`.
package protocol PostgresElement: Sendable {
    /// The type of an array of such elements.
    static var postgresArrayType: PostgresType { get }

    static func encode(_ array: [Self], into bytes: inout [UInt8]) -> PostgresEncoding

    static func decode(array bytes: RawSpan) throws(PostgresError) -> [Self]
}

extension PostgresElement where Self: PostgresEncodable {
    /// Writes the server's array format: dimensions, NULL flag, element type, then length, lower bound and elements.
    package static func encode(_ array: [Self], into bytes: inout [UInt8]) -> PostgresEncoding {
        Int32(array.isEmpty ? 0 : 1).appendBigEndian(to: &bytes)
        // The server ignores the flag and reads the elements.
        Int32(0).appendBigEndian(to: &bytes)
        postgresType.rawValue.appendBigEndian(to: &bytes)
        guard !array.isEmpty else { return .value }
        Int32(array.count).appendBigEndian(to: &bytes)
        Int32(1).appendBigEndian(to: &bytes)
        for element in array {
            let lengthAt = bytes.count
            Int32(-1).appendBigEndian(to: &bytes)
            switch element.encode(into: &bytes) {
            case .refused: return .refused
            case .null: continue
            case .value:
                let length = Int32(truncatingIfNeeded: bytes.count - lengthAt - 4)
                withUnsafeBytes(of: length.bigEndian) { bytes.replaceSubrange(lengthAt..<lengthAt + 4, with: $0) }
            }
        }
        return .value
    }
}

extension PostgresElement where Self: PostgresDecodable {
    package static func decode(array bytes: RawSpan) throws(PostgresError) -> [Self] {
        let dimensions = try bytes.integer(Int32.self, at: 0)
        let type = PostgresType(rawValue: try bytes.integer(UInt32.self, at: 8))
        guard dimensions != 0 else { return [] }
        guard dimensions == 1 else { throw .decoding("an array of several dimensions") }
        let count = try bytes.integer(Int32.self, at: 12)
        guard count >= 0, Int(count) <= bytes.byteCount / 4 else { throw .decoding("a malformed array") }
        var array: [Self] = []
        array.reserveCapacity(Int(count))
        var offset = 20
        for _ in 0..<count {
            let length = Int(try bytes.integer(Int32.self, at: offset))
            offset += 4
            guard length >= 0 else {
                array.append(try decode(nil, type: type))
                continue
            }
            guard offset + length <= bytes.byteCount else { throw .decoding("a malformed array") }
            array.append(try decode(bytes.extracting(offset..<offset + length), type: type))
            offset += length
        }
        return array
    }
}

extension String: PostgresElement {
    package static var postgresArrayType: PostgresType { .textArray }
}

extension Bool: PostgresElement {
    package static var postgresArrayType: PostgresType { .boolArray }
}

extension Int: PostgresElement {
    package static var postgresArrayType: PostgresType { .int8Array }
}

extension Int32: PostgresElement {
    package static var postgresArrayType: PostgresType { .int4Array }
}

extension Int64: PostgresElement {
    package static var postgresArrayType: PostgresType { .int8Array }
}

extension Double: PostgresElement {
    package static var postgresArrayType: PostgresType { .float8Array }
}

extension Date: PostgresElement {
    package static var postgresArrayType: PostgresType { .timestamptzArray }
}

/// `bytea[]`.
extension Array: PostgresElement where Element == UInt8 {
    package static var postgresArrayType: PostgresType { .byteaArray }
}

/// An array with NULL among its elements.
extension Optional: PostgresElement where Wrapped: PostgresElement & PostgresEncodable & PostgresDecodable {
    package static var postgresArrayType: PostgresType { Wrapped.postgresArrayType }
}

/// For the server, `[UInt8]` is `bytea`, not an array.
extension UInt8: PostgresElement {
    package static var postgresArrayType: PostgresType { .bytea }

    package static func encode(_ array: [UInt8], into bytes: inout [UInt8]) -> PostgresEncoding {
        bytes.append(contentsOf: array)
        return .value
    }

    package static func decode(array bytes: RawSpan) throws(PostgresError) -> [UInt8] {
        bytes.withUnsafeBytes { [UInt8]($0) }
    }
}

extension Array: PostgresEncodable where Element: PostgresElement {
    package static var postgresType: PostgresType { Element.postgresArrayType }

    package func encode(into bytes: inout [UInt8]) -> PostgresEncoding {
        Element.encode(self, into: &bytes)
    }
}

extension Array: PostgresDecodable where Element: PostgresElement {
    package static func decode(_ bytes: RawSpan?, type: PostgresType) throws(PostgresError) -> Self {
        guard let bytes else { throw .decoding("NULL") }
        guard type == Element.postgresArrayType else { throw .decoding(type, as: Self.self) }
        return try Element.decode(array: bytes)
    }
}
