package import struct Foundation.Date

/// `text` and similar types, and `json`; cast `jsonb` to text.
extension String: PostgresDecodable {
    package static func decode(_ bytes: RawSpan?, type: PostgresType) throws(PostgresError) -> String {
        guard let bytes else { throw .decoding("NULL") }
        switch type {
        case .text, .varchar, .bpchar, .name, .json:
            return bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        default: throw .decoding(type, as: Self.self)
        }
    }
}

extension Bool: PostgresDecodable {
    package static func decode(_ bytes: RawSpan?, type: PostgresType) throws(PostgresError) -> Bool {
        guard let bytes else { throw .decoding("NULL") }
        guard type == .bool else { throw .decoding(type, as: Self.self) }
        return try bytes.integer(UInt8.self) != 0
    }
}

extension Int: PostgresDecodable {
    package static func decode(_ bytes: RawSpan?, type: PostgresType) throws(PostgresError) -> Int {
        Int(try Int64.decode(bytes, type: type))
    }
}

/// `int8` and narrower types.
extension Int64: PostgresDecodable {
    package static func decode(_ bytes: RawSpan?, type: PostgresType) throws(PostgresError) -> Int64 {
        guard let bytes else { throw .decoding("NULL") }
        switch type {
        case .int8: return try bytes.integer(Int64.self)
        case .int4: return Int64(try bytes.integer(Int32.self))
        case .int2: return Int64(try bytes.integer(Int16.self))
        default: throw .decoding(type, as: Self.self)
        }
    }
}

extension Int32: PostgresDecodable {
    package static func decode(_ bytes: RawSpan?, type: PostgresType) throws(PostgresError) -> Int32 {
        guard let bytes else { throw .decoding("NULL") }
        switch type {
        case .int4: return try bytes.integer(Int32.self)
        case .int2: return Int32(try bytes.integer(Int16.self))
        default: throw .decoding(type, as: Self.self)
        }
    }
}

extension Double: PostgresDecodable {
    package static func decode(_ bytes: RawSpan?, type: PostgresType) throws(PostgresError) -> Double {
        guard let bytes else { throw .decoding("NULL") }
        switch type {
        case .float8: return Double(bitPattern: try bytes.integer(UInt64.self))
        case .float4: return Double(Float(bitPattern: try bytes.integer(UInt32.self)))
        default: throw .decoding(type, as: Self.self)
        }
    }
}

/// `timestamptz`; `infinity` is refused.
extension Date: PostgresDecodable {
    package static func decode(_ bytes: RawSpan?, type: PostgresType) throws(PostgresError) -> Date {
        guard let bytes else { throw .decoding("NULL") }
        guard type == .timestamptz else { throw .decoding(type, as: Self.self) }
        let microseconds = try bytes.integer(Int64.self)
        guard microseconds != .max, microseconds != .min else { throw .decoding("an infinite date") }
        return Date(timeIntervalSinceReferenceDate: Double(microseconds) / 1_000_000 + postgresEpoch)
    }
}

extension Optional: PostgresDecodable where Wrapped: PostgresDecodable {
    package static func decode(_ bytes: RawSpan?, type: PostgresType) throws(PostgresError) -> Wrapped? {
        guard let bytes else { return nil }
        return try Wrapped.decode(bytes, type: type)
    }
}
