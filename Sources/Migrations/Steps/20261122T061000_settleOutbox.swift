import Postgres

extension Migration {
    /// The identity that an outbox message is about, which may be linked again before the delivery, and how long a
    /// finished message is kept.
    package static let settleOutbox = Migration(
        name: "20261122T061000_settleOutbox",
        sql: [
            """
            ALTER TABLE outbox
                ADD COLUMN tenant text,
                ADD COLUMN provider text,
                ADD COLUMN subject text,
                ADD COLUMN expires_at timestamptz
            """,
            """
            UPDATE outbox SET expires_at = coalesce(delivered_at, abandoned_at)
            WHERE delivered_at IS NOT NULL OR abandoned_at IS NOT NULL
            """,
            "CREATE INDEX outbox_expires_at_idx ON outbox (expires_at) WHERE expires_at IS NOT NULL",
        ]
    )
}
