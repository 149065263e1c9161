import Postgres

extension Migration {
    /// The account's version when its sessions were last ended: `valid_since` alone does not change when an earlier
    /// clock was ahead, or twice within a second.
    package static let recordRevocations = Migration(
        name: "20261125T020000_recordRevocations",
        sql: ["ALTER TABLE accounts ADD COLUMN revoked_version bigint NOT NULL DEFAULT 0"]
    )
}
