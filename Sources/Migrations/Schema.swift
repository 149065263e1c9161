import Postgres

/// The schema as the list of its migrations.
///
/// Every key begins with the project, so that rows can be placed by it. `tenant` is `''` for the project itself, never
/// NULL, so that it can be part of keys. There are no foreign keys.
package enum Schema {
    /// In the order of their names; a released migration never changes.
    package static let all = [createSchema]

    package static let createSchema = Migration(
        name: "20261130T140000_createSchema",
        sql: configuration + accounts + sessions + records,
        replacing: [
            Migration.Earlier(
                first: "20261121T000000_createSchema",
                last: "20261129T200000_countAccountSignIns",
                sql: [
                    "ALTER TABLE sessions DROP COLUMN code_hash, DROP COLUMN code_until",
                    "ALTER TABLE oob_codes DROP COLUMN phone_number",
                    "ALTER TABLE signing_keys DROP COLUMN retired_at",
                    "CREATE INDEX outbox_given_up_idx ON outbox (project, abandoned_at) WHERE abandoned_at IS NOT NULL",
                ] + namingTenants,
                fingerprint: fingerprint
            ),
            Migration.Earlier(
                first: "20261130T000000_createSchema",
                last: "20261130T000000_createSchema",
                sql: namingTenants,
                fingerprint: fingerprint
            ),
        ]
    )

    private static let fingerprint = "caca5a716376225ede36559e8dd426d4"

    /// Before, an account's ID was unique in its project, whatever its tenant.
    private static let namingTenants: [SQL] = [
        "ALTER TABLE accounts DROP CONSTRAINT accounts_pkey, ADD PRIMARY KEY (project, tenant, account)",
        """
        ALTER TABLE linked_credentials DROP CONSTRAINT linked_credentials_pkey,
            ADD PRIMARY KEY (project, tenant, account, provider)
        """,
        """
        ALTER TABLE detached_credentials DROP CONSTRAINT detached_credentials_pkey,
            ADD PRIMARY KEY (project, tenant, account, version, provider)
        """,
        "ALTER TABLE sessions DROP CONSTRAINT sessions_pkey, ADD PRIMARY KEY (project, tenant, account, session)",
        "ALTER TABLE account_activity ADD COLUMN tenant text",
        """
        UPDATE account_activity v SET tenant = a.tenant FROM accounts a
        WHERE a.project = v.project AND a.account = v.account
        """,
        "DELETE FROM account_activity WHERE tenant IS NULL",
        """
        ALTER TABLE account_activity ALTER COLUMN tenant SET NOT NULL, DROP CONSTRAINT account_activity_pkey,
            ADD PRIMARY KEY (project, tenant, account)
        """,
        "ALTER TABLE device_codes ADD COLUMN tenant text",
        "UPDATE device_codes SET tenant = '' WHERE account IS NOT NULL",
        "DROP INDEX accounts_tenant_idx, accounts_disabled_at_idx, account_passkeys_account_idx, account_merges_survivor_idx",
        "DROP INDEX sessions_active_idx, sessions_granted_idx, sessions_revoked_at_idx, audit_log_account_idx",
        """
        CREATE INDEX accounts_disabled_at_idx ON accounts (project, disabled_at, tenant, account)
        WHERE disabled_at IS NOT NULL
        """,
        """
        CREATE INDEX audit_log_account_idx ON audit_log (project, tenant, account, recorded_at, entry)
        WHERE account IS NOT NULL
        """,
        "CREATE INDEX account_passkeys_account_idx ON account_passkeys (project, tenant, account)",
        "CREATE INDEX account_merges_survivor_idx ON account_merges (project, tenant, survivor)",
        "CREATE INDEX sessions_active_idx ON sessions (project, tenant, account, auth_time) WHERE revoked_at IS NULL",
        """
        CREATE INDEX sessions_granted_idx ON sessions (project, client, tenant, account, session)
        WHERE client IS NOT NULL AND revoked_at IS NULL
        """,
        """
        CREATE INDEX sessions_revoked_at_idx ON sessions (project, revoked_at, tenant, account, session)
        WHERE revoked_at IS NOT NULL
        """,
    ]
}
