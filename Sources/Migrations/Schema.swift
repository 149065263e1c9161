import Postgres

/// The schema as the list of its migrations.
///
/// Every key begins with the project, so that rows can be placed by it. `tenant` is `''` for the project itself, never
/// NULL, so that it can be part of keys. There are no foreign keys.
package enum Schema {
    /// In the order of their names; a released migration never changes.
    package static let all = [createSchema]

    package static let createSchema = Migration(
        name: "20261130T000000_createSchema",
        sql: configuration + accounts + sessions + records,
        replacing: Migration.Earlier(
            first: "20261121T000000_createSchema",
            last: "20261129T200000_countAccountSignIns",
            sql: [
                "ALTER TABLE sessions DROP COLUMN code_hash, DROP COLUMN code_until",
                "ALTER TABLE oob_codes DROP COLUMN phone_number",
                "ALTER TABLE signing_keys DROP COLUMN retired_at",
                "CREATE INDEX outbox_given_up_idx ON outbox (project, abandoned_at) WHERE abandoned_at IS NOT NULL",
            ],
            fingerprint: "a352c99467fd3084b56283e50e315cd1"
        )
    )
}
