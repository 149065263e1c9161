import Postgres

extension Migration {
    /// The second factors of an account, a JSON array; null for none.
    ///
    /// They stand on the account's row: whatever signs in reads it anyway, and whatever changes them locks it.
    package static let addSecondFactors = Migration(
        name: "20261122T110000_addSecondFactors",
        sql: ["ALTER TABLE accounts ADD COLUMN second_factors text"]
    )
}
