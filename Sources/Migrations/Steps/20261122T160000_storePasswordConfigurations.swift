import Postgres

extension Migration {
    /// How imported password hashes were made: one row for each algorithm with its parameters and key.
    ///
    /// - `id`: `import:` and a keyed hash of the rest, so that a configuration has one row however often it is
    ///   imported; `accounts.password_parameters` contains this id until the first sign-in replaces the hash.
    /// - `algorithm`: JSON; `sealed_key`: the signer key, HMAC key or associated data, null for algorithms without one.
    package static let storePasswordConfigurations = Migration(
        name: "20261122T160000_storePasswordConfigurations",
        sql: [
            """
            CREATE TABLE password_configurations (
                project text NOT NULL,
                id text NOT NULL,
                algorithm text NOT NULL,
                sealed_key bytea,
                created_at timestamptz NOT NULL,
                CONSTRAINT password_configurations_pkey PRIMARY KEY (project, id)
            )
            """
        ]
    )
}
