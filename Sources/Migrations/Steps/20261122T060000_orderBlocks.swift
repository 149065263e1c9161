import Postgres

extension Migration {
    /// When the provider, or an admin, last reported whether another person may be using the provider's account: older
    /// reports are ignored.
    package static let orderBlocks = Migration(
        name: "20261122T060000_orderBlocks",
        sql: ["ALTER TABLE credential_subjects ADD COLUMN block_changed_at timestamptz"]
    )
}
