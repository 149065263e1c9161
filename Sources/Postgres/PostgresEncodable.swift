/// A value that can be bound to a statement, sent in the server's binary format.
package protocol PostgresEncodable: Sendable {
    /// The type that is sent to the server, also if the value is NULL.
    static var postgresType: PostgresType { get }

    /// Appends the value's binary form, unless it is NULL or refused.
    func encode(into bytes: inout [UInt8]) -> PostgresEncoding
}

/// The result of encoding one value.
package enum PostgresEncoding: Sendable {
    case value
    case null
    /// The server cannot store the value, such as text with a NUL byte: the statement is refused before it is sent.
    case refused
}

extension FixedWidthInteger {
    /// Appends the integer in network byte order.
    func appendBigEndian(to bytes: inout [UInt8]) {
        withUnsafeBytes(of: bigEndian) { bytes.append(contentsOf: $0) }
    }
}
