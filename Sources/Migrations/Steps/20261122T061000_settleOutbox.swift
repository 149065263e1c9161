import Postgres

extension Migration {
    /// Whose identity a message of the outbox is about, which may be linked again by the time it is delivered, and until
    /// when one that is over is kept.
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
