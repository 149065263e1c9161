import Postgres

extension Migration {
    /// Outcomes of sign-ins, counted by day (UTC): nodes add their counts every few seconds.
    package static let countSignIns = Migration(
        name: "20261123T110000_countSignIns",
        sql: [
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
    )
}
