import Postgres

extension Migration {
    /// The initial schema.
    ///
    /// Every key begins with the project, so that rows can be placed by it.
    ///
    /// - Claims (`account_emails`, `account_phones`, `credential_subjects`) are separate tables whose primary key is
    ///   the claimed value: these keys alone guarantee uniqueness.
    /// - `tenant` is `''` for the project itself, never NULL, so that it can be part of keys.
    /// - A session outlives its account as a tombstone; there are no foreign keys between accounts and sessions.
    /// - Columns for rotation, second factors and delivery are added with their features.
    package static let createSchema = Migration(
        name: "20261121T000000_createSchema",
        sql: [
            """
            CREATE TABLE configuration (
                singleton boolean CONSTRAINT configuration_pkey PRIMARY KEY DEFAULT true,
                version bigint NOT NULL DEFAULT 1,
                mode text NOT NULL DEFAULT 'serve',
                CONSTRAINT configuration_singleton CHECK (singleton),
                CONSTRAINT configuration_mode CHECK (mode IN ('serve', 'dev'))
            )
            """,
            "INSERT INTO configuration (singleton) VALUES (true)",
            """
            CREATE TABLE projects (
                project text CONSTRAINT projects_pkey PRIMARY KEY,
                number bigint NOT NULL CONSTRAINT projects_number_key UNIQUE,
                config jsonb NOT NULL,
                version bigint NOT NULL DEFAULT 1,
                password_signer_key bytea NOT NULL,
                created_at timestamptz NOT NULL
            )
            """,
            """
            CREATE TABLE api_keys (
                key text CONSTRAINT api_keys_pkey PRIMARY KEY,
                project text NOT NULL,
                display_name text,
                domains text[] NOT NULL DEFAULT '{}',
                apps text[] NOT NULL DEFAULT '{}',
                created_at timestamptz NOT NULL,
                revoked_at timestamptz
            )
            """,
            """
            CREATE TABLE provider_configurations (
                project text NOT NULL,
                tenant text NOT NULL,
                provider text NOT NULL,
                enabled boolean NOT NULL,
                display_name text,
                client_id text NOT NULL,
                client_secret bytea,
                audiences text[] NOT NULL DEFAULT '{}',
                issuer text,
                overrides text,
                created_at timestamptz NOT NULL,
                updated_at timestamptz NOT NULL,
                CONSTRAINT provider_configurations_pkey PRIMARY KEY (project, tenant, provider)
            )
            """,
            """
            CREATE TABLE accounts (
                project text NOT NULL,
                account text NOT NULL,
                tenant text NOT NULL,
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
                CONSTRAINT accounts_pkey PRIMARY KEY (project, account)
            ) WITH (fillfactor = 90)
            """,
            """
            CREATE TABLE account_activity (
                project text NOT NULL,
                account text NOT NULL,
                last_sign_in_at timestamptz,
                last_refresh_at timestamptz,
                CONSTRAINT account_activity_pkey PRIMARY KEY (project, account)
            ) WITH (fillfactor = 80)
            """,
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
            CREATE TABLE credential_subjects (
                project text NOT NULL,
                tenant text NOT NULL,
                provider text NOT NULL,
                subject text NOT NULL,
                account text NOT NULL,
                issuer text NOT NULL,
                CONSTRAINT credential_subjects_pkey PRIMARY KEY (project, tenant, provider, subject)
            )
            """,
            """
            CREATE TABLE linked_credentials (
                project text NOT NULL,
                account text NOT NULL,
                provider text NOT NULL,
                tenant text NOT NULL,
                subject text NOT NULL,
                email text,
                display_name text,
                photo_url text,
                screen_name text,
                tokens bytea,
                profile bytea,
                linked_at timestamptz NOT NULL,
                updated_at timestamptz NOT NULL,
                CONSTRAINT linked_credentials_pkey PRIMARY KEY (project, account, provider)
            )
            """,
            // Admins and users look accounts up by the email address that a provider sent.
            "CREATE INDEX linked_credentials_email_idx ON linked_credentials (project, tenant, email) WHERE email IS NOT NULL",
            """
            CREATE TABLE sessions (
                project text NOT NULL,
                account text NOT NULL,
                session text NOT NULL,
                tenant text NOT NULL,
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
                CONSTRAINT sessions_pkey PRIMARY KEY (project, account, session)
            ) WITH (fillfactor = 80)
            """,
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
                consumed_at timestamptz,
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
            CREATE INDEX pending_credentials_id_token_idx ON pending_credentials (project, id_token_hash)
                WHERE id_token_hash IS NOT NULL
            """,
            """
            CREATE INDEX pending_credentials_access_token_idx ON pending_credentials (project, access_token_hash)
                WHERE access_token_hash IS NOT NULL
            """,
            "CREATE INDEX pending_credentials_expires_at_idx ON pending_credentials (expires_at)",
            """
            CREATE TABLE used_id_tokens (
                project text NOT NULL,
                token_hash bytea NOT NULL,
                expires_at timestamptz NOT NULL,
                CONSTRAINT used_id_tokens_pkey PRIMARY KEY (project, token_hash)
            )
            """,
            "CREATE INDEX used_id_tokens_expires_at_idx ON used_id_tokens (expires_at)",
            """
            CREATE TABLE signing_keys (
                kid text CONSTRAINT signing_keys_pkey PRIMARY KEY,
                purpose text NOT NULL,
                algorithm text NOT NULL,
                private_key bytea NOT NULL,
                certificate text NOT NULL,
                created_at timestamptz NOT NULL,
                active_from timestamptz NOT NULL,
                retired_at timestamptz,
                CONSTRAINT signing_keys_purpose CHECK (purpose IN ('id_token', 'session_cookie')),
                CONSTRAINT signing_keys_algorithm CHECK (algorithm IN ('RS256', 'ES256'))
            )
            """,
            """
            CREATE TABLE admin_credentials (
                id text CONSTRAINT admin_credentials_pkey PRIMARY KEY,
                kind text NOT NULL,
                name text NOT NULL,
                secret_hash bytea NOT NULL CONSTRAINT admin_credentials_secret_hash_key UNIQUE,
                project text,
                scopes text[] NOT NULL,
                created_at timestamptz NOT NULL,
                expires_at timestamptz,
                disabled boolean NOT NULL DEFAULT false,
                last_used_at timestamptz
            )
            """,
            """
            CREATE TABLE outbox (
                project text NOT NULL,
                message text NOT NULL,
                kind text NOT NULL,
                payload bytea NOT NULL,
                attempts integer NOT NULL DEFAULT 0,
                next_attempt_at timestamptz NOT NULL,
                created_at timestamptz NOT NULL,
                delivered_at timestamptz,
                CONSTRAINT outbox_pkey PRIMARY KEY (project, message)
            )
            """,
        ]
    )
}
