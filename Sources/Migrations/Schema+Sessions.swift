import Postgres

/// Sign-ins: those in progress, and the sessions that they open.
extension Schema {
    static let sessions: [SQL] = [
        // A session outlives its account as a tombstone. `rotations`: when its refresh tokens were replaced, the last
        // eight times, newest first. `client`, `application_grant`: a user's grant to an application.
        // `browser_session`: from which of the account's sessions it was opened; a browser's has its own ID.
        // `tells_client`: whether the application has to be told when it ends. `earlier_providers`: the methods before
        // its current one. `retired_below`: the generation before which a change of the password or email ended its
        // refresh tokens.
        """
        CREATE TABLE sessions (
            project text NOT NULL,
            tenant text NOT NULL,
            account text NOT NULL,
            session text NOT NULL,
            secret_hash bytea NOT NULL,
            generation integer NOT NULL DEFAULT 0,
            previous_hash bytea,
            successor_used_at timestamptz,
            auth_time bigint NOT NULL,
            sign_in_provider text NOT NULL,
            second_factor text,
            second_factor_identifier text,
            claims text,
            sign_in_attributes text,
            created_at timestamptz NOT NULL,
            last_used_at timestamptz NOT NULL,
            user_agent text,
            address_prefix text,
            revoked_at timestamptz,
            rotations timestamptz[] NOT NULL DEFAULT '{}',
            client text,
            application_grant jsonb,
            browser_session text,
            tells_client boolean NOT NULL DEFAULT false,
            earlier_providers text[],
            retired_below integer,
            CONSTRAINT sessions_pkey PRIMARY KEY (project, tenant, account, session)
        ) WITH (fillfactor = 80)
        """,
        // Each sign-in looks whether an account has too many.
        "CREATE INDEX sessions_active_idx ON sessions (project, tenant, account, auth_time) WHERE revoked_at IS NULL",
        // Those of browsers that have become old.
        """
        CREATE INDEX sessions_browsers_idx ON sessions (created_at)
        WHERE browser_session = session AND revoked_at IS NULL
        """,
        // From each portion of an ended application's grants to the next.
        """
        CREATE INDEX sessions_granted_idx ON sessions (project, client, tenant, account, session)
        WHERE client IS NOT NULL AND revoked_at IS NULL
        """,
        // Ended ones whose application has to be told.
        """
        CREATE INDEX sessions_logouts_idx ON sessions (project, client, revoked_at)
        WHERE tells_client AND revoked_at IS NOT NULL
        """,
        // The feed of revocations.
        """
        CREATE INDEX sessions_revoked_at_idx ON sessions (project, revoked_at, tenant, account, session)
        WHERE revoked_at IS NOT NULL
        """,
        // A flow's end deletes its row. `browser_hash`, `returned_at`: the browser that began it, which can return
        // once; NULL for flows that apps run by themselves.
        """
        CREATE TABLE flows (
            project text NOT NULL,
            state_hash bytea NOT NULL,
            tenant text NOT NULL,
            provider text NOT NULL,
            session_hash bytea NOT NULL,
            purpose text NOT NULL,
            context text,
            payload bytea NOT NULL,
            created_at timestamptz NOT NULL,
            expires_at timestamptz NOT NULL,
            browser_hash bytea,
            returned_at timestamptz,
            CONSTRAINT flows_pkey PRIMARY KEY (project, state_hash)
        )
        """,
        "CREATE INDEX flows_expires_at_idx ON flows (expires_at)",
        """
        CREATE TABLE pending_credentials (
            project text NOT NULL,
            handle_hash bytea NOT NULL,
            tenant text NOT NULL,
            provider text NOT NULL,
            subject text NOT NULL,
            id_token_hash bytea,
            access_token_hash bytea,
            payload bytea NOT NULL,
            created_at timestamptz NOT NULL,
            expires_at timestamptz NOT NULL,
            redeemed_at timestamptz,
            redeemed_by text,
            CONSTRAINT pending_credentials_pkey PRIMARY KEY (project, handle_hash)
        )
        """,
        """
        CREATE INDEX pending_credentials_access_token_idx ON pending_credentials (project, access_token_hash)
        WHERE access_token_hash IS NOT NULL
        """,
        "CREATE INDEX pending_credentials_expires_at_idx ON pending_credentials (expires_at)",
        """
        CREATE INDEX pending_credentials_id_token_idx ON pending_credentials (project, id_token_hash)
        WHERE id_token_hash IS NOT NULL
        """,
        // One-time codes sent by email. `owner`: the account, or for sign-in codes the canonical address, which need
        // not have an account. `series_hash`: the code's hash where an owner may have several of a type (threats.md,
        // T-E7), else empty: a newer one replaces it. `proved`, for a recovery: whether the address was verified when
        // another one replaced it. `session`: which requested it, and ends it. The digits beside the link end with it.
        // A code is valid until `valid_until`; its row stays until `expires_at`, so that a late user learns the reason.
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
            session text,
            digits_hash bytea,
            digits_session_hash bytea,
            digits_valid_until timestamptz,
            attempts integer NOT NULL DEFAULT 0,
            series_hash bytea NOT NULL DEFAULT '\\x',
            CONSTRAINT oob_codes_pkey PRIMARY KEY (project, tenant, type, owner, series_hash),
            CONSTRAINT oob_codes_code_hash_key UNIQUE (project, code_hash)
        )
        """,
        "CREATE INDEX oob_codes_expires_at_idx ON oob_codes (expires_at)",
        "CREATE INDEX oob_codes_recovery_idx ON oob_codes (project, left(owner, -44)) WHERE type = 'RECOVER_EMAIL'",
        // Codes sent by SMS. `owner`: the account, or for sign-in the number. `code_hash`: an HMAC with a key of the
        // key ring, as a plain hash of six digits is quickly guessed.
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
            CONSTRAINT verification_codes_pkey PRIMARY KEY (project, tenant, purpose, owner, session_hash),
            CONSTRAINT verification_codes_session_hash_key UNIQUE (project, session_hash)
        )
        """,
        "CREATE INDEX verification_codes_expires_at_idx ON verification_codes (expires_at)",
        // What a device asks for (RFC 8628). `user_code_hash`: the HMAC of what its user types. `account`, `session`:
        // who agreed, from which browser's session. `revoked_version`: the account's then: what was withdrawn since
        // begins nothing.
        """
        CREATE TABLE device_codes (
            project text NOT NULL,
            code_hash bytea NOT NULL,
            user_code_hash bytea NOT NULL,
            client text NOT NULL,
            application_grant jsonb NOT NULL,
            tenant text,
            account text,
            session text,
            denied boolean NOT NULL DEFAULT false,
            polled_at timestamptz,
            created_at timestamptz NOT NULL,
            expires_at timestamptz NOT NULL,
            revoked_version bigint,
            CONSTRAINT device_codes_pkey PRIMARY KEY (project, code_hash)
        )
        """,
        "CREATE INDEX device_codes_expires_at_idx ON device_codes (expires_at)",
        "CREATE UNIQUE INDEX device_codes_user_code_idx ON device_codes (project, user_code_hash)",
        // Each is exchanged once; a workload's are without a project.
        """
        CREATE TABLE used_id_tokens (
            project text NOT NULL,
            token_hash bytea NOT NULL,
            expires_at timestamptz NOT NULL,
            CONSTRAINT used_id_tokens_pkey PRIMARY KEY (project, token_hash)
        )
        """,
        "CREATE INDEX used_id_tokens_expires_at_idx ON used_id_tokens (expires_at)",
        // How much of each limit is used: a bucket is named by a hash and is empty again at `expires_at`. `project` is
        // `''` for limits that all projects share. Unlogged, so that requests do not wait for the disk: a crash of the
        // database server empties all buckets, and so does a failover.
        """
        CREATE UNLOGGED TABLE rate_limits (
            project text NOT NULL,
            key bytea NOT NULL,
            expires_at timestamptz NOT NULL,
            CONSTRAINT rate_limits_pkey PRIMARY KEY (project, key)
        )
        """,
        "CREATE INDEX rate_limits_expires_at_idx ON rate_limits (expires_at)",
    ]
}
