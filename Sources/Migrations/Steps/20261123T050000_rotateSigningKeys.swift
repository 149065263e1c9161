import Postgres

extension Migration {
    /// Signing keys that follow one another.
    ///
    /// - `signing_keys.private_key`: none once the key signs no more.
    /// - `retired_at` stays, empty: the release before this step reads it. A key is retired when a later one signs.
    package static let rotateSigningKeys = Migration(
        name: "20261123T050000_rotateSigningKeys",
        sql: ["ALTER TABLE signing_keys ALTER COLUMN private_key DROP NOT NULL"]
    )
}
