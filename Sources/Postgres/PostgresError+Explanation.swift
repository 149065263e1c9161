extension PostgresError {
    /// What an operator needs to know, in one line without any user's values.
    package var explanation: String {
        switch (code, sqlState) {
        case (.unavailable, _):
            guard let refusal = connectionMessage else { return "the database cannot be reached" }
            return isUnreachable(refusal)
                ? "the database cannot be reached: \(refusal)" : "the database refused the connection: \(refusal)"
        case (_, "25006"): return "the database is read-only, as a standby is: connect to the primary"
        case (_, "53100"): return "the database's disk is full"
        case (_, "53200"): return "the database is out of memory: try again"
        case (_, "53300"): return "the database has no free connections: try again"
        case (_, "55P03"): return "the database waited too long for a lock that another transaction holds: try again"
        case (_, "57014"): return "the database took too long: try again"
        case (_, "40001"), (_, "40P01"): return "another transaction was in the way: try again"
        case (_, "42501"): return "the database's role lacks a privilege: \(mistake ?? description)"
        case (_, let state?) where state.hasPrefix("XX"):
            return "the database failed with an internal error (SQLSTATE \(state)): see its log, and try again"
        case (.connectionLost, _): return "the connection to the database was lost: try again"
        case (.overloaded, _): return "too many statements wait for the database: try again"
        default: return description
        }
    }

    /// Whether the same may succeed later, without any change of the configuration.
    package var isTemporary: Bool {
        switch (code, sqlState) {
        case (.unavailable, _), (.connectionLost, _), (.timeout, _), (.overloaded, _): true
        case (_, let state?): isRetryable || ["53", "XX"].contains { state.hasPrefix($0) }
        default: isRetryable
        }
    }

    /// libpq's or the server's words about a connection that could not be opened, in one line.
    ///
    /// They name hosts, roles, databases and files, but no password.
    private var connectionMessage: String? {
        let lines = (serverMessage ?? reason ?? "").split(whereSeparator: \.isNewline).map { line in
            line.split(whereSeparator: { $0 == " " || $0 == "\t" }).joined(separator: " ")
        }
        return lines.isEmpty ? nil : lines.joined(separator: "; ")
    }

    /// Whether no server responded; libpq and the C library say so in English.
    private func isUnreachable(_ message: String) -> Bool {
        let silences = [
            "Connection refused", "timeout expired", "could not translate host name", "No such file or directory",
            "Network is unreachable", "No route to host", "Connection timed out", "server closed the connection",
            "Connection reset by peer", "Permission denied",
        ]
        let responses = ["FATAL", "SSL error", "certificate", "session is", "server is", "server does not support"]
        return silences.contains { message.contains($0) } && !responses.contains { message.contains($0) }
    }
}
