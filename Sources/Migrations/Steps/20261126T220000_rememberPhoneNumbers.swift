import Postgres

extension Migration {
    /// The phone number of an account whose email changes, so that a recovery removes a later one.
    ///
    /// Null in other codes and in those of earlier releases.
    package static let rememberPhoneNumbers = Migration(
        name: "20261126T220000_rememberPhoneNumbers",
        sql: ["ALTER TABLE oob_codes ADD COLUMN phone_number text"]
    )
}
