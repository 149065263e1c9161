import Postgres

extension Migration {
    /// Service accounts: rows of `admin_credentials` of the kind `service_account`, one for each key; the key's id is
    /// the row's.
    ///
    /// - `email`: the account that the key belongs to, and the issuer of the tokens it signs.
    /// - `public_key`: `SubjectPublicKeyInfo` in DER; the private half was never stored here.
    package static let addServiceAccounts = Migration(
        name: "20261122T065000_addServiceAccounts",
        sql: [
            """
            ALTER TABLE admin_credentials
                ADD COLUMN email text,
                ADD COLUMN public_key bytea
            """
        ]
    )
}
