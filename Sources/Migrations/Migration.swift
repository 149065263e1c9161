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
    /// What it replaces: the database has one of these series, or none.
    package let earlier: [Earlier]

    /// Consecutive migrations from before the first release that one replaces.
    package struct Earlier: Sendable {
        package let first: String
        package let last: String
        /// What makes their schema that of the one.
        package let sql: [SQL]
        /// That of the schema then, as ``Migrator/fingerprint(_:)`` has it.
        package let fingerprint: String

        package init(first: String, last: String, sql: [SQL], fingerprint: String) {
            (self.first, self.last, self.sql, self.fingerprint) = (first, last, sql, fingerprint)
        }
    }

    package init(name: String, sql: [SQL], transactional: Bool = true, replacing earlier: [Earlier] = []) {
        self.name = name
        self.sql = sql
        self.transactional = transactional
        self.earlier = earlier
    }

    func earlier(startingWith first: String?) -> Earlier? { earlier.first { $0.first == first } }
}
