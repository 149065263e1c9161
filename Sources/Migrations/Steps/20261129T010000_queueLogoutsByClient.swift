import Postgres

extension Migration {
    /// For ended sessions whose application has to be told, by application.
    ///
    /// An application's session begins when its code is redeemed: those whose code nobody redeemed go, and `code_hash` and
    /// `code_until` have no use any more. `device_codes.session`: the browser's, from which the grant begins.
    ///
    /// Sign-ins go on meanwhile.
    package static let queueLogoutsByClient = Migration(
        name: "20261129T010000_queueLogoutsByClient",
        sql: [
            "DELETE FROM sessions WHERE code_until IS NOT NULL",
            "DROP INDEX CONCURRENTLY IF EXISTS sessions_code_until_idx",
            "DROP INDEX CONCURRENTLY IF EXISTS sessions_logouts_idx",
            """
            CREATE INDEX CONCURRENTLY sessions_logouts_idx ON sessions (project, client, revoked_at)
            WHERE tells_client AND revoked_at IS NOT NULL
            """,
            "DROP INDEX CONCURRENTLY IF EXISTS sessions_untold_idx",
        ],
        transactional: false
    )
}
