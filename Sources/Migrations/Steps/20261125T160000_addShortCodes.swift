import Postgres

extension Migration {
    /// The six digits beside the link of an email, part of the link's row: the use of either ends both.
    ///
    /// `digits_session_hash` is the hash of what the client must present with them. Null for an email with a link alone.
    package static let addShortCodes = Migration(
        name: "20261125T160000_addShortCodes",
        sql: [
            """
            ALTER TABLE oob_codes
                ADD COLUMN digits_hash bytea,
                ADD COLUMN digits_session_hash bytea,
                ADD COLUMN digits_valid_until timestamptz,
                ADD COLUMN attempts integer NOT NULL DEFAULT 0
            """
        ]
    )
}
