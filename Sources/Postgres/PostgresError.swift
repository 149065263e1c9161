/// What went wrong with a statement, without a word that a log must not hold.
///
/// The server's own message can quote a user's value, so nothing prints it; `serverMessage` has it.
package struct PostgresError: Error, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
    /// The kind of error; the set is open.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case connectionLost, unavailable, timeout, cancelled, overloaded, server, decoding, invalidParameter
            case transactionEnded
        }
        private let value: Value

        /// The connection broke under the statement or the server is not the one to write to (25006): the statement
        /// may or may not have run.
        package static let connectionLost = Self(value: .connectionLost)
        /// No connection could be made, or the client is closed: the statement was never sent.
        package static let unavailable = Self(value: .unavailable)
        /// The statement, or its wait for a lock, took longer than allowed.
        package static let timeout = Self(value: .timeout)
        /// The task was cancelled.
        package static let cancelled = Self(value: .cancelled)
        /// Too many statements wait already: the statement was never sent.
        package static let overloaded = Self(value: .overloaded)
        /// The server refused the statement; `sqlState` says why.
        package static let server = Self(value: .server)
        /// A column does not hold what was asked for.
        package static let decoding = Self(value: .decoding)
        /// A parameter has no form on the server, as text with a NUL byte: the statement was never sent.
        package static let invalidParameter = Self(value: .invalidParameter)
        /// The transaction was used after its end, or was rolled back because its owner went silent.
        package static let transactionEnded = Self(value: .transactionEnded)

        package var description: String { value.rawValue }
    }

    package var code: Code
    /// The five characters of SQLSTATE, when the server gave one.
    package var sqlState: String?
    /// The constraint that was violated.
    package var constraint: String?
    /// Fixed words of ours, never a value.
    var reason: String?
    /// What the server, or libpq, said: it may quote a user's values and is not for a log.
    package internal(set) var serverMessage: String?
    /// The first line of it when the fault is in the statement's own text, where no value can be.
    var mistake: String?
    /// Whether the same statement would succeed on a second try, as the server only refused a plan that it had kept.
    var isStalePlan = false

    /// - Parameter reason: fixed words, never a value.
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

    /// A transaction that lost against another, or used a plan that has gone stale, and is to be run again as a whole.
    package var isRetryable: Bool {
        sqlState == "40001" || sqlState == "40P01" || isStalePlan
    }

    static func decoding(_ reason: String) -> PostgresError {
        PostgresError(.decoding, reason: reason)
    }

    static func decoding(_ type: PostgresType, as wanted: Any.Type) -> PostgresError {
        PostgresError(.decoding, reason: "a column of type \(type.rawValue) read as \(wanted)")
    }
}
