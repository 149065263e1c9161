import Postgres

extension Migration {
    /// `configuration.swept_at`: when a node last took it upon itself to delete what has expired.
    package static let takeTurnsAtCleanup = Migration(
        name: "20261123T061000_takeTurnsAtCleanup",
        sql: ["ALTER TABLE configuration ADD COLUMN swept_at timestamptz NOT NULL DEFAULT '-infinity'"]
    )
}
