package import Foundation
import Postgres

/// What an operator declares after the database was restored to an earlier time.
///
/// A restore brings back what was used or delivered since, and loses what the service has signed since. Nodes cannot see
/// that by themselves: to them, the database is as it always was.
extension ConfigurationStore {
    /// Ends everything that is good once and may have been used since, and takes refresh tokens of a future that is lost
    /// (``SessionStore/takeAfterRestore(_:generation:in:)``).
    ///
    /// Codes, links, unfinished sign-ins and sessions of the console end; so do waiting emails and SMS, which may have been
    /// sent already, and contain such codes.
    ///
    /// - Parameters:
    ///   - point: the time to which the database was restored, for the audit log.
    ///   - end: until when the tokens are taken.
    /// - Throws: ``RestoreDeclared`` while an earlier declaration lasts.
    package func declareRestore(to point: String, until end: Date) async throws {
        let now = now()
        let entry = AuditEntry(.databaseRestored, in: nil, changes: [point], at: now)
        let earlier = try await database.transaction { transaction in
            let isFirst =
                try await transaction.execute(
                    """
                    UPDATE configuration SET version = version + 1, epoch = \(UUID().uuidString.lowercased()), restored_at = \(now),
                        restore_ends_at = \(end)
                    WHERE restore_ends_at IS NULL OR restore_ends_at <= \(now)
                    """
                ) > 0
            guard isFirst else {
                return try await transaction.query("SELECT restored_at, restore_ends_at FROM configuration") { row in
                    RestoreDeclared(at: try row.next(), until: try row.next())
                }.first
            }
            let tables: [SQL] = [
                "flows", "pending_credentials", "oob_codes", "verification_codes", "device_codes", "console_sessions",
            ]
            for table in tables { try await transaction.execute("DELETE FROM \(sql: table)") }
            try await transaction.execute(
                "UPDATE admin_credentials SET set_up_until = NULL WHERE set_up_until IS NOT NULL"
            )
            try await transaction.execute("DELETE FROM outbox WHERE kind IN ('mail', 'sms')")
            try await transaction.execute(entry.insertion())
            return nil
        }
        if let earlier { throw earlier }
        try await load()
    }

    /// Refuses tokens of the lost future from now on.
    ///
    /// - Returns: whether there was a declaration.
    package func endRestore() async throws -> Bool {
        let now = now()
        return try await database.execute(
            "UPDATE configuration SET restore_ends_at = \(now) WHERE restore_ends_at > \(now)"
        ) > 0
    }
}

/// A restore was declared before, and still lasts.
package struct RestoreDeclared: Error, Sendable {
    package let at: Date
    package let until: Date
}
