import Postgres

extension Migration {
    /// The end of a flow deletes its row, which writes less than an update and leaves nothing to sweep.
    package static let deleteEndedFlows = Migration(
        name: "20261122T050000_deleteEndedFlows",
        sql: ["ALTER TABLE flows DROP COLUMN consumed_at"]
    )
}
