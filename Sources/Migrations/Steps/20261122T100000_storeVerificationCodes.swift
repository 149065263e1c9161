import Postgres

extension Migration {
    /// The codes that travel by SMS, and a project's settings that hold secrets.
    ///
    /// - An owner has one code of each purpose: the newer takes the place of the older. `owner` is the account, for sign-in
    ///   the number, which may be nobody's yet.
    /// - `code_hash` is an HMAC under the key ring: six digits are soon guessed from a plain hash.
    /// - A code is good until `valid_until`, for five tries; its row stays until `expires_at`, so that who comes late learns
    ///   why.
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
