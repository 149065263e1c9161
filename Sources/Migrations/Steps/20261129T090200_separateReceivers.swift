import Postgres

extension Migration {
    /// - `outbox.receiver`: the client that a message is for; empty for the project's own receiver of its kind.
    /// - `oauth_clients.missing_since`: when the document of a client was first found gone; NULL while it is there.
    /// - `device_codes.revoked_version`: the account's when its user agreed: what was withdrawn since begins nothing.
    package static let separateReceivers = Migration(
        name: "20261129T090200_separateReceivers",
        sql: [
            "ALTER TABLE outbox ADD COLUMN receiver text NOT NULL DEFAULT ''",
            "ALTER TABLE oauth_clients ADD COLUMN missing_since timestamptz",
            "ALTER TABLE device_codes ADD COLUMN revoked_version bigint",
        ]
    )
}
