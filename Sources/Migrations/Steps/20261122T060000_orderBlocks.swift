import Postgres

extension Migration {
    /// When the provider, or an admin, last said whether somebody else may be using the provider's account: what was said
    /// before comes too late.
    package static let orderBlocks = Migration(
        name: "20261122T060000_orderBlocks",
        sql: ["ALTER TABLE credential_subjects ADD COLUMN block_changed_at timestamptz"]
    )
}
