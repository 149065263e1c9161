package import Domain
import Postgres
package import Projects
package import struct Foundation.Date

extension AccountStore {
    /// A merge that can still be undone.
    package struct UndoableMerge: Sendable, Hashable {
        package var id: String
        package var merged: AccountID
        package var mergedAt: Date
        package var undoableUntil: Date
    }

    /// The merges into an account that can be undone, latest first.
    package func undoableMerges(of survivor: AccountID, in scope: Scope, now: Date) async throws -> [UndoableMerge] {
        try await database.query(
            """
            SELECT merge, merged, merged_at, undoable_until FROM account_merges
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND survivor = \(survivor.rawValue) AND undoable_until > \(now)
            ORDER BY merged_at DESC, merge
            """
        ) { row in
            UndoableMerge(
                id: try row.next(),
                merged: AccountID(try row.next(String.self)),
                mergedAt: try row.next(),
                undoableUntil: try row.next()
            )
        }
    }
}
