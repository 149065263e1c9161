package import Postgres

/// One migration of the schema, never changed once released.
///
/// No migration breaks the previous release: expand, deploy, contract.
package struct Migration: Sendable {
    /// Such as `20260101T000000_createAccounts`; migrations run in the order of their names.
    package let name: String
    package let sql: [SQL]
    /// Whether the migration and its entry are one transaction.
    ///
    /// A migration outside of a transaction must be idempotent, because it runs again if it failed or its entry was
    /// lost: an index that is created concurrently is dropped first, because a failure leaves an invalid one.
    package let transactional: Bool

    package init(name: String, sql: [SQL], transactional: Bool = true) {
        self.name = name
        self.sql = sql
        self.transactional = transactional
    }
}
