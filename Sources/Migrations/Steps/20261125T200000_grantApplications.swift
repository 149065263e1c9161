import Postgres

extension Migration {
    /// Applications that sign their users in with a project's accounts.
    ///
    /// - `oauth_clients.metadata`: the members of RFC 7591. `secret_hash`: SHA-256; NULL for a public client.
    /// - A user's grant to an application is a session with `client` and `application_grant`. Until `code_until`, its code
    ///   can be exchanged, once: that sets `code_until` to NULL, and keeps `code_hash` to recognize a second use.
    package static let grantApplications = Migration(
        name: "20261125T200000_grantApplications",
        sql: [
            """
            CREATE TABLE oauth_clients (
                project text NOT NULL,
                client text NOT NULL,
                metadata jsonb NOT NULL,
                secret_hash bytea,
                trusted boolean NOT NULL DEFAULT false,
                created_at timestamptz NOT NULL,
                updated_at timestamptz NOT NULL,
                CONSTRAINT oauth_clients_pkey PRIMARY KEY (project, client)
            )
            """,
            """
            ALTER TABLE sessions
                ADD COLUMN client text,
                ADD COLUMN application_grant jsonb,
                ADD COLUMN code_hash bytea,
                ADD COLUMN code_until timestamptz
            """,
            "CREATE INDEX sessions_code_until_idx ON sessions (code_until) WHERE code_until IS NOT NULL",
        ]
    )
}
