import Postgres

extension Migration {
    /// `configuration.swept_at`: when a node last started to delete expired rows.
    package static let takeTurnsAtCleanup = Migration(
        name: "20261123T061000_takeTurnsAtCleanup",
        sql: ["ALTER TABLE configuration ADD COLUMN swept_at timestamptz NOT NULL DEFAULT '-infinity'"]
    )
}
