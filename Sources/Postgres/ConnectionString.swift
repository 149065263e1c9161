import CLibPQ

/// Operations on libpq connection strings, in both formats (PostgreSQL, chapter 34.1.1).
package enum ConnectionString {
    /// The keywords and values of a string, without those that libpq takes from elsewhere.
    ///
    /// - Throws: ``PostgresError`` with the code `unavailable` for a string that libpq cannot parse.
    package static func parse(_ text: String) throws(PostgresError) -> [(keyword: String, value: String)] {
        // libpq's own message would quote the string.
        guard !text.utf8.contains(0), let options = PQconninfoParse(text, nil) else {
            throw PostgresError(.unavailable, reason: "the connection string is malformed")
        }
        defer { PQconninfoFree(options) }
        var pairs: [(keyword: String, value: String)] = []
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val {
                pairs.append((String(cString: keyword), String(cString: value)))
            }
            option += 1
        }
        return pairs
    }

    /// The same connection string with another database.
    package static func replacingDatabase(in text: String, with database: String) throws(PostgresError) -> String {
        let pairs = try parse(text).filter { $0.keyword != "dbname" } + [("dbname", database)]
        return pairs.map { "\($0.keyword)='\(escape($0.value))'" }.joined(separator: " ")
    }

    private static func escape(_ value: String) -> String {
        String(value.flatMap { $0 == "'" || $0 == "\\" ? ["\\", $0] : [$0] })
    }
}
