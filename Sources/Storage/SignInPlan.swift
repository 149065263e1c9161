package import Domain
import Federation
import Postgres
import Projects
import Sessions

import struct Foundation.Date

/// What a sign-in or a link with a provider's identity writes.
package enum SignInPlan: Sendable {
    /// The identity is the account's (S1, S15, D1). `isOpened` if the statement that found it has also signed in.
    case signIn(to: Account, effect: LinkDecision.EmailEffect, isOpened: Bool)
    /// S3, S4, D2; the email is taken from an account that never verified it (S16).
    case signUp(displacing: DisplacedEmail?)
    /// S5, S6.
    case signInAndLink(to: Account, replaced: String?)
    /// S7.
    case takeOver(of: Account)
    /// K7.
    case link(to: Account, effect: LinkDecision.EmailEffect)
    /// K4: only the session changes.
    case keep(Account)

    /// The account as it was read; nil for one that is new.
    package var before: Account? {
        switch self {
        case .signIn(let account, _, _), .signInAndLink(let account, _), .takeOver(let account), .link(let account, _):
            account
        case .keep(let account): account
        case .signUp: nil
        }
    }

    /// Whether the account has the identity already.
    fileprivate var isOfOwner: Bool {
        switch self {
        case .signIn, .keep: true
        case .signUp, .signInAndLink, .takeOver, .link: false
        }
    }

    /// Whether the same request was answered before.
    package var isRepeated: Bool { if case .keep = self { true } else { false } }

    /// Whether another identity of the provider had the email.
    package var recyclesEmail: Bool {
        guard case .signInAndLink(_, let replaced) = self else { return false }
        return replaced != nil
    }
}

extension SignInPlan {
    /// What happens to the account that is there.
    fileprivate func changes(by write: SignInWrite) -> AccountChanges {
        let identity = write.credential.identity
        var changes = AccountChanges()
        changes.isSignIn = true
        changes.credential = write
        changes.session = write.session
        changes.revocable = write.revocable
        if write.session.authTime != nil { changes.lastSignInAt = write.now }
        switch self {
        case .signUp: break
        case .keep(let account): changes.fill(account, name: write.credential.nameDeliveredOnce)
        case .signIn(let account, let effect, _):
            changes.fill(account, name: write.credential.nameDeliveredOnce)
            changes.take(effect)
        case .signInAndLink(let account, _):
            changes.fill(account, name: identity.profile.displayName, photo: identity.profile.photoURL)
        case .link(let account, let effect):
            changes.fill(account, name: identity.profile.displayName, photo: identity.profile.photoURL)
            changes.take(effect)
        case .takeOver:
            changes.email = identity.email
            changes.profile = identity.profile.only(Profile.ofAccounts)
            changes.verifyEmail(
                by: .providerSignIn,
                identity.emailProof,
                provedBefore: false,
                seconds: write.session.authTime ?? Int64(write.now.timeIntervalSince1970)
            )
        }
        if let before { changes.amend(write.amendment, before) }
        return changes
    }
}

extension AccountChanges {
    /// Gives an account what it lacks.
    fileprivate mutating func fill(_ account: Account, name: String?, photo: String? = nil) {
        if account.displayName == nil, let name { displayName = name }
        if account.photoURL == nil, let photo { photoURL = photo }
    }

    fileprivate mutating func take(_ effect: LinkDecision.EmailEffect) {
        switch effect {
        case .none: break
        case .markVerified: emailVerified = true
        case .adopt(let email, let verified): (self.email, emailVerified) = (email, verified)
        }
    }
}

extension AccountStore {
    /// - Parameter account: as it is afterwards.
    package func carry(
        out plan: SignInPlan,
        making account: Account,
        _ write: SignInWrite
    ) async throws -> WriteOutcome {
        switch plan {
        case .signUp(let displaced): return try await signUp(account, displacing: displaced, write)
        case .signIn(let owner, _, isOpened: true):
            if let renewal = renewingLink(of: owner, write) { try await database.execute(renewal) }
            return .applied(validSince: owner.validSince)
        case .signIn(let before, _, isOpened: false), .signInAndLink(let before, _), .takeOver(let before),
            .link(let before, _), .keep(let before):
            return try await carry(out: plan, from: before, write)
        }
    }

    /// Carries out what was decided on an account, unless it has changed since, or the session that goes on has ended.
    private func carry(
        out plan: SignInPlan,
        from before: Account,
        _ write: SignInWrite
    ) async throws -> WriteOutcome {
        let session = write.session.continued
        do {
            let changed = try await change(
                before.id,
                session: session,
                admitting: write,
                in: write.scope,
                now: write.now
            ) { current, continued in
                guard current.stands(as: before), !current.isDisabled, session == nil || continued?.revoked == false,
                    plan.isOfOwner == write.isKnown(to: current)
                else { throw NotWritten(outcome: .stale) }
                return plan.changes(by: write)
            }
            return .applied(validSince: try changed.existing.validSince)
        } catch is UnknownAccount {
            return .stale
        } catch is ClaimConflict {
            return .stale
        } catch let refused as NotWritten {
            return refused.outcome
        } catch let error as PostgresError {
            return try WriteOutcome(error)
        }
    }
}
