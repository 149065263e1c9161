import Postgres

extension Migration {
    /// The one-time codes sent by email, one of each type per owner: a newer code replaces the older one.
    ///
    /// - `owner` is the account, or for sign-in codes the canonical address, which need not have an account yet.
    /// - `proved`, for a recovery code: whether the address was verified when another one replaced it.
    /// - A code is valid until `valid_until`; its row stays until `expires_at`, so that a late user learns the reason.
    package static let storeOOBCodes = Migration(
        name: "20261122T073000_storeOOBCodes",
        sql: [
            """
            CREATE TABLE oob_codes (
                project text NOT NULL,
                tenant text NOT NULL,
                type text NOT NULL,
                owner text NOT NULL,
                code_hash bytea NOT NULL,
                email text NOT NULL,
                new_email text,
                proved boolean NOT NULL,
                created_at timestamptz NOT NULL,
                valid_until timestamptz NOT NULL,
                expires_at timestamptz NOT NULL,
                CONSTRAINT oob_codes_pkey PRIMARY KEY (project, tenant, type, owner),
                CONSTRAINT oob_codes_code_hash_key UNIQUE (project, code_hash)
            )
            """,
            "CREATE INDEX oob_codes_expires_at_idx ON oob_codes (expires_at)",
        ]
    )
}
