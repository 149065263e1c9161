import Postgres

extension Migration {
    /// Applications that sign their users in with a project's accounts.
    ///
    /// - `oauth_clients.metadata`: the members of RFC 7591. `secret_hash`: SHA-256; NULL for a public client.
    ///   `registration_hash`: of the token with which a client that registered itself manages its registration.
    ///   `expires_at`: when a client's document is forgotten; NULL for others.
    /// - A user's grant to an application is a session with `client` and `application_grant`. Until `code_until`, its code
    ///   can be exchanged, once: that sets `code_until` to NULL, and keeps `code_hash` to recognize a second use.
    /// - `device_codes`: what a device asks for (RFC 8628). `user_code_hash`: the HMAC of what its user types. `account` and
    ///   `session`: the grant, once a user has agreed; its code is the device's.
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
                origin text NOT NULL,
                registration_hash bytea,
                expires_at timestamptz,
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
            """
            CREATE TABLE device_codes (
                project text NOT NULL,
                code_hash bytea NOT NULL,
                user_code_hash bytea NOT NULL,
                client text NOT NULL,
                application_grant jsonb NOT NULL,
                account text,
                session text,
                denied boolean NOT NULL DEFAULT false,
                polled_at timestamptz,
                created_at timestamptz NOT NULL,
                expires_at timestamptz NOT NULL,
                CONSTRAINT device_codes_pkey PRIMARY KEY (project, code_hash)
            )
            """,
            "CREATE UNIQUE INDEX device_codes_user_code_idx ON device_codes (project, user_code_hash)",
            "CREATE INDEX device_codes_expires_at_idx ON device_codes (expires_at)",
            "CREATE INDEX oauth_clients_expires_at_idx ON oauth_clients (expires_at) WHERE expires_at IS NOT NULL",
        ]
    )
}
