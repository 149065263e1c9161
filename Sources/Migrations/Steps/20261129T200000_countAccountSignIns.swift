import Postgres

extension Migration {
    /// When the sign-ins of an account are forgotten by their limit.
    package static let countAccountSignIns = Migration(
        name: "20261129T200000_countAccountSignIns",
        sql: ["ALTER TABLE account_activity ADD COLUMN sign_ins_until timestamptz"]
    )
}
