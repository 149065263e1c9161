import Postgres

extension Migration {
    /// Deleted applications, and blocked ones, whose grants have not all been ended yet.
    ///
    /// An application may have more grants than one statement can end. The index leads from each portion of them to the
    /// next; sign-ins go on while it is built.
    package static let endGrantsInPortions = Migration(
        name: "20261129T160000_endGrantsInPortions",
        sql: [
            """
            CREATE TABLE IF NOT EXISTS ended_clients (
                project text NOT NULL,
                client text NOT NULL,
                ended_at timestamptz NOT NULL,
                CONSTRAINT ended_clients_pkey PRIMARY KEY (project, client)
            )
            """,
            "DROP INDEX CONCURRENTLY IF EXISTS sessions_granted_idx",
            """
            CREATE INDEX CONCURRENTLY sessions_granted_idx ON sessions (project, client, account, session)
            WHERE client IS NOT NULL AND revoked_at IS NULL
            """,
            "DROP INDEX CONCURRENTLY IF EXISTS sessions_client_idx",
        ],
        transactional: false
    )
}
