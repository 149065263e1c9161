package import struct Foundation.Date

extension String: PostgresEncodable {
    package static var postgresType: PostgresType { .text }

    package func encode(into bytes: inout [UInt8]) -> PostgresEncoding {
        guard !utf8.contains(0) else { return .refused }
        bytes.append(contentsOf: utf8)
        return .value
    }
}

extension Bool: PostgresEncodable {
    package static var postgresType: PostgresType { .bool }

    package func encode(into bytes: inout [UInt8]) -> PostgresEncoding {
        bytes.append(self ? 1 : 0)
        return .value
    }
}

extension Int: PostgresEncodable {
    package static var postgresType: PostgresType { .int8 }

    package func encode(into bytes: inout [UInt8]) -> PostgresEncoding {
        Int64(self).encode(into: &bytes)
    }
}

extension Int32: PostgresEncodable {
    package static var postgresType: PostgresType { .int4 }

    package func encode(into bytes: inout [UInt8]) -> PostgresEncoding {
        appendBigEndian(to: &bytes)
        return .value
    }
}

extension Int64: PostgresEncodable {
    package static var postgresType: PostgresType { .int8 }

    package func encode(into bytes: inout [UInt8]) -> PostgresEncoding {
        appendBigEndian(to: &bytes)
        return .value
    }
}

extension Double: PostgresEncodable {
    package static var postgresType: PostgresType { .float8 }

    package func encode(into bytes: inout [UInt8]) -> PostgresEncoding {
        bitPattern.appendBigEndian(to: &bytes)
        return .value
    }
}

/// `timestamptz`: whole microseconds since 2000-01-01, rounded to the nearest; the server refuses values out of its
/// range.
extension Date: PostgresEncodable {
    package static var postgresType: PostgresType { .timestamptz }

    /// 2000-01-01T00:00:00Z in seconds of `timeIntervalSinceReferenceDate`, whose zero is 2001-01-01.
    static let postgresEpoch = -31_622_400.0

    package func encode(into bytes: inout [UInt8]) -> PostgresEncoding {
        // Seconds and fraction are separate, because their sum would lose microseconds in a Double.
        let seconds = timeIntervalSinceReferenceDate.rounded(.down)
        let fraction = ((timeIntervalSinceReferenceDate - seconds) * 1_000_000).rounded()
        let whole = (seconds - Self.postgresEpoch) * 1_000_000
        guard let microseconds = Int64(exactly: whole), microseconds < .max - 1_000_000,
            let rest = Int64(exactly: fraction)
        else { return .refused }
        (microseconds + rest).appendBigEndian(to: &bytes)
        return .value
    }
}

/// Binds the wrapped value or NULL.
extension Optional: PostgresEncodable where Wrapped: PostgresEncodable {
    package static var postgresType: PostgresType { Wrapped.postgresType }

    package func encode(into bytes: inout [UInt8]) -> PostgresEncoding {
        guard let self else { return .null }
        return self.encode(into: &bytes)
    }
}
