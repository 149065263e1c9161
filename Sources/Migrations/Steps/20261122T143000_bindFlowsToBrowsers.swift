import Postgres

extension Migration {
    /// Flows of the handler page belong to the browser that began them, which comes back once; both are NULL for flows
    /// that apps run by themselves.
    package static let bindFlowsToBrowsers = Migration(
        name: "20261122T143000_bindFlowsToBrowsers",
        sql: ["ALTER TABLE flows ADD COLUMN browser_hash bytea, ADD COLUMN returned_at timestamptz"]
    )
}
