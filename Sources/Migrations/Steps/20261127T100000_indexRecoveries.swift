import Postgres

extension Migration {
    /// For the codes that restore an account's emails, which end when another one is verified.
    ///
    /// Sign-ins go on while it is built.
    package static let indexRecoveries = Migration(
        name: "20261127T100000_indexRecoveries",
        sql: [
            "DROP INDEX CONCURRENTLY IF EXISTS oob_codes_recovery_idx",
            """
            CREATE INDEX CONCURRENTLY oob_codes_recovery_idx ON oob_codes (project, left(owner, -44))
            WHERE type = 'RECOVER_EMAIL'
            """,
        ],
        transactional: false
    )
}
