package import Domain
import Projects

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
    case keep

    /// The account as it was read; nil for one that is new, or stays as it is.
    package var before: Account? {
        switch self {
        case .signIn(let account, _, _), .signInAndLink(let account, _), .takeOver(let account), .link(let account, _):
            account
        case .signUp, .keep: nil
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

extension AccountStore {
    /// - Parameter account: as it is afterwards.
    package func carry(
        out plan: SignInPlan,
        making account: Account,
        _ write: SignInWrite
    ) async throws -> WriteOutcome {
        switch plan {
        case .signIn(let owner, let effect, let isOpened):
            let outcome: WriteOutcome =
                isOpened ? .applied(validSince: owner.validSince) : try await signIn(to: owner, effect: effect, write)
            if case .applied = outcome { try await renewLink(of: owner, write) }
            return outcome
        case .signUp(let displaced): return try await signUp(account, displacing: displaced, write)
        case .signInAndLink(let owner, let replaced):
            return try await signInAndLink(to: owner, replaced: replaced, write)
        case .takeOver(let owner): return try await takeOver(owner, write)
        case .link(let owner, let effect): return try await link(to: owner, effect: effect, write)
        case .keep: return try await signIn(to: account, write)
        }
    }
}
