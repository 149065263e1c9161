import Postgres

/// What admins set, and who they are.
extension Schema {
    static let configuration: [SQL] = [
        // One row. `version` and `epoch` change with each change of the configuration: a database that was restored, or
        // lost its last commits in a failover, counts the same versions again. `swept_at`: when a node last started to
        // delete expired rows. `restored_at`, `restore_ends_at`: when an operator declared that the database was
        // restored, and until when tokens of its lost future are taken.
        """
        CREATE TABLE configuration (
            singleton boolean NOT NULL DEFAULT true,
            version bigint NOT NULL DEFAULT 1,
            mode text NOT NULL DEFAULT 'serve',
            swept_at timestamptz NOT NULL DEFAULT '-infinity',
            epoch text NOT NULL DEFAULT gen_random_uuid()::text,
            restored_at timestamptz,
            restore_ends_at timestamptz,
            CONSTRAINT configuration_mode CHECK (mode IN ('serve', 'dev')),
            CONSTRAINT configuration_singleton CHECK (singleton),
            CONSTRAINT configuration_pkey PRIMARY KEY (singleton)
        )
        """,
        "INSERT INTO configuration (singleton) VALUES (true)",
        // `delivery`: the settings that contain secrets, sealed.
        """
        CREATE TABLE projects (
            project text NOT NULL,
            number bigint NOT NULL,
            config jsonb NOT NULL,
            version bigint NOT NULL DEFAULT 1,
            password_signer_key bytea NOT NULL,
            created_at timestamptz NOT NULL,
            delivery bytea,
            CONSTRAINT projects_pkey PRIMARY KEY (project),
            CONSTRAINT projects_number_key UNIQUE (number)
        )
        """,
        "CREATE UNIQUE INDEX projects_public_url_idx ON projects ((config ->> 'publicURL'))",
        // `settings`: those that a tenant has of its own; all others are its project's. A deleted tenant keeps its row:
        // its ID is never reused.
        """
        CREATE TABLE tenants (
            project text NOT NULL,
            tenant text NOT NULL,
            display_name text,
            disabled boolean NOT NULL,
            settings jsonb NOT NULL,
            created_at timestamptz NOT NULL,
            deleted_at timestamptz,
            CONSTRAINT tenants_tenant CHECK (tenant <> ''),
            CONSTRAINT tenants_pkey PRIMARY KEY (project, tenant)
        )
        """,
        // `response_type`: Firebase's `responseType`; NULL to derive it from the secret.
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
            webhook_secret bytea,
            response_type text,
            CONSTRAINT provider_configurations_pkey PRIMARY KEY (project, tenant, provider)
        )
        """,
        """
        CREATE TABLE api_keys (
            key text NOT NULL,
            project text NOT NULL,
            display_name text,
            domains text[] NOT NULL DEFAULT '{}',
            apps text[] NOT NULL DEFAULT '{}',
            created_at timestamptz NOT NULL,
            revoked_at timestamptz,
            CONSTRAINT api_keys_pkey PRIMARY KEY (key)
        )
        """,
        // How imported password hashes were made. `id`: `import:` and a keyed hash of the rest, so that a configuration
        // has one row however often it is imported; `accounts.password_parameters` contains it until the first sign-in
        // replaces the hash. `algorithm`: JSON. `sealed_key`: the signer key, HMAC key or associated data; NULL for
        // algorithms without one.
        """
        CREATE TABLE password_configurations (
            project text NOT NULL,
            id text NOT NULL,
            algorithm text NOT NULL,
            sealed_key bytea,
            created_at timestamptz NOT NULL,
            CONSTRAINT password_configurations_pkey PRIMARY KEY (project, id)
        )
        """,
        // `private_key`: NULL once the key no longer signs.
        """
        CREATE TABLE signing_keys (
            kid text NOT NULL,
            purpose text NOT NULL,
            algorithm text NOT NULL,
            private_key bytea,
            certificate text NOT NULL,
            created_at timestamptz NOT NULL,
            active_from timestamptz NOT NULL,
            CONSTRAINT signing_keys_algorithm CHECK (algorithm IN ('RS256', 'ES256')),
            CONSTRAINT signing_keys_purpose CHECK (purpose IN ('id_token', 'session_cookie')),
            CONSTRAINT signing_keys_pkey PRIMARY KEY (kid)
        )
        """,
        // Of four kinds. `key`: an admin key. `service_account`: one row for each key, whose ID is the row's; `email`
        // is the account, and the issuer of the tokens that it signs; `public_key` is `SubjectPublicKeyInfo` in DER.
        // `workload`: no secret; `issuer`, `audience`, exact `claims`, and `jwks` if discovery does not find the
        // issuer's keys; `token_lifetime` in seconds. `console`: an admin; `email` is canonical and unique among those
        // who may sign in; `secret_hash` is of the setup code, good until `set_up_until`; `console_secrets` are the
        // password's hash and the app's secret, sealed; `totp_step` that of the last accepted code.
        """
        CREATE TABLE admin_credentials (
            id text NOT NULL,
            kind text NOT NULL,
            name text NOT NULL,
            secret_hash bytea NOT NULL,
            project text,
            scopes text[] NOT NULL,
            created_at timestamptz NOT NULL,
            expires_at timestamptz,
            disabled boolean NOT NULL DEFAULT false,
            last_used_at timestamptz,
            email text,
            public_key bytea,
            set_up_until timestamptz,
            console_secrets bytea,
            totp_step bigint NOT NULL DEFAULT 0,
            issuer text,
            jwks text,
            audience text,
            claims jsonb,
            token_lifetime bigint,
            CONSTRAINT admin_credentials_pkey PRIMARY KEY (id),
            CONSTRAINT admin_credentials_secret_hash_key UNIQUE (secret_hash)
        )
        """,
        """
        CREATE UNIQUE INDEX admin_credentials_console_key ON admin_credentials (email)
        WHERE kind = 'console' AND NOT disabled
        """,
        """
        CREATE TABLE console_sessions (
            handle_hash bytea NOT NULL,
            admin text NOT NULL,
            created_at timestamptz NOT NULL,
            authenticated_at timestamptz NOT NULL,
            last_used_at timestamptz NOT NULL,
            expires_at timestamptz NOT NULL,
            CONSTRAINT console_sessions_pkey PRIMARY KEY (handle_hash)
        )
        """,
        // Applications that sign their users in with a project's accounts. `metadata`: the members of RFC 7591.
        // `secret_hash`: SHA-256; NULL for a public client. `registration_hash`: of the token with which a client that
        // registered itself manages its registration. `expires_at`: when a client's document is forgotten.
        // `missing_since`: when it was first found gone.
        """
        CREATE TABLE oauth_clients (
            project text NOT NULL,
            client text NOT NULL,
            metadata jsonb NOT NULL,
            secret_hash bytea,
            trusted boolean NOT NULL DEFAULT false,
            origin text NOT NULL,
            registration_hash bytea,
            expires_at timestamptz,
            created_at timestamptz NOT NULL,
            updated_at timestamptz NOT NULL,
            missing_since timestamptz,
            CONSTRAINT oauth_clients_pkey PRIMARY KEY (project, client)
        )
        """,
        "CREATE INDEX oauth_clients_expires_at_idx ON oauth_clients (expires_at) WHERE expires_at IS NOT NULL",
        // Deleted applications, and blocked ones, whose grants have not all been ended yet: there may be more than one
        // statement can end.
        """
        CREATE TABLE ended_clients (
            project text NOT NULL,
            client text NOT NULL,
            ended_at timestamptz NOT NULL,
            CONSTRAINT ended_clients_pkey PRIMARY KEY (project, client)
        )
        """,
    ]
}
