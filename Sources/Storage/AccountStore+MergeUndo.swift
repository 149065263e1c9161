package import Domain
package import Foundation
import Postgres
package import Projects

/// The result of an undone merge.
package struct SeparatedAccounts: Sendable {
    package var survivor: Account
    package var restored: Account
    /// What the merge moved and was changed since.
    package var left: [ProviderID]
}

/// Why a merge cannot be undone.
package enum UndoRefusal: Error, Sendable, Hashable {
    /// Unknown, already undone, or one of the accounts was deleted.
    case unknown
    case late
    /// The survivor was merged into another account.
    case mergedAgain(into: AccountID)
}

/// Undoes merges.
extension AccountStore {
    /// Undoes a merge under the locks of both accounts, the survivor first: nothing else locks a merged account before
    /// it.
    ///
    /// - Throws: ``UndoRefusal``.
    package func undoMerge(
        _ id: String,
        isTold: Bool,
        in scope: Scope,
        now: Date
    ) async throws -> SeparatedAccounts {
        // Another account may take what was detached after it was read as free.
        for _ in 0..<2 {
            do {
                return try await separate(id, isTold: isTold, scope, now: now)
            } catch let error as PostgresError where error.constraint.flatMap(ClaimConflict.init(rawValue:)) != nil {
                continue
            }
        }
        return try await separate(id, isTold: isTold, scope, now: now)
    }

    private func separate(_ id: String, isTold: Bool, _ scope: Scope, now: Date) async throws -> SeparatedAccounts {
        try await database.transaction { transaction in
            let found = try await transaction.query(
                """
                SELECT survivor, merged, record, merged_at, undoable_until FROM account_merges
                WHERE project = \(scope.project.rawValue) AND merge = \(id) AND tenant = \(scope.tenant.rawValue)
                """
            ) { row in
                (
                    survivor: AccountID(try row.next()), merged: AccountID(try row.next()),
                    record: try row.next(String?.self), mergedAt: try row.next(Date.self),
                    end: try row.next(Date?.self)
                )
            }
            guard let found = found.first else { throw UndoRefusal.unknown }
            guard let text = found.record, let end = found.end, now < end else { throw UndoRefusal.late }
            let record = try JSONDecoder().decode(MergeRecord.self, from: Data(text.utf8))
            let locked = try await lockMerged(found.survivor, found.merged, scope, transaction)
            if let next = locked { throw UndoRefusal.mergedAgain(into: next) }
            // A concurrent undo or cleanup may have removed the record.
            audit(.mergeUndone, found.survivor, found.merged, scope, now: now, transaction)
            let ended = try await transaction.execute(
                """
                DELETE FROM account_merges
                WHERE project = \(scope.project.rawValue) AND merge = \(id) AND tenant = \(scope.tenant.rawValue)
                    AND record IS NOT NULL
                """
            )
            guard ended == 1 else { throw UndoRefusal.unknown }
            let (stayed, merged) = try await read(found.survivor, found.merged, scope, transaction)
            let seconds = Int64(now.timeIntervalSince1970)
            var undo = MergeUndo(of: record, survivor: stayed, merged: merged, seconds: seconds)
            if !undo.left.isEmpty {
                let detached = try await detached(from: stayed.id, since: found.mergedAt, scope, transaction)
                undo = MergeUndo(of: record, survivor: stayed, merged: merged, detached: detached, seconds: seconds)
            }
            try await moveClaims(of: stayed, to: undo.restored, scope, transaction)
            let identities = Set(undo.returned.filter(\.isFederated))
            try await moveIdentities(identities, from: stayed.id, to: merged.id, scope, transaction)
            claim(undo.recovered, of: undo.restored, scope, now: now, transaction)
            let returnsPassword = undo.returned.contains(.password)
            let password = returnsPassword ? AccountRow.Password.of(stayed.id) : .kept
            try write(undo.restored, password: password, scope, now: now, transaction)
            // They may be the other user's, who signed in with what goes back, and began a change with it. Their session
            // cookies end only with all others.
            let since = Int64(found.mergedAt.timeIntervalSince1970)
            let hasSignedIn = try await hasSignedIn(stayed.id, since: since, scope, transaction)
            try write(
                undo.survivor,
                password: returnsPassword ? .new(nil) : .kept,
                endsSessions: hasSignedIn,
                scope,
                now: now,
                transaction
            )
            if hasSignedIn {
                transaction.write(SessionStore.ending(where: "true", of: stayed.id, scope, now: now))
            }
            transaction.write(
                OOBCodeStore.voiding([.verifyAndChangeEmail], of: stayed.id.rawValue, scope)
            )
            let (survivor, restored) = try await read(stayed.id, merged.id, scope, transaction)
            if isTold {
                try await tell(.accountMergeUndone, of: survivor, merged.id, scope, now: now, transaction)
            }
            return SeparatedAccounts(survivor: survivor, restored: restored, left: undo.left)
        }
    }

    /// - Parameter time: in seconds since 1970.
    private func hasSignedIn(
        _ account: AccountID,
        since time: Int64,
        _ scope: Scope,
        _ transaction: PostgresTransaction
    ) async throws -> Bool {
        try await transaction.query(
            """
            SELECT EXISTS (
                SELECT FROM sessions
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND account = \(account.rawValue) AND auth_time >= \(time)
            )
            """
        ) { row in try row.next(Bool.self) } == [true]
    }

    /// Claims again what was detached from the survivor, for the account that has it back.
    private func claim(
        _ recovered: [ProviderID],
        of account: Account,
        _ scope: Scope,
        now: Date,
        _ transaction: PostgresTransaction
    ) {
        for method in recovered {
            switch method {
            case .phone:
                guard let number = account.phoneNumber else { continue }
                claim(phoneNumber: number, for: account.id, scope, transaction)
            case .passkey:
                var before = account
                before.passkeys = []
                applyPasskeys(
                    Transition(before: before, after: account, scope: scope, now: now, transaction: transaction)
                )
            default:
                for linked in account.linked where linked.provider == method {
                    insert(linked, account: account.id, scope, now: now, transaction)
                }
            }
        }
    }

    /// - Returns: the account that the survivor itself was merged into.
    private func lockMerged(
        _ survivor: AccountID,
        _ merged: AccountID,
        _ scope: Scope,
        _ transaction: PostgresTransaction
    ) async throws -> AccountID? {
        var next: AccountID?
        for account in [survivor, merged] {
            let found = try await transaction.query(
                """
                SELECT merged_into FROM accounts
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND account = \(account.rawValue)
                FOR UPDATE
                """
            ) { row in try row.next(String?.self) }
            guard let into = found.first else { throw UndoRefusal.unknown }
            if account == survivor { next = into.map { AccountID($0) } }
        }
        return next
    }
}
