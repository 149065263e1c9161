import Postgres

extension Migration {
    /// How much of each rate limit is used.
    ///
    /// A bucket is named by a hash and is empty again at `expires_at`, after which it has no row. `project` is `''` for
    /// limits that all projects share.
    ///
    /// The table is unlogged, so that requests do not wait for the disk. A crash of the database server empties all
    /// buckets, and so does a failover to a standby; a regular restart does not.
    package static let limitRates = Migration(
        name: "20261122T120000_limitRates",
        sql: [
            """
            CREATE UNLOGGED TABLE rate_limits (
                project text NOT NULL,
                key bytea NOT NULL,
                expires_at timestamptz NOT NULL,
                CONSTRAINT rate_limits_pkey PRIMARY KEY (project, key)
            )
            """,
            "CREATE INDEX rate_limits_expires_at_idx ON rate_limits (expires_at)",
        ]
    )
}
