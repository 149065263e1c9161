import Domain
import Federation
package import Prometheus
import Requests
package import Storage
import Synchronization
package import struct Foundation.Date

/// Counts of sign-ins by outcome, since the start.
package final class AccountEvents: RequestEvents {
    private static var current: AccountEvents? { RequestContext.current.events as? AccountEvents }

    package struct SignIn: Hashable, Sendable {
        /// ``Domain/ProviderID/family``.
        package var provider: String
        package var outcome: Outcome

        package init(provider: String, outcome: Outcome) { (self.provider, self.outcome) = (provider, outcome) }
    }

    package enum Outcome: String, Sendable, CaseIterable {
        case signedIn = "signed_in"
        case signedUp = "signed_up"
        case linked
        case takenOver = "taken_over"
        case conflict
        case linkRefused = "link_refused"
        case secondFactorAsked = "second_factor_asked"
        case secondFactorRefused = "second_factor_refused"
        /// The user's proof was not accepted.
        case refused
    }

    /// The outcome of an account conflict.
    package enum Conflict: String, Sendable, CaseIterable {
        case raised
        /// The pending credential was linked to the account.
        case linked
        /// The pending credential signed in, because it was already linked another way or no account has the email any
        /// more.
        case signedIn = "signed_in"

        /// Distinct from the outcomes of sign-ins.
        package var name: String { "conflict_\(rawValue)" }
    }

    package let signIns = Tally<SignIn>()
    package let conflicts = Tally<Conflict>()
    /// Counts that are not in the database yet, by project and day.
    private let unsaved = Mutex<[SignInCount: Int64]>([:])
    private let now: @Sendable () -> Date

    package init(now: @escaping @Sendable () -> Date) { self.now = now }

    static func count(_ outcome: Outcome, _ provider: ProviderID, _ caller: Caller) {
        current?.signIns.add(SignIn(provider: provider.family, outcome: outcome))
        current?.keep(outcome.rawValue, provider, caller)
    }

    static func count(conflict: Conflict, _ provider: ProviderID, _ caller: Caller) {
        current?.conflicts.add(conflict)
        // A new conflict is already counted as the outcome of its sign-in.
        if conflict != .raised { current?.keep(conflict.name, provider, caller) }
    }

    private func keep(_ outcome: String, _ provider: ProviderID, _ caller: Caller) {
        let day = Int64((now().timeIntervalSince1970 / 86_400).rounded(.down))
        let count = SignInCount(scope: caller.scope, day: day, provider: provider, outcome: outcome)
        unsaved.withLock { $0[count, default: 0] += 1 }
    }

    /// Adds the counts to the database; if that fails, they wait for the next attempt.
    package func save(in store: SignInCountStore) async throws {
        let counts = unsaved.withLock { counts in
            defer { counts = [:] }
            return counts
        }
        do {
            try await store.add(counts)
        } catch {
            unsaved.withLock { $0.merge(counts) { $0 + $1 } }
            throw error
        }
    }
}

extension AccountEvent {
    /// Nil for an event that is not the outcome of a sign-in.
    var outcome: AccountEvents.Outcome? {
        switch self {
        case .signedIn: .signedIn
        case .signedUp: .signedUp
        case .linked: .linked
        case .takenOver: .takenOver
        case .conflict: .conflict
        case .linkRefused: .linkRefused
        case .secondFactorAsked: .secondFactorAsked
        case .secondFactorRefused: .secondFactorRefused
        case .customTokenRefused, .issuerChanged: .refused
        default: nil
        }
    }
}
