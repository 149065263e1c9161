import Postgres

extension Migration {
    /// The version of an account that ended sessions last: `valid_since` alone stays as it is when a clock of before was
    /// ahead, or twice in one second.
    package static let recordRevocations = Migration(
        name: "20261125T020000_recordRevocations",
        sql: ["ALTER TABLE accounts ADD COLUMN revoked_version bigint NOT NULL DEFAULT 0"]
    )
}
