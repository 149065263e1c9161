import CLibPQ

/// A result of libpq, freed with its owner.
final class QueryResult {
    private let raw: OpaquePointer

    init(_ raw: OpaquePointer) { self.raw = raw }

    deinit { PQclear(raw) }

    var isFailure: Bool {
        switch PQresultStatus(raw) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY, PGRES_PIPELINE_SYNC: false
        default: true
        }
    }

    var isCopy: Bool {
        switch PQresultStatus(raw) {
        case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH: true
        default: false
        }
    }

    /// Whether the statement was not run because one before it failed.
    private var isSkipped: Bool { PQresultStatus(raw) == PGRES_PIPELINE_ABORTED }

    /// Whether everything that was sent together has been answered, and its transaction has ended.
    var isEndOfPipeline: Bool { PQresultStatus(raw) == PGRES_PIPELINE_SYNC }

    var commandTag: String { String(cString: PQcmdStatus(raw)) }

    var affectedRows: Int { Int(String(cString: PQcmdTuples(raw))) ?? 0 }

    func rows<T>(_ decode: (inout PostgresRow) throws -> T) throws -> [T] {
        var rows: [T] = []
        rows.reserveCapacity(Int(PQntuples(raw)))
        try forEachRow { rows.append(try decode(&$0)) }
        return rows
    }

    func rows<T>(into initial: T, _ add: (inout T, inout PostgresRow) throws -> Void) throws -> T {
        var value = initial
        try forEachRow { try add(&value, &$0) }
        return value
    }

    private func forEachRow(_ body: (inout PostgresRow) throws -> Void) throws {
        let columns = PQnfields(raw)
        for index in 0..<PQntuples(raw) {
            var row = PostgresRow(result: raw, row: index, columns: columns)
            try body(&row)
        }
    }

    /// The server's error, if there is one.
    var error: PostgresError? {
        guard isFailure else { return nil }
        guard !isSkipped else { return PostgresError(.server, sqlState: "25P02") }
        // PG_DIAG_SQLSTATE and PG_DIAG_CONSTRAINT_NAME, which are characters in C.
        let state = field("C")
        var error = PostgresError(.init(sqlState: state), sqlState: state, constraint: field("n"))
        error.serverMessage = String(cString: PQresultErrorMessage(raw))
        // Class 42: syntax errors, unknown names, missing rights. PG_DIAG_MESSAGE_PRIMARY.
        if let state, state.hasPrefix("42") { error.mistake = field("M") }
        return error
    }

    private func field(_ code: UnicodeScalar) -> String? {
        PQresultErrorField(raw, Int32(code.value)).map { String(cString: $0) }
    }
}

extension PostgresError.Code {
    /// Classifies SQLSTATEs (PostgreSQL, appendix A).
    init(sqlState: String?) {
        switch sqlState {
        // Nothing came from the server: libpq itself noticed the end of the connection.
        case nil: self = .connectionLost
        // The session was terminated, the server is stopping, or it is read-only.
        case "57P01", "57P02", "57P03", "57P05", "25P03", "25006": self = .connectionLost
        case let state? where state.hasPrefix("08"): self = .connectionLost
        // statement_timeout or a cancel request; lock_timeout.
        case "57014", "55P03": self = .timeout
        default: self = .server
        }
    }
}
