import Postgres

extension Migration {
    /// Signing keys that succeed one another.
    ///
    /// - `signing_keys.private_key`: null once the key no longer signs.
    /// - `retired_at` stays, empty, as the release before this step reads it. A key is retired when a later one signs.
    package static let rotateSigningKeys = Migration(
        name: "20261123T050000_rotateSigningKeys",
        sql: ["ALTER TABLE signing_keys ALTER COLUMN private_key DROP NOT NULL"]
    )
}
