import Postgres

extension Migration {
    /// What an account lost to another identity, by its version when it did; gone with the account.
    package static let recordDetachedCredentials = Migration(
        name: "20261122T004000_recordDetachedCredentials",
        sql: [
            """
            CREATE TABLE detached_credentials (
                project text NOT NULL,
                account text NOT NULL,
                version bigint NOT NULL,
                provider text NOT NULL,
                tenant text NOT NULL,
                subject text NOT NULL,
                email text,
                display_name text,
                linked_at timestamptz,
                reason text NOT NULL,
                by_provider text NOT NULL,
                by_subject text NOT NULL,
                detached_at timestamptz NOT NULL,
                CONSTRAINT detached_credentials_pkey PRIMARY KEY (project, account, version, provider),
                CONSTRAINT detached_credentials_reason CHECK (reason IN ('takeOver', 'emailRecycled'))
            )
            """
        ]
    )
}
