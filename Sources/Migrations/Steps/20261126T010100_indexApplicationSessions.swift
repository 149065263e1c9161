import Postgres

extension Migration {
    /// For ended sessions whose application has to be told, and for the sessions of an application.
    ///
    /// Sign-ins go on while they are built.
    package static let indexApplicationSessions = Migration(
        name: "20261126T010100_indexApplicationSessions",
        sql: [
            "DROP INDEX CONCURRENTLY IF EXISTS sessions_untold_idx",
            """
            CREATE INDEX CONCURRENTLY sessions_untold_idx ON sessions (revoked_at)
            WHERE tells_client AND revoked_at IS NOT NULL
            """,
            "DROP INDEX CONCURRENTLY IF EXISTS sessions_client_idx",
            "CREATE INDEX CONCURRENTLY sessions_client_idx ON sessions (project, client) WHERE client IS NOT NULL",
        ],
        transactional: false
    )
}
