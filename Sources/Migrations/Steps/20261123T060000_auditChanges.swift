import Postgres

extension Migration {
    /// The audit log: one row for each change, written by the statement that makes the change, and never altered.
    ///
    /// Rows outlive the records they describe, including projects. The months are partitions, which the table's owner
    /// creates ahead and drops; a row of a month without a partition goes to `audit_log_rest`, so that no row is
    /// refused. `tenant` is empty outside tenants.
    package static let auditChanges = Migration(
        name: "20261123T060000_auditChanges",
        sql: [
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
            CREATE INDEX audit_log_account_idx ON audit_log (project, account, recorded_at, entry)
                WHERE account IS NOT NULL
            """,
        ]
    )
}
