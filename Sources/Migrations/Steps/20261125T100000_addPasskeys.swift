import Postgres

extension Migration {
    /// Passkeys: a JSON array in the account's row, as second factors, and a claim for each credential ID.
    ///
    /// The claim makes a credential ID unique in a project or tenant, and finds the account of a sign-in.
    package static let addPasskeys = Migration(
        name: "20261125T100000_addPasskeys",
        sql: [
            "ALTER TABLE accounts ADD COLUMN passkeys text",
            """
            CREATE TABLE account_passkeys (
                project text NOT NULL,
                tenant text NOT NULL,
                credential text NOT NULL,
                account text NOT NULL,
                CONSTRAINT account_passkeys_pkey PRIMARY KEY (project, tenant, credential)
            )
            """,
            "CREATE INDEX account_passkeys_account_idx ON account_passkeys (project, account)",
        ]
    )
}
