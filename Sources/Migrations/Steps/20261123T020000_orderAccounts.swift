import Postgres

extension Migration {
    /// The orders in which admins page through accounts, each ended by the id, so that no two accounts share a place.
    ///
    /// No sign-in and no refresh writes these columns: their updates stay HOT. An account without an address comes as one
    /// whose address is empty. The project's own accounts come in the order of their primary key.
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
