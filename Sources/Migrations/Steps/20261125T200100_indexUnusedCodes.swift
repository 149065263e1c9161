import Postgres

extension Migration {
    /// For the removal of applications' sessions whose code nobody exchanged.
    ///
    /// Sign-ins go on while it is built.
    package static let indexUnusedCodes = Migration(
        name: "20261125T200100_indexUnusedCodes",
        sql: [
            "DROP INDEX CONCURRENTLY IF EXISTS sessions_code_until_idx",
            """
            CREATE INDEX CONCURRENTLY sessions_code_until_idx ON sessions (code_until) WHERE code_until IS NOT NULL
            """,
        ],
        transactional: false
    )
}
