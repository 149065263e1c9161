import Postgres

extension Migration {
    /// The tenants of projects.
    ///
    /// - `settings`: what a tenant decides by itself; everything else is as its project has it.
    /// - A tenant that was deleted leaves its row, `deleted_at` says since when: nothing ever gets its id again.
    package static let createTenants = Migration(
        name: "20261123T013000_createTenants",
        sql: [
            """
            CREATE TABLE tenants (
                project text NOT NULL,
                tenant text NOT NULL,
                display_name text,
                disabled boolean NOT NULL,
                settings jsonb NOT NULL,
                created_at timestamptz NOT NULL,
                deleted_at timestamptz,
                CONSTRAINT tenants_pkey PRIMARY KEY (project, tenant),
                CONSTRAINT tenants_tenant CHECK (tenant <> '')
            )
            """
        ]
    )
}
