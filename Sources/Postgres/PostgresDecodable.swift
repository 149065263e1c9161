/// A value that can be read from a column in the server's binary format.
package protocol PostgresDecodable: Sendable {
    /// Reads one column.
    ///
    /// - Parameters:
    ///   - bytes: nil for NULL.
    ///   - type: the column's type according to the server.
    /// - Throws: ``PostgresError`` with the code `decoding` if the column has another type or value.
    static func decode(_ bytes: RawSpan?, type: PostgresType) throws(PostgresError) -> Self
}

extension RawSpan {
    /// The integer in network byte order that starts at an offset.
    func integer<T: FixedWidthInteger & BitwiseCopyable>(_: T.Type, at offset: Int) throws(PostgresError) -> T {
        guard offset + MemoryLayout<T>.size <= byteCount else { throw .decoding("a value cut short") }
        return T(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: T.self))
    }

    /// The span as one integer in network byte order, of exactly its size.
    func integer<T: FixedWidthInteger & BitwiseCopyable>(_: T.Type) throws(PostgresError) -> T {
        guard byteCount == MemoryLayout<T>.size else { throw .decoding("a value of another size") }
        return T(bigEndian: unsafeLoadUnaligned(as: T.self))
    }
}
