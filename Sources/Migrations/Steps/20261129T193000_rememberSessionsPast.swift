import Postgres

extension Migration {
    /// The methods with which a session was signed in to before its current one, and the generation before which a change
    /// of the password or email ended its refresh tokens.
    package static let rememberSessionsPast = Migration(
        name: "20261129T193000_rememberSessionsPast",
        sql: ["ALTER TABLE sessions ADD COLUMN earlier_providers text[], ADD COLUMN retired_below integer"]
    )
}
