import Postgres

extension Migration {
    /// The second factors of an account, a JSON array; null for none.
    ///
    /// They are part of the account's row: every sign-in reads it anyway, and every change of them locks it.
    package static let addSecondFactors = Migration(
        name: "20261122T110000_addSecondFactors",
        sql: ["ALTER TABLE accounts ADD COLUMN second_factors text"]
    )
}
