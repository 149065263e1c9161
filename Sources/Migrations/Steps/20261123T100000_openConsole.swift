import Postgres

extension Migration {
    /// The console: its admins are rows of `admin_credentials` of the kind `console`, and have sessions.
    ///
    /// - `email`: the address they sign in with, in canonical form; unique among admins who may sign in.
    /// - `secret_hash`: the hash of the setup code, with which they choose their password and app, valid until
    ///   `set_up_until`.
    /// - `console_secrets`: the password hash and the app's secret, sealed; null until they are chosen.
    /// - `totp_step`: the step of the last accepted code, so that each code works once.
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
