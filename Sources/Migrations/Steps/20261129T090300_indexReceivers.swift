import Postgres

extension Migration {
    /// For the waiting messages of one receiver, and for the sessions of browsers that have become old.
    ///
    /// A browser's session has its own ID as `browser_session`.
    package static let indexReceivers = Migration(
        name: "20261129T090300_indexReceivers",
        sql: [
            "DROP INDEX CONCURRENTLY IF EXISTS outbox_receiver_idx",
            """
            CREATE INDEX CONCURRENTLY outbox_receiver_idx ON outbox (kind, project, receiver, next_attempt_at)
            WHERE delivered_at IS NULL AND abandoned_at IS NULL
            """,
            "DROP INDEX CONCURRENTLY IF EXISTS outbox_destination_idx",
            "DROP INDEX CONCURRENTLY IF EXISTS sessions_browsers_idx",
            """
            CREATE INDEX CONCURRENTLY sessions_browsers_idx ON sessions (created_at)
            WHERE browser_session = session AND revoked_at IS NULL
            """,
        ],
        transactional: false
    )
}
