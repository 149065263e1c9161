import Postgres

/// What is kept of changes and sign-ins, and what has to be sent.
extension Schema {
    static let records: [SQL] = [
        // `receiver`: the client that a message is for; empty for the project's own receiver of its kind. `provider`,
        // `subject`: the identity that it is about, which may be linked again before the delivery. `expires_at`: when
        // it is no longer useful, and how long it is kept when it is finished.
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
            abandoned_at timestamptz,
            tenant text,
            provider text,
            subject text,
            expires_at timestamptz,
            trace_parent text,
            trace_state text,
            receiver text NOT NULL DEFAULT '',
            CONSTRAINT outbox_pkey PRIMARY KEY (project, message)
        )
        """,
        "CREATE INDEX outbox_due_idx ON outbox (next_attempt_at) WHERE delivered_at IS NULL AND abandoned_at IS NULL",
        "CREATE INDEX outbox_expires_at_idx ON outbox (expires_at) WHERE expires_at IS NOT NULL",
        "CREATE INDEX outbox_given_up_idx ON outbox (project, abandoned_at) WHERE abandoned_at IS NOT NULL",
        // A receiver's backlog is passed over, not read.
        """
        CREATE INDEX outbox_receiver_idx ON outbox (kind, project, receiver, next_attempt_at)
        WHERE delivered_at IS NULL AND abandoned_at IS NULL
        """,
        // One row for each change, written by the statement that makes it, and never altered. Rows outlive what they
        // describe. The months are partitions, which the table's owner creates ahead and drops; a row of a month
        // without one goes to `audit_log_rest`, so that none is refused.
        """
        CREATE TABLE audit_log (
            project text NOT NULL,
            recorded_at timestamptz NOT NULL,
            entry uuid NOT NULL DEFAULT gen_random_uuid(),
            tenant text NOT NULL,
            account text,
            provider text,
            resource text,
            action text NOT NULL,
            changes text[] NOT NULL DEFAULT '{}',
            actor text NOT NULL,
            address_prefix text,
            request text,
            operation text,
            reason text,
            CONSTRAINT audit_log_pkey PRIMARY KEY (project, recorded_at, entry)
        ) PARTITION BY RANGE (recorded_at)
        """,
        "CREATE TABLE audit_log_rest PARTITION OF audit_log DEFAULT",
        """
        CREATE INDEX audit_log_account_idx ON audit_log (project, tenant, account, recorded_at, entry)
        WHERE account IS NOT NULL
        """,
        // By day (UTC); nodes add their counts every few seconds.
        """
        CREATE TABLE sign_in_counts (
            project text NOT NULL,
            tenant text NOT NULL,
            day date NOT NULL,
            provider text NOT NULL,
            outcome text NOT NULL,
            count bigint NOT NULL,
            CONSTRAINT sign_in_counts_pkey PRIMARY KEY (project, tenant, day, provider, outcome)
        ) WITH (fillfactor = 50)
        """,
        "CREATE INDEX sign_in_counts_day ON sign_in_counts (day)",
    ]
}
