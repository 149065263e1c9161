import Postgres

extension Migration {
    /// For anonymous accounts by their age, which a project may have deleted; their conditions are those of ``Sweeper``.
    ///
    /// Sign-ins go on while it is built.
    package static let indexGuests = Migration(
        name: "20261127T150000_indexGuests",
        sql: [
            "DROP INDEX CONCURRENTLY IF EXISTS accounts_guests_idx",
            """
            CREATE INDEX CONCURRENTLY accounts_guests_idx ON accounts (project, created_at)
            WHERE methods = '{}' AND merged_into IS NULL AND email IS NULL AND phone_number IS NULL
                AND custom_auth IS NOT TRUE
            """,
        ],
        transactional: false
    )
}
