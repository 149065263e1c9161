import Postgres

extension Migration {
    /// The console: people who sign in to it are rows of `admin_credentials` of the kind `console`, and have sessions.
    ///
    /// - `email`: by which they sign in, in its canonical form; one who may is alone with it.
    /// - `secret_hash`: of the code by which they choose their password and app, good until `set_up_until`.
    /// - `console_secrets`: password and secret of the app, sealed; null until they are chosen.
    /// - `totp_step`: that of the last code that was taken, so that each is good once.
    package static let openConsole = Migration(
        name: "20261123T100000_openConsole",
        sql: [
            """
            ALTER TABLE admin_credentials
                ADD COLUMN set_up_until timestamptz,
                ADD COLUMN console_secrets bytea,
                ADD COLUMN totp_step bigint NOT NULL DEFAULT 0
            """,
            """
            CREATE UNIQUE INDEX admin_credentials_console_key ON admin_credentials (email)
                WHERE kind = 'console' AND NOT disabled
            """,
            """
            CREATE TABLE console_sessions (
                handle_hash bytea CONSTRAINT console_sessions_pkey PRIMARY KEY,
                admin text NOT NULL,
                created_at timestamptz NOT NULL,
                authenticated_at timestamptz NOT NULL,
                last_used_at timestamptz NOT NULL,
                expires_at timestamptz NOT NULL
            )
            """,
        ]
    )
}
