import Postgres

extension Migration {
    /// A newer code leaves the older ones good where a stranger can ask for it (threats.md, T-E7).
    ///
    /// `series_hash` is the code's hash where an owner has several codes of a type, and empty where it has one.
    package static let keepOlderCodes = Migration(
        name: "20261129T000000_keepOlderCodes",
        sql: [
            """
            ALTER TABLE oob_codes ADD COLUMN series_hash bytea NOT NULL DEFAULT '', DROP CONSTRAINT oob_codes_pkey,
                ADD CONSTRAINT oob_codes_pkey PRIMARY KEY (project, tenant, type, owner, series_hash)
            """,
            """
            ALTER TABLE verification_codes DROP CONSTRAINT verification_codes_pkey,
                ADD CONSTRAINT verification_codes_pkey PRIMARY KEY (project, tenant, purpose, owner, session_hash)
            """,
        ]
    )
}
