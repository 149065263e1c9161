import Postgres

extension Migration {
    /// What processes write at the primary and read at a standby, each a row of its own, to know how far it is behind.
    ///
    /// It takes the place of `replica_count`, which a later release may drop.
    package static let markReplicas = Migration(
        name: "20261127T090000_markReplicas",
        sql: [
            """
            CREATE TABLE replica_marks (
                process text PRIMARY KEY,
                elapsed int8 NOT NULL,
                expires_at timestamptz NOT NULL
            ) WITH (fillfactor = 50)
            """
        ]
    )
}
