import Postgres

/// Accounts, and what holds them.
extension Schema {
    static let accounts: [SQL] = [
        // `second_factors`, `passkeys`: JSON arrays; every sign-in reads the row anyway, and every change of them locks
        // it. `disabled_at`: since when it is disabled. `merged_into`: the account to which its users and its ID now
        // lead; it counts as disabled. `revoked_version`: the version when its sessions were last ended, as
        // `valid_since` alone does not change twice within a second. `recoverable_until`: until then its email can be
        // restored, and it is not taken over (threats.md, T-E6).
        //
        // The indexes are the orders in which admins page through accounts, each ending with the ID. No refresh writes
        // their columns, so that its updates stay HOT. `accounts_group_idx` keeps accounts of the same methods and
        // state together, so that a statement visits each such group once. `accounts_guests_idx` has the conditions of
        // ``Sweeper``.
        """
        CREATE TABLE accounts (
            project text NOT NULL,
            tenant text NOT NULL,
            account text NOT NULL,
            version bigint NOT NULL DEFAULT 1,
            methods text[] NOT NULL DEFAULT '{}',
            valid_since bigint NOT NULL,
            disabled boolean,
            email text,
            email_original text,
            email_verified boolean NOT NULL DEFAULT false,
            initial_email text,
            phone_number text,
            display_name text,
            photo_url text,
            screen_name text,
            language text,
            time_zone text,
            date_of_birth text,
            password_hash bytea,
            password_salt bytea,
            password_parameters text,
            password_updated_at timestamptz,
            email_link boolean NOT NULL DEFAULT false,
            custom_auth boolean NOT NULL DEFAULT false,
            custom_attributes text,
            created_at timestamptz NOT NULL,
            second_factors text,
            disabled_at timestamptz,
            merged_into text,
            revoked_version bigint NOT NULL DEFAULT 0,
            passkeys text,
            recoverable_until timestamptz
        ) WITH (fillfactor = 90)
        """,
        "CREATE INDEX accounts_created_at_idx ON accounts (project, tenant, created_at, account)",
        """
        CREATE INDEX accounts_disabled_at_idx ON accounts (project, disabled_at, tenant, account)
        WHERE disabled_at IS NOT NULL
        """,
        "CREATE INDEX accounts_email_idx ON accounts (project, tenant, COALESCE(email, ''), account)",
        """
        CREATE INDEX accounts_group_idx ON accounts (project, tenant, methods, (disabled IS TRUE),
            (email IS NOT NULL AND NOT email_verified), (second_factors IS NOT NULL), created_at, account)
        WHERE merged_into IS NULL
        """,
        """
        CREATE INDEX accounts_guests_idx ON accounts (project, created_at)
        WHERE methods = '{}' AND merged_into IS NULL AND email IS NULL AND phone_number IS NULL
            AND custom_auth IS NOT TRUE
        """,
        """
        CREATE INDEX accounts_initial_email_idx ON accounts (project, tenant, initial_email)
        WHERE initial_email IS NOT NULL
        """,
        // The last: of indexes that cost the same, as on an empty table, the planner takes the youngest.
        "ALTER TABLE accounts ADD CONSTRAINT accounts_pkey PRIMARY KEY (project, tenant, account)",
        // Claims: the primary keys alone guarantee that an email, a phone number or a credential is one account's.
        """
        CREATE TABLE account_emails (
            project text NOT NULL,
            tenant text NOT NULL,
            email_key text NOT NULL,
            account text NOT NULL,
            CONSTRAINT account_emails_pkey PRIMARY KEY (project, tenant, email_key)
        )
        """,
        """
        CREATE TABLE account_phones (
            project text NOT NULL,
            tenant text NOT NULL,
            phone_number text NOT NULL,
            account text NOT NULL,
            CONSTRAINT account_phones_pkey PRIMARY KEY (project, tenant, phone_number)
        )
        """,
        """
        CREATE TABLE account_passkeys (
            project text NOT NULL,
            tenant text NOT NULL,
            credential text NOT NULL,
            account text NOT NULL,
            CONSTRAINT account_passkeys_pkey PRIMARY KEY (project, tenant, credential)
        )
        """,
        "CREATE INDEX account_passkeys_account_idx ON account_passkeys (project, tenant, account)",
        // `sign_ins_until`: when the limit forgets the account's sign-ins.
        """
        CREATE TABLE account_activity (
            project text NOT NULL,
            tenant text NOT NULL,
            account text NOT NULL,
            last_sign_in_at timestamptz,
            last_refresh_at timestamptz,
            sign_ins_until timestamptz,
            CONSTRAINT account_activity_pkey PRIMARY KEY (project, tenant, account)
        ) WITH (fillfactor = 80)
        """,
        // `record`: what an undo restores; NULL after the period for undoing.
        """
        CREATE TABLE account_merges (
            project text NOT NULL,
            tenant text NOT NULL,
            merge text NOT NULL,
            survivor text NOT NULL,
            merged text NOT NULL,
            record text,
            merged_at timestamptz NOT NULL,
            undoable_until timestamptz,
            CONSTRAINT account_merges_pkey PRIMARY KEY (project, merge)
        )
        """,
        "CREATE INDEX account_merges_survivor_idx ON account_merges (project, tenant, survivor)",
        """
        CREATE INDEX account_merges_undoable_until_idx ON account_merges (undoable_until)
        WHERE undoable_until IS NOT NULL
        """,
        // The provider's refresh token is apart from its other `tokens`, so that a response without one keeps it.
        // `refresh_generation`: increased by every change of the tokens. `refresh_leased_until`: the limit of a renewal
        // in progress. `consent_needed_at`: when the provider last required the user to sign in there again.
        // `token_client`: the client that the tokens were issued to, if there are several.
        """
        CREATE TABLE linked_credentials (
            project text NOT NULL,
            tenant text NOT NULL,
            account text NOT NULL,
            provider text NOT NULL,
            subject text NOT NULL,
            email text,
            display_name text,
            photo_url text,
            screen_name text,
            tokens bytea,
            profile bytea,
            linked_at timestamptz NOT NULL,
            updated_at timestamptz NOT NULL,
            refresh_token bytea,
            refresh_generation bigint NOT NULL DEFAULT 0,
            refresh_leased_until timestamptz,
            consent_needed_at timestamptz,
            email_is_relay boolean,
            email_forwarding boolean,
            email_forwarding_since timestamptz,
            real_user_status integer,
            token_client text,
            CONSTRAINT linked_credentials_pkey PRIMARY KEY (project, tenant, account, provider)
        )
        """,
        """
        CREATE INDEX linked_credentials_email_idx ON linked_credentials (project, tenant, email)
        WHERE email IS NOT NULL
        """,
        // `revoked_at`: when the provider reported that the user withdrew the grant; the next sign-in with the identity
        // clears it. `blocked_at`: since when the provider reports that another person may be using its account.
        // `block_changed_at`: when it, or an admin, last said so or the opposite; older reports are ignored.
        """
        CREATE TABLE credential_subjects (
            project text NOT NULL,
            tenant text NOT NULL,
            provider text NOT NULL,
            subject text NOT NULL,
            account text NOT NULL,
            issuer text NOT NULL,
            revoked_at timestamptz,
            blocked_at timestamptz,
            block_changed_at timestamptz,
            CONSTRAINT credential_subjects_pkey PRIMARY KEY (project, tenant, provider, subject)
        )
        """,
        // What an account lost to another identity, by its version when it did; gone with the account.
        """
        CREATE TABLE detached_credentials (
            project text NOT NULL,
            tenant text NOT NULL,
            account text NOT NULL,
            version bigint NOT NULL,
            provider text NOT NULL,
            subject text NOT NULL,
            email text,
            display_name text,
            linked_at timestamptz,
            reason text NOT NULL,
            by_provider text NOT NULL,
            by_subject text NOT NULL,
            detached_at timestamptz NOT NULL,
            CONSTRAINT detached_credentials_reason CHECK (reason IN ('takeOver', 'emailRecycled')),
            CONSTRAINT detached_credentials_pkey PRIMARY KEY (project, tenant, account, version, provider)
        )
        """,
        // A name that a provider sends only once, stored before anything that can fail.
        """
        CREATE TABLE kept_names (
            project text NOT NULL,
            tenant text NOT NULL,
            provider text NOT NULL,
            subject text NOT NULL,
            payload bytea NOT NULL,
            expires_at timestamptz NOT NULL,
            CONSTRAINT kept_names_pkey PRIMARY KEY (project, tenant, provider, subject)
        )
        """,
        "CREATE INDEX kept_names_expires_at_idx ON kept_names (expires_at)",
        // Those already handled.
        """
        CREATE TABLE provider_events (
            project text NOT NULL,
            tenant text NOT NULL,
            provider text NOT NULL,
            event text NOT NULL,
            expires_at timestamptz NOT NULL,
            CONSTRAINT provider_events_pkey PRIMARY KEY (project, tenant, provider, event)
        )
        """,
        "CREATE INDEX provider_events_expires_at_idx ON provider_events (expires_at)",
    ]
}
