import Postgres

extension Migration {
    /// The phone number of an account whose email changes, so that a recovery removes a later one.
    package static let rememberPhoneNumbers = Migration(
        name: "20261126T220000_rememberPhoneNumbers",
        sql: ["ALTER TABLE oob_codes ADD COLUMN phone_number text"]
    )
}
