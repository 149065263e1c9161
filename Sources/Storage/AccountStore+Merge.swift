import Delivery
package import Domain
package import Foundation
import Postgres
package import Projects
import Secrets

/// The result of a merge.
package struct MergedAccounts: Sendable {
    package var survivor: Account
    package var merge: AccountMerge
}

/// A merge's ID, and how long it can be undone.
package struct NewMerge: Sendable {
    package var id: String
    package var undoableUntil: Date
    /// The merged account's providers whose grants are revoked once the merge can no longer be undone.
    package var revocable: Set<ProviderID>
    /// Whether a webhook is sent.
    package var isTold: Bool

    package init(id: String, undoableUntil: Date, revocable: Set<ProviderID>, isTold: Bool) {
        self.id = id
        self.undoableUntil = undoableUntil
        self.revocable = revocable
        self.isTold = isTold
    }
}

/// Merges two accounts; `AccountStore+MergeUndo.swift` undoes it.
///
/// The merged account's row stays, disabled and with what it still holds: no other account can take its claims, and its
/// ID becomes an alias of the survivor. Claims, identities and columns that move are updated in place, so no claim is
/// free in between.
extension AccountStore {
    /// Merges an account into another one, under the locks of both, in the order of their IDs.
    ///
    /// - Parameter decide: gets both current accounts, the survivor first; if it throws, nothing changes.
    /// - Throws: what `decide` throws; ``UnknownAccount`` for either.
    package func merge(
        _ merged: AccountID,
        into survivor: AccountID,
        as new: NewMerge,
        in scope: Scope,
        now: Date,
        decide: @escaping @Sendable (Account, Account) throws -> AccountMerge
    ) async throws -> MergedAccounts {
        try await database.transaction { transaction in
            try await lock([merged, survivor], scope, transaction)
            let (stays, goes) = try await read(survivor, merged, scope, transaction)
            let merge = try decide(stays, goes)
            let lost = try await grants(
                of: merged,
                at: new.revocable.intersection(merge.rest.linked.map(\.provider)),
                scope,
                transaction
            )
            // An hour later, the identity is either unlinked, or linked again, in which case the grant stays.
            try await revoke(lost, scope, now: new.undoableUntil.addingTimeInterval(3_600), transaction)
            try await moveClaims(of: goes, to: merge.survivor, scope, transaction)
            let identities = Set(merge.moved.filter(\.isFederated))
            try await moveIdentities(identities, from: merged, to: survivor, scope, transaction)
            let movesPassword = merge.moved.contains(.password)
            try write(merge.survivor, password: movesPassword ? .of(merged) : .kept, scope, now: now, transaction)
            try write(
                merge.rest,
                password: movesPassword ? .new(nil) : .kept,
                mergedInto: survivor,
                scope,
                now: now,
                transaction
            )
            end(goes, scope, now: now, transaction)
            if merge.survivor.emailVerified {
                transaction.write(OOBCodeStore.endingUnprovedRecoveries(of: survivor, scope))
            }
            let record = String(decoding: try JSONEncoder().encode(merge.record), as: UTF8.self)
            audit(.accountMerged, survivor, merged, scope, now: now, transaction)
            transaction.write(
                """
                INSERT INTO account_merges (project, merge, tenant, survivor, merged, record, merged_at, undoable_until)
                VALUES (\(scope.project.rawValue), \(new.id), \(scope.tenant.rawValue), \(survivor.rawValue),
                    \(merged.rawValue), \(record), \(now), \(new.undoableUntil))
                """
            )
            guard let after = try await read(survivor, scope, transaction)?.account else {
                throw UnknownAccount()
            }
            if new.isTold {
                try await tell(.accountMerged, of: after, merged, scope, now: now, transaction)
            }
            return MergedAccounts(survivor: after, merge: merge)
        }
    }

    private func lock(
        _ accounts: [AccountID],
        _ scope: Scope,
        _ transaction: PostgresTransaction
    )
        async throws
    {
        let locked = try await transaction.query(
            """
            SELECT true FROM accounts
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND account = ANY (\(accounts.map(\.rawValue))::text[]) AND merged_into IS NULL
            ORDER BY account FOR UPDATE
            """
        ) { row in try row.next(Bool.self) }
        guard locked.count == accounts.count else { throw UnknownAccount() }
    }

