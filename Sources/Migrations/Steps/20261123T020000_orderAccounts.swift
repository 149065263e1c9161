import Postgres

extension Migration {
    /// The sort orders in which admins page through accounts, each ending with the id, so that no two accounts have the
    /// same position.
    ///
    /// No sign-in and no refresh writes these columns: their updates stay HOT. An account without an address sorts as
    /// if its address were empty. The project's own accounts are sorted by their primary key.
    package static let orderAccounts = Migration(
        name: "20261123T020000_orderAccounts",
        sql: [
            "DROP INDEX CONCURRENTLY IF EXISTS accounts_created_at_idx",
            """
            CREATE INDEX CONCURRENTLY accounts_created_at_idx
                ON accounts (project, tenant, created_at, account)
            """,
            "DROP INDEX CONCURRENTLY IF EXISTS accounts_email_idx",
            """
            CREATE INDEX CONCURRENTLY accounts_email_idx
                ON accounts (project, tenant, (coalesce(email, '')), account)
            """,
            "DROP INDEX CONCURRENTLY IF EXISTS accounts_tenant_idx",
            """
            CREATE INDEX CONCURRENTLY accounts_tenant_idx
                ON accounts (project, tenant, account) WHERE tenant <> ''
            """,
        ],
        transactional: false
    )
}
