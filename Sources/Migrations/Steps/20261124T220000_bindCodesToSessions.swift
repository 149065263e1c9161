import Postgres

extension Migration {
    /// The session that requested a code's change: the code ends with it.
    ///
    /// Null for a code that no session requested.
    package static let bindCodesToSessions = Migration(
        name: "20261124T220000_bindCodesToSessions",
        sql: ["ALTER TABLE oob_codes ADD COLUMN session text"]
    )
}
