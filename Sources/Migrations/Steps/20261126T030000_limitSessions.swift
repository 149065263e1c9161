import Postgres

extension Migration {
    /// For the active sessions of an account: each sign-in looks whether they are too many.
    ///
    /// Sign-ins go on while it is built.
    package static let limitSessions = Migration(
        name: "20261126T030000_limitSessions",
        sql: [
            "DROP INDEX CONCURRENTLY IF EXISTS sessions_active_idx",
            """
            CREATE INDEX CONCURRENTLY sessions_active_idx ON sessions (project, account, auth_time)
            WHERE revoked_at IS NULL
            """,
        ],
        transactional: false
    )
}
