/// Why a statement failed, safe for logs.
///
/// The server's own message can quote a user's value, so the description omits it; `serverMessage` contains it.
package struct PostgresError: Error, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
    /// The kind of error; the set is open.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case connectionLost, unavailable, timeout, cancelled, overloaded, server, decoding, invalidParameter
            case transactionEnded
        }
        private let value: Value

        /// The connection broke during the statement, or the server is read-only (25006): the statement may or may not
        /// have run.
        package static let connectionLost = Self(value: .connectionLost)
        /// No connection could be opened, or the client is closed: the statement was never sent.
        package static let unavailable = Self(value: .unavailable)
        /// The statement, or its wait for a lock, took longer than allowed.
        package static let timeout = Self(value: .timeout)
        /// The task was cancelled.
        package static let cancelled = Self(value: .cancelled)
        /// Too many statements are waiting: the statement was never sent.
        package static let overloaded = Self(value: .overloaded)
        /// The server refused the statement; see `sqlState`.
        package static let server = Self(value: .server)
        /// A column does not contain the expected type or value.
        package static let decoding = Self(value: .decoding)
        /// A parameter cannot be represented on the server, such as text with a NUL byte: the statement was never sent.
        package static let invalidParameter = Self(value: .invalidParameter)
        /// The transaction was used after its end, or was rolled back because it was idle.
        package static let transactionEnded = Self(value: .transactionEnded)

        package var description: String { value.rawValue }
    }

    package var code: Code
    /// The five characters of SQLSTATE, if the server sent one.
    package var sqlState: String?
    /// The constraint that was violated.
    package var constraint: String?
    /// A constant text of ours, never a value.
    var reason: String?
    /// The message of the server or libpq: it may quote a user's values and must not be logged.
    package internal(set) var serverMessage: String?
    /// Its first line, if the error is in the statement's own text, which contains no values.
    var mistake: String?
    /// Whether the same statement would succeed if repeated, because the server only refused a cached plan.
    var isStalePlan = false
    /// Whether a connection was lost before its first statement.
    var wasConnected = false
    /// Whether the statement had succeeded before the error, so that it may have been committed.
    var mayHaveRun = false

    /// - Parameter reason: a constant text, never a value.
    package init(_ code: Code, sqlState: String? = nil, constraint: String? = nil, reason: String? = nil) {
        self.code = code
        self.sqlState = sqlState
        self.constraint = constraint
        self.reason = reason
    }

    package var description: String {
        var words = ["PostgreSQL: \(code)"]
        if let sqlState { words.append("SQLSTATE \(sqlState)") }
        if let constraint { words.append("constraint \(constraint)") }
        if let reason { words.append(reason) }
        if let mistake { words.append(mistake) }
        return words.joined(separator: ", ")
    }

    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: ["description": description]) }

    /// A transaction that conflicted with another one, or used a stale plan, and should run again as a whole.
    package var isRetryable: Bool {
        sqlState == "40001" || sqlState == "40P01" || isStalePlan
    }

    /// The `sqlState` of a write that affected another number of rows than it must.
    package static let noSuchRow = "P0002"

    /// Whether the server does not know a prepared statement, or no longer as it was.
    var isOutdatedPlan: Bool { sqlState == "0A000" || sqlState == "26000" }

    /// Whether the server refused the statement or ended its transaction before it took effect: it takes no writes (25006),
    /// or was told to stop (57P01, which it sends before a commit or after the answer).
    var hasNotRun: Bool { !mayHaveRun && (sqlState == "25006" || sqlState == "57P01") }

    /// Of servers that were tried one after another, with all of their messages.
    init(joining errors: [PostgresError]) {
        self = errors.first ?? PostgresError(.unavailable)
        let messages = errors.compactMap(\.serverMessage)
        if !messages.isEmpty { serverMessage = messages.joined(separator: "\n") }
    }

    static func decoding(_ reason: String) -> PostgresError {
        PostgresError(.decoding, reason: reason)
    }

    static func decoding(_ type: PostgresType, as wanted: Any.Type) -> PostgresError {
        PostgresError(.decoding, reason: "a column of type \(type.rawValue) read as \(wanted)")
    }
}
