import CLibPQ

/// One row of a result, read column by column from the left; valid only inside the decode closure.
package struct PostgresRow: ~Copyable {
    private let result: OpaquePointer
    private let row: Int32
    private let columns: Int32
    private var column: Int32 = 0

    init(result: OpaquePointer, row: Int32, columns: Int32) {
        self.result = result
        self.row = row
        self.columns = columns
    }

    /// Reads the next column.
    ///
    /// - Throws: ``PostgresError`` with the code `decoding` for a NULL that the type does not allow, another type, or
    ///   past the last column.
    package mutating func next<T: PostgresDecodable>(_: T.Type = T.self) throws(PostgresError) -> T {
        guard column < columns else { throw .decoding("no column \(column + 1)") }
        defer { column += 1 }
        let type = PostgresType(rawValue: PQftype(result, column))
        do {
            guard PQgetisnull(result, row, column) == 0, let start = PQgetvalue(result, row, column) else {
                return try T.decode(nil, type: type)
            }
            let bytes = UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(result, row, column)))
            return try T.decode(bytes.bytes, type: type)
        } catch {
            throw .decoding("column \(column + 1): \(error.reason ?? "unreadable")")
        }
    }
}
