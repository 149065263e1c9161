package import Domain
import Postgres
package import Projects

import struct Foundation.Date

/// An email that leaves the account which never verified it, for a person who proved it (S16; threats.md, T-A17, T-E6).
package struct DisplacedEmail: Sendable {
    package var email: EmailAddress
    package var holder: AccountID
    /// The webhooks to send if it leaves.
    package var told: Set<WebhookType>
    /// Limits to reset.
    package var forgives = RateLimits.none
    /// Whether a disabled account loses it too.
    package var evenDisabled = false

    package init(_ email: EmailAddress, of holder: AccountID, told: Set<WebhookType>) {
        (self.email, self.holder, self.told) = (email, holder, told)
    }
}

extension AccountStore {
    /// Runs the sign-up of the person who proved an email, in the transaction in which another account loses it.
    ///
    /// - Parameters:
    ///   - displaced: nil if no account has the email.
    ///   - code: the one-time code that proved it; without `displaced`, the sign-up uses it.
    /// - Throws: ``ClaimConflict/email`` if the account has verified the email, or lost it; ``SpentCode``.
    func displacing<Result: Sendable>(
        _ displaced: DisplacedEmail?,
        spending code: OneTimeCode? = nil,
        _ scope: Scope,
        now: Date,
        _ signUp: @escaping @Sendable (any PostgresExecutor) async throws -> Result
    ) async throws -> Result {
        guard let displaced else { return try await signUp(database) }
        return try await database.transaction { transaction in
            // Everything else locks the account before its codes.
            transaction.write(Self.locking(displaced.holder, scope))
            try await code?.spend(scope, transaction)
            try await displace(displaced, scope, now: now, transaction)
            return try await signUp(transaction)
        }
    }

    /// Takes the email from its account, with the codes that were sent to it.
    ///
    /// - Throws: ``ClaimConflict/email``.
    func displace(
        _ displaced: DisplacedEmail,
        _ scope: Scope,
        now: Date,
        _ transaction: PostgresTransaction
    ) async throws {
        guard let holder = try await lock(displaced.holder, scope, transaction)?.account,
            holder.email?.canonical == displaced.email.canonical, !holder.emailVerified,
            displaced.evenDisabled || !holder.isDisabled
        else { throw ClaimConflict.email }
        var changes = AccountChanges()
        changes.email = .some(nil)
        changes.emailVerified = false
        changes.told = displaced.told
        changes.forgives = displaced.forgives
        let after = try await apply(changes, to: holder, scope, now: now, transaction)
        try tell(changes, before: holder, after: after, scope, now: now, transaction)
    }
}
