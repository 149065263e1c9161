/// A statement whose interpolated values are bound as parameters.
///
///     let sql: SQL = "SELECT account FROM account_emails WHERE project = \(project) AND email_key = \(key)"
///
/// `\(raw:)` inserts constant text, `\(sql:)` inserts another statement with its values.
package struct SQL: ExpressibleByStringInterpolation, Sendable {
    /// The text with `$1`, `$2` and so on.
    package private(set) var text: String
    private(set) var parameters = Parameters()
    /// The positions of the placeholders in the text's UTF-8, with their lengths.
    private var placeholders: [Range<Int>] = []

    /// The values of a statement, packed into one buffer.
    struct Parameters: Sendable {
        struct Parameter: Sendable {
            let type: PostgresType
            let offset: Int
            /// Nil for NULL.
            let length: Int?
        }

        var list: [Parameter] = []
        var bytes: [UInt8] = []
        /// Whether a value was given that the server cannot store.
        var isRefused = false

        mutating func append<T: PostgresEncodable>(_ value: T) {
            let offset = bytes.count
            switch value.encode(into: &bytes) {
            case .value: list.append(Parameter(type: T.postgresType, offset: offset, length: bytes.count - offset))
            case .null: list.append(Parameter(type: T.postgresType, offset: offset, length: nil))
            case .refused:
                isRefused = true
                bytes.removeSubrange(offset...)
                list.append(Parameter(type: T.postgresType, offset: offset, length: nil))
            }
        }

        mutating func append(_ other: Parameters) {
            let base = bytes.count
            bytes += other.bytes
            list += other.list.map { Parameter(type: $0.type, offset: $0.offset + base, length: $0.length) }
            isRefused = isRefused || other.isRefused
        }
    }

    package init(stringLiteral value: StaticString) {
        text = value.description
    }

    package init(stringInterpolation: StringInterpolation) {
        self = stringInterpolation.sql
    }

    package static func list(_ parts: [SQL], _ separator: SQL = ", ") -> SQL {
        var list = SQL(text: "")
        for (index, part) in parts.enumerated() {
            if index > 0 { list.append(separator) }
            list.append(part)
        }
        return list
    }

    init(text: String) { self.text = text }

    /// - Throws: ``PostgresError/Code/invalidParameter`` for what cannot be sent.
    func check() throws(PostgresError) {
        guard !parameters.isRefused else {
            throw PostgresError(.invalidParameter, reason: "a value that the server cannot hold")
        }
        guard parameters.list.count <= Int(UInt16.max) else {
            throw PostgresError(.invalidParameter, reason: "too many values")
        }
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var sql: SQL

        package init(literalCapacity: Int, interpolationCount: Int) {
            var text = ""
            text.reserveCapacity(literalCapacity + interpolationCount * 3)
            sql = SQL(text: text)
        }

        package mutating func appendLiteral(_ literal: StaticString) {
            sql.text += literal.description
        }

        /// Binds a value.
        package mutating func appendInterpolation<T: PostgresEncodable>(_ value: T) {
            sql.parameters.append(value)
            sql.appendPlaceholder(sql.parameters.list.count)
        }

        /// Binds a value or NULL; without this overload, the compiler reports an optional as a mistake.
        package mutating func appendInterpolation<T: PostgresEncodable>(_ value: T?) {
            sql.parameters.append(value)
            sql.appendPlaceholder(sql.parameters.list.count)
        }

        /// Inserts text from the source code.
        package mutating func appendInterpolation(raw text: StaticString) {
            sql.text += text.description
        }

        /// Inserts a quoted name of a table, database or role.
        package mutating func appendInterpolation(identifier name: String) {
            if name.utf8.contains(0) { sql.parameters.isRefused = true }
            sql.text += "\"\(name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\""
        }

        /// Inserts a number where no value can be bound.
        package mutating func appendInterpolation(literal number: Int64) {
            sql.text += String(number)
        }

        /// Inserts a statement and its values.
        package mutating func appendInterpolation(sql other: SQL) {
            sql.append(other)
        }
    }

    private mutating func appendPlaceholder(_ number: Int) {
        let start = text.utf8.count
        text += "$\(number)"
        placeholders.append(start..<text.utf8.count)
    }

    private mutating func append(_ other: SQL) {
        let first = parameters.list.count
        parameters.append(other.parameters)
        let utf8 = other.text.utf8
        var position = utf8.startIndex
        for (index, placeholder) in other.placeholders.enumerated() {
            let start = utf8.index(utf8.startIndex, offsetBy: placeholder.lowerBound)
            text += other.text[position..<start]
            appendPlaceholder(first + index + 1)
            position = utf8.index(utf8.startIndex, offsetBy: placeholder.upperBound)
        }
        text += other.text[position...]
    }
}

extension SQL: CustomStringConvertible {
    /// The text without the values.
    package var description: String { text }
}
