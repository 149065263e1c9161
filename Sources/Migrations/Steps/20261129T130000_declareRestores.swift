import Postgres

extension Migration {
    /// When an operator declared that the database was restored, and until when tokens of its lost future are taken.
    package static let declareRestores = Migration(
        name: "20261129T130000_declareRestores",
        sql: ["ALTER TABLE configuration ADD COLUMN restored_at timestamptz, ADD COLUMN restore_ends_at timestamptz"]
    )
}
