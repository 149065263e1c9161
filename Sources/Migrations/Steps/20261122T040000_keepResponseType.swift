import Postgres

extension Migration {
    /// The response type that an admin configured (Firebase's `responseType`); NULL to derive it from the secret.
    package static let keepResponseType = Migration(
        name: "20261122T040000_keepResponseType",
        sql: ["ALTER TABLE provider_configurations ADD COLUMN response_type text"]
    )
}
