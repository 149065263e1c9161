import Postgres

extension Migration {
    /// Accounts that were merged into others.
    ///
    /// - `accounts.merged_into`: the account that the merged account's users and id now lead to. The row stays, so that
    ///   no other account gets the id, and counts as disabled, so that nothing it still has can sign anyone in.
    /// - `account_merges`: what an undo restores, cleared after the period for undoing; the rest of the row is kept as
    ///   long as both accounts.
    package static let mergeAccounts = Migration(
        name: "20261123T040000_mergeAccounts",
        sql: [
            "ALTER TABLE accounts ADD COLUMN merged_into text",
            """
            CREATE TABLE account_merges (
                project text NOT NULL,
                merge text NOT NULL,
                tenant text NOT NULL,
                survivor text NOT NULL,
                merged text NOT NULL,
                record text,
                merged_at timestamptz NOT NULL,
                undoable_until timestamptz,
                CONSTRAINT account_merges_pkey PRIMARY KEY (project, merge)
            )
            """,
            "CREATE INDEX account_merges_survivor_idx ON account_merges (project, survivor)",
            """
            CREATE INDEX account_merges_undoable_until_idx ON account_merges (undoable_until)
                WHERE undoable_until IS NOT NULL
            """,
        ]
    )
}