    /// The survivors of merged accounts; other and unknown IDs are omitted.
    package func survivors(of accounts: [AccountID], in scope: Scope) async throws -> [AccountID: AccountID] {
        try await aliases(accounts, in: scope).mapValues(\.survivor)
    }

    /// The same, with the time in seconds before which all tokens of the ID are invalid: that of its merge.
    package func aliases(
        _ accounts: [AccountID],
        in scope: Scope
    ) async throws -> [AccountID: (survivor: AccountID, validSince: Int64)] {
        let found = try await database.query(
            """
            WITH RECURSIVE trail (asked, account, valid_since) AS (
                SELECT account, merged_into, valid_since FROM accounts
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND account = ANY (\(accounts.map(\.rawValue))::text[]) AND merged_into IS NOT NULL
                UNION
                SELECT t.asked, a.merged_into, t.valid_since FROM trail t
                JOIN accounts a ON a.project = \(scope.project.rawValue) AND a.tenant = \(scope.tenant.rawValue)
                    AND a.account = t.account
                WHERE a.merged_into IS NOT NULL
            )
            SELECT t.asked, t.account, t.valid_since FROM trail t
            JOIN accounts a ON a.project = \(scope.project.rawValue) AND a.tenant = \(scope.tenant.rawValue)
                AND a.account = t.account
            WHERE a.merged_into IS NULL
            """
        ) { row in
            (AccountID(try row.next()), (survivor: AccountID(try row.next()), validSince: try row.next(Int64.self)))
        }
        return Dictionary(found) { first, _ in first }
    }

    // MARK: Steps

    func read(
        _ first: AccountID,
        _ second: AccountID,
        _ scope: Scope,
        _ transaction: PostgresTransaction
    ) async throws -> (Account, Account) {
        guard let one = try await read(first, scope, transaction)?.account,
            let other = try await read(second, scope, transaction)?.account
        else { throw UnknownAccount() }
        return (one, other)
    }

    /// Moves the account's new email, phone number and passkeys to it.
    func moveClaims(
        of owner: Account,
        to account: Account,
        _ scope: Scope,
        _ transaction: PostgresTransaction
    ) async throws {
        let email = owner.email?.canonical == account.email?.canonical ? owner.email?.canonical : nil
        let number = owner.phoneNumber == account.phoneNumber ? owner.phoneNumber : nil
        let passkeys = Set(owner.passkeys.map(\.id)).intersection(account.passkeys.map(\.id)).sorted()
        guard email != nil || number != nil || !passkeys.isEmpty else { return }
        transaction.write(
            """
            WITH emails AS (
                UPDATE account_emails SET account = \(account.id.rawValue)
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND email_key = \(email) AND account = \(owner.id.rawValue)
            ), passkeys AS (
                UPDATE account_passkeys SET account = \(account.id.rawValue)
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND credential = ANY (\(passkeys)::text[]) AND account = \(owner.id.rawValue)
            )
            UPDATE account_phones SET account = \(account.id.rawValue)
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND phone_number = \(number) AND account = \(owner.id.rawValue)
            """
        )
    }

