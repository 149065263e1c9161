package import Postgres

/// One numbered step forward of the schema, frozen once released.
///
/// No step breaks the release before it: expand, deploy, contract.
package struct Migration: Sendable {
    /// Such as `20260101T000000_createAccounts`; the steps run in the order of their names.
    package let name: String
    package let sql: [SQL]
    /// Whether the step and the note that it was applied are one transaction.
    ///
    /// A step outside must be idempotent, as it runs again when it failed or the note was lost: an index made
    /// concurrently is dropped first, because a failure leaves an invalid one.
    package let transactional: Bool

    package init(name: String, sql: [SQL], transactional: Bool = true) {
        self.name = name
        self.sql = sql
        self.transactional = transactional
    }
}
