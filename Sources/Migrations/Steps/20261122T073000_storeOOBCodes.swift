import Postgres

extension Migration {
    /// The one-time codes that travel by mail, of which an owner has one of each type: the newer takes the place of the
    /// older.
    ///
    /// - `owner` is the account, for sign-in codes the canonical address, which may be nobody's yet.
    /// - `proved` of a recovery code: the address had been verified when another one took its place.
    /// - A code is good until `valid_until`; its row stays until `expires_at`, so that who comes late learns why.
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
