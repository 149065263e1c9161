import Postgres

extension Migration {
    /// `accounts:lookup` by `initialEmail`; few accounts have one.
    package static let indexInitialEmails = Migration(
        name: "20261125T080000_indexInitialEmails",
        sql: [
            "DROP INDEX CONCURRENTLY IF EXISTS accounts_initial_email_idx",
            """
            CREATE INDEX CONCURRENTLY accounts_initial_email_idx
                ON accounts (project, tenant, initial_email) WHERE initial_email IS NOT NULL
            """,
        ],
        transactional: false
    )
}
