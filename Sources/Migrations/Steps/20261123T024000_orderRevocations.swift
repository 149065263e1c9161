import Postgres

extension Migration {
    /// Revocations, ordered by time; refreshes do not write these columns, so their updates stay HOT.
    ///
    /// - `accounts.disabled_at`: since when the account is disabled; null for an enabled account, and for one disabled
    ///   before this step.
    package static let orderRevocations = Migration(
        name: "20261123T024000_orderRevocations",
        sql: [
            "ALTER TABLE accounts ADD COLUMN IF NOT EXISTS disabled_at timestamptz",
            "DROP INDEX CONCURRENTLY IF EXISTS sessions_revoked_at_idx",
            """
            CREATE INDEX CONCURRENTLY sessions_revoked_at_idx
                ON sessions (project, revoked_at, account, session) WHERE revoked_at IS NOT NULL
            """,
            "DROP INDEX CONCURRENTLY IF EXISTS accounts_disabled_at_idx",
            """
            CREATE INDEX CONCURRENTLY accounts_disabled_at_idx
                ON accounts (project, disabled_at, account) WHERE disabled_at IS NOT NULL
            """,
        ],
        transactional: false
    )
}
