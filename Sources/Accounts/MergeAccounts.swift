package import struct Foundation.Date
package import Domain
package import Projects
import Secrets
package import Storage

extension AccountsService { package var mergeAccounts: MergeAccounts { MergeAccounts(service: self) } }

/// Merges two accounts of one user; the merge can be undone for a week.
///
/// The admin decides that they belong to the same user: the user is not asked, and the merge proves nothing.
package struct MergeAccounts: Sendable {
    let service: AccountsService

    /// Seconds during which a merge can be undone.
    package static let window = 7.0 * 86_400

    package struct Request: Sendable {
        /// The account that remains.
        package var localID: String?
        /// The account to merge.
        package var mergedLocalID: String?
        /// Items of the merged account to drop: identity providers, `password`, `phone`, `emailLink`, `mfa`.
        package var dropped: Set<ProviderID> = []
        /// Returns a preview and writes nothing.
        package var validateOnly = false
        /// The versions of both accounts that the admin saw; nil for any.
        package var version: Int64?
        package var mergedVersion: Int64?

        package init() {}
    }

    package struct Result: Sendable {
        /// The remaining account afterwards.
        package var account: Account
        package var merge: AccountMerge
        /// Nil for a preview.
        package var id: String?
        package var undoableUntil: Date?
    }

    package func callAsFunction(_ request: Request, _ project: Project) async throws -> Result {
        let survivor = try AdminAccounts.required(request.localID)
        let merged = try AdminAccounts.required(request.mergedLocalID)
        let caller = Caller(project: project)
        do {
            return try await merge(merged, into: survivor, request, caller)
        } catch AccountsError.userNotFound {
            // The ID of a merged account is an alias of the survivor.
            let known = try await service.accounts.survivors(of: [survivor, merged], in: caller.scope)
            guard !known.isEmpty else { throw AccountsError.userNotFound }
            return try await merge(known[merged] ?? merged, into: known[survivor] ?? survivor, request, caller)
        }
    }

    /// The merges into an account that can still be undone.
    package func undoable(
        of survivor: AccountID,
        _ project: Project
    ) async throws -> [AccountStore.UndoableMerge] {
        let scope = project.scope
        return try await service.accounts.undoableMerges(of: survivor, in: scope, now: service.now())
    }

    /// - Returns: both accounts, and what was changed since and did not move back.
    package func undo(_ id: String?, _ project: Project) async throws -> SeparatedAccounts {
        guard let id, !id.isEmpty else { throw AccountsError.mergeNotFound }
        let caller = Caller(project: project)
        do {
            let accounts = try await service.accounts.undoMerge(
                id,
                isTold: project.settings.delivery.takes(.accountMergeUndone),
                in: caller.scope,
                now: service.now()
            )
            AccountEvent.mergeUndone.log(accounts.survivor.id, caller)
            return accounts
        } catch let refusal as UndoRefusal {
            throw AccountsError(refusal)
        }
    }

    private func merge(
        _ merged: AccountID,
        into survivor: AccountID,
        _ request: Request,
        _ caller: Caller
    ) async throws -> Result {
        guard survivor != merged else { throw AccountsError.sameAccount }
        guard !request.validateOnly else { return try await preview(merged, into: survivor, request, caller) }
        let new = NewMerge(
            id: service.random.uuid(),
            undoableUntil: service.now().addingTimeInterval(Self.window),
            revocable: service.revocable(request.dropped, caller),
            isTold: caller.project.settings.delivery.takes(.accountMerged)
        )
        do {
            let done = try await service.accounts.merge(
                merged,
                into: survivor,
                as: new,
                in: caller.scope,
                now: service.now()
            ) { survivor, merged in
                var merge = try decide(merged, into: survivor, request)
                guard merge.conflicts.isEmpty else { throw AccountsError.mergeConflict(merge.conflicts) }
                try seal(&merge, of: merged, caller)
                return merge
            }
            AccountEvent.merged.log(survivor, caller)
            return Result(
                account: done.survivor,
                merge: done.merge,
                id: new.id,
                undoableUntil: new.undoableUntil
            )
        } catch is UnknownAccount {
            throw AccountsError.userNotFound
        }
    }

    private func preview(
        _ merged: AccountID,
        into survivor: AccountID,
        _ request: Request,
        _ caller: Caller
    ) async throws -> Result {
        let found = try await service.accounts.find(AccountSelectors(accounts: [survivor, merged]), in: caller.scope)
        guard found.count == 2 else { throw AccountsError.userNotFound }
        let merge = try decide(found[1], into: found[0], request)
        return Result(account: merge.survivor, merge: merge)
    }

    /// Disabled accounts cannot be merged; they must be enabled first.
    private func decide(
        _ merged: Account,
        into survivor: Account,
        _ request: Request
    ) throws(AccountsError) -> AccountMerge {
        try survivor.require(version: request.version)
        try merged.require(version: request.mergedVersion)
        guard !merged.isDisabled, !survivor.isDisabled else { throw .userDisabled }
        return AccountMerge(of: merged, into: survivor, dropping: request.dropped, seconds: service.seconds)
    }

    /// Reseals the secrets of authenticator apps for the account that takes them.
    private func seal(_ merge: inout AccountMerge, of merged: Account, _ caller: Caller) throws {
        let survivor = merge.survivor.id
        merge.seal(
            try merge.movedFactors.map { factor in
                guard case .totp(let sealed, let lastStep) = factor.kind else { return factor }
                let secret = try service.keyRing.open(
                    sealed,
                    for: AccountsService.secretPlace(merged.id, factor.id, caller)
                )
                let place = AccountsService.secretPlace(survivor, factor.id, caller)
                var moved = factor
                moved.kind = .totp(sealedSecret: try service.keyRing.seal(secret, for: place), lastStep: lastStep)
                return moved
            }
        )
    }
}

extension AccountsError {
    init(_ refusal: UndoRefusal) {
        self =
            switch refusal {
            case .unknown: .mergeNotFound
            case .late: .mergeNotUndoable("The merge is older than a week.")
            case .mergedAgain(let next):
                .mergeNotUndoable("The account was merged into \(next) itself: undo that merge first.")
            }
    }
}
