import Postgres

extension Migration {
    /// Binds a flow of the handler page to the browser that began it, which can return once; both columns are NULL for
    /// flows that apps run by themselves.
    package static let bindFlowsToBrowsers = Migration(
        name: "20261122T143000_bindFlowsToBrowsers",
        sql: ["ALTER TABLE flows ADD COLUMN browser_hash bytea, ADD COLUMN returned_at timestamptz"]
    )
}
