import Postgres

extension Migration {
    /// The session that a code's change was begun by: when it ends, so does the code.
    ///
    /// Null for a code that no session began.
    package static let bindCodesToSessions = Migration(
        name: "20261124T220000_bindCodesToSessions",
        sql: ["ALTER TABLE oob_codes ADD COLUMN session text"]
    )
}
