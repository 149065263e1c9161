import Postgres

extension Migration {
    /// What nodes count up at the primary and read at a replica, to know how far it is behind.
    package static let measureReplicas = Migration(
        name: "20261126T230000_measureReplicas",
        sql: [
            "CREATE TABLE replica_count (number int8 NOT NULL)",
            "INSERT INTO replica_count VALUES (0)",
        ]
    )
}