    /// Moves identities to another account and reseals their secrets for the new rows.
    func moveIdentities(
        _ providers: Set<ProviderID>,
        from owner: AccountID,
        to account: AccountID,
        _ scope: Scope,
        _ transaction: PostgresTransaction
    ) async throws {
        guard !providers.isEmpty else { return }
        let kept = try await transaction.query(
            """
            SELECT provider, tokens, refresh_token, profile FROM linked_credentials
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND account = \(owner.rawValue)
                AND provider = ANY (\(providers.map(\.rawValue).sorted())::text[])
            ORDER BY provider
            """
        ) { row in
            (
                provider: ProviderID(try row.next(String.self)), tokens: try row.next([UInt8]?.self),
                refreshToken: try row.next([UInt8]?.self), profile: try row.next([UInt8]?.self)
            )
        }
        /// Values that can no longer be read are not moved.
        func reseal(
            _ value: [UInt8]?,
            _ provider: ProviderID,
            _ part: KeyPath<LinkedCredentialPlace, String>
        ) throws -> [UInt8]? {
            let (old, new) = (
                LinkedCredentialPlace(scope, owner, provider), LinkedCredentialPlace(scope, account, provider)
            )
            guard let value, let opened = try? keyRing.open(value, for: old[keyPath: part]) else { return nil }
            return try keyRing.seal(opened, for: new[keyPath: part])
        }
        transaction.write(
            """
            WITH moved AS (
                UPDATE linked_credentials l
                SET account = \(account.rawValue), tokens = n.tokens, refresh_token = n.refresh_token,
                    profile = n.profile, refresh_generation = l.refresh_generation + 1, refresh_leased_until = NULL
                FROM unnest(\(kept.map(\.provider.rawValue))::text[],
                    \(try kept.map { try reseal($0.tokens, $0.provider, \.tokens) })::bytea[],
                    \(try kept.map { try reseal($0.refreshToken, $0.provider, \.refreshToken) })::bytea[],
                    \(try kept.map { try reseal($0.profile, $0.provider, \.profile) })::bytea[])
                    n (provider, tokens, refresh_token, profile)
                WHERE l.project = \(scope.project.rawValue) AND l.tenant = \(scope.tenant.rawValue)
                    AND l.account = \(owner.rawValue)
                    AND l.provider = n.provider
                RETURNING l.tenant, l.provider, l.subject
            )
            UPDATE credential_subjects c SET account = \(account.rawValue)
            FROM moved m
            WHERE c.project = \(scope.project.rawValue) AND c.tenant = m.tenant AND c.provider = m.provider
                AND c.subject = m.subject
            """
        )
    }

    /// Writes a locked account as a merge, or its undoing, leaves it.
    ///
    /// - Parameter endsSessions: its sessions end, as those of a merged account do.
    func write(
        _ account: Account,
        password: AccountRow.Password,
        mergedInto survivor: AccountID? = nil,
        endsSessions: Bool = false,
        _ scope: Scope,
        now: Date,
        _ transaction: PostgresTransaction
    ) throws {
        var account = account
        account.revokedVersion = account.version
        let validSince: SQL =
            survivor == nil && !endsSessions
            ? "greatest(valid_since, \(account.validSince))"
            : SessionStore.validSince(ending: account.id, at: account.validSince, scope)
        transaction.write(
            try AccountRow.update(
                to: account,
                password: password,
                validSince: validSince,
                mergedInto: survivor,
                scope,
                now: now
            )
        )
    }

    /// Ends the merged account's sessions and its pending codes.
    private func end(
        _ account: Account,
        _ scope: Scope,
        now: Date,
        _ transaction: PostgresTransaction
    ) {
        transaction.write(
            OOBCodeStore.voiding(
                OOBCodeType.allCases,
                of: account.id.rawValue,
                signIn: account.email.map { [$0.canonical] } ?? [],
                scope
            )
        )
        transaction.write(
            """
            DELETE FROM verification_codes WHERE project = \(scope.project.rawValue)
                AND tenant = \(scope.tenant.rawValue) AND purpose <> \(VerificationPurpose.signIn.rawValue)
                AND owner = \(account.id.rawValue)
            """
        )
        transaction.write(SessionStore.ending(where: "true", of: account.id, scope, now: now))
    }

    /// Writes an audit entry for each account.
    func audit(
        _ action: AuditAction,
        _ survivor: AccountID,
        _ merged: AccountID,
        _ scope: Scope,
        now: Date,
        _ transaction: PostgresTransaction
    ) {
        for (account, other) in [(survivor, merged), (merged, survivor)] {
            let entry = AuditEntry(action, in: scope, account: account, resource: other.rawValue, at: now)
            transaction.write(entry.insertion())
        }
    }

    func tell(
        _ type: WebhookType,
        of account: Account,
        _ merged: AccountID,
        _ scope: Scope,
        now: Date,
        _ transaction: PostgresTransaction
    ) async throws {
        var notice = WebhookNotice(type, about: account, of: scope, date: now)
        notice.data.mergedLocalId = merged.rawValue
        transaction.write(try telling(notice, scope))
    }
}
