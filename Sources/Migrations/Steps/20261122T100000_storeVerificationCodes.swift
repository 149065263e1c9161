import Postgres

extension Migration {
    /// The codes sent by SMS, and the settings of a project that contain secrets.
    ///
    /// - An owner has one code for each purpose: a newer one replaces the older. `owner` is the account, or for sign-in
    ///   the number, which need not have an account yet.
    /// - `code_hash` is an HMAC with a key of the key ring: a plain hash of six digits is quickly guessed.
    /// - A code is valid until `valid_until`, for five attempts; its row stays until `expires_at`, so that a late user
    ///   learns the reason.
    package static let storeVerificationCodes = Migration(
        name: "20261122T100000_storeVerificationCodes",
        sql: [
            """
            CREATE TABLE verification_codes (
                project text NOT NULL,
                tenant text NOT NULL,
                purpose text NOT NULL,
                owner text NOT NULL,
                session_hash bytea NOT NULL,
                phone_number text NOT NULL,
                code_hash bytea NOT NULL,
                attempts integer NOT NULL DEFAULT 0,
                created_at timestamptz NOT NULL,
                valid_until timestamptz NOT NULL,
                expires_at timestamptz NOT NULL,
                CONSTRAINT verification_codes_pkey PRIMARY KEY (project, tenant, purpose, owner),
                CONSTRAINT verification_codes_session_hash_key UNIQUE (project, session_hash)
            )
            """,
            "CREATE INDEX verification_codes_expires_at_idx ON verification_codes (expires_at)",
            "ALTER TABLE projects ADD COLUMN delivery bytea",
        ]
    )
}
