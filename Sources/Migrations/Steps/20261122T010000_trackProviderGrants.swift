import Postgres

extension Migration {
    /// Tracks grants at providers after the sign-in: those withdrawn there, and those to be revoked there.
    ///
    /// - `credential_subjects.revoked_at`: when the provider reported that the user withdrew the grant; the next
    ///   sign-in with the identity clears it. It is in this table because every sign-in reads that row.
    /// - `credential_subjects.blocked_at`: since when the provider reports that another person may be using its
    ///   account.
    /// - `linked_credentials.token_client`: the client that the provider's tokens were issued to, if there are several.
    /// - `kept_names`: a name that a provider sends only once, stored before anything that can fail.
    /// - `provider_events`: the events already handled, so that a repeated one has no effect.
    package static let trackProviderGrants = Migration(
        name: "20261122T010000_trackProviderGrants",
        sql: [
            """
            ALTER TABLE credential_subjects
                ADD COLUMN revoked_at timestamptz,
                ADD COLUMN blocked_at timestamptz
            """,
            "ALTER TABLE provider_configurations ADD COLUMN webhook_secret bytea",
            """
            ALTER TABLE linked_credentials
                ADD COLUMN email_is_relay boolean,
                ADD COLUMN email_forwarding boolean,
                ADD COLUMN email_forwarding_since timestamptz,
                ADD COLUMN real_user_status integer,
                ADD COLUMN token_client text
            """,
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
            "ALTER TABLE outbox ADD COLUMN abandoned_at timestamptz",
            """
            CREATE INDEX outbox_due_idx ON outbox (next_attempt_at)
                WHERE delivered_at IS NULL AND abandoned_at IS NULL
            """,
        ]
    )
}
