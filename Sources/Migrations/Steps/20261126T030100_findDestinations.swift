import Postgres

extension Migration {
    /// For the waiting messages of one destination: a receiver's backlog is passed over, not read.
    package static let findDestinations = Migration(
        name: "20261126T030100_findDestinations",
        sql: [
            "DROP INDEX CONCURRENTLY IF EXISTS outbox_destination_idx",
            """
            CREATE INDEX CONCURRENTLY outbox_destination_idx ON outbox (kind, project, next_attempt_at)
            WHERE delivered_at IS NULL AND abandoned_at IS NULL
            """,
        ],
        transactional: false
    )
}
