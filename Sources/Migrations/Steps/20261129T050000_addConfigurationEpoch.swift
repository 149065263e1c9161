import Postgres

extension Migration {
    /// Tells two versions of the configuration with the same number apart: a database that was restored, or lost its last
    /// commits in a failover, counts the same numbers again.
    package static let addConfigurationEpoch = Migration(
        name: "20261129T050000_addConfigurationEpoch",
        sql: ["ALTER TABLE configuration ADD COLUMN epoch text NOT NULL DEFAULT gen_random_uuid()::text"]
    )
}
