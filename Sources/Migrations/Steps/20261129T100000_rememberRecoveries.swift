import Postgres

extension Migration {
    /// An account whose verified email can still be restored is not taken over (threats.md, T-E6).
    package static let rememberRecoveries = Migration(
        name: "20261129T100000_rememberRecoveries",
        sql: ["ALTER TABLE accounts ADD COLUMN recoverable_until timestamptz"]
    )
}
