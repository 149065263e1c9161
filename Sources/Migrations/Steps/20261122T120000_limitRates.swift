import Postgres

extension Migration {
    /// What was taken from which allowance.
    ///
    /// A bucket is named by a hash and is empty again at `expires_at`: one that was not used for as long has no row. `project`
    /// is `''` for what all projects share.
    ///
    /// Unlogged: nobody waits for the disk because of it. A crash of the database server empties all buckets, a stop and
    /// a start do not; so does the move to a standby.
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
