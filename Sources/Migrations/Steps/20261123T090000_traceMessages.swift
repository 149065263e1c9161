import Postgres

extension Migration {
    /// The trace of the request that caused a message, passed on to its receiver.
    package static let traceMessages = Migration(
        name: "20261123T090000_traceMessages",
        sql: [
            "ALTER TABLE outbox ADD COLUMN trace_parent text, ADD COLUMN trace_state text"
        ]
    )
}
