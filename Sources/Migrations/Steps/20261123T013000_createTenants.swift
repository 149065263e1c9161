import Postgres

extension Migration {
    /// The tenants of projects.
    ///
    /// - `settings`: the settings that a tenant has of its own; all others are its project's.
    /// - A deleted tenant keeps its row, with the time in `deleted_at`: its id is never reused.
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
