import Federation
import Linking
package import Prometheus
package import Storage
import Synchronization
package import struct Foundation.Date

/// What came of sign-ins, in numbers, since the start.
///
/// Bound to the task that answers a request, as its logger is.
package final class AccountEvents: Sendable {
    @TaskLocal package static var current: AccountEvents?

    package struct SignIn: Hashable, Sendable {
        /// ``Linking/ProviderID/family``.
        package var provider: String
        package var outcome: Outcome
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
        /// What proves the person was not accepted.
        case refused
    }

    /// What became of an account that exists with a different credential.
    package enum Conflict: String, Sendable, CaseIterable {
        case raised
        /// The credential that was kept was linked to the account.
        case linked
        /// The credential that was kept signed in, because it had been linked in another way, or nobody has the address
        /// any more.
        case signedIn = "signed_in"

        /// Beside the outcomes of sign-ins.
        package var name: String { "conflict_\(rawValue)" }
    }

    package let signIns = Tally<SignIn>()
    package let conflicts = Tally<Conflict>()
    /// What is not in the database yet, by project and day.
    private let unsaved = Mutex<[SignInCount: Int64]>([:])
    private let now: @Sendable () -> Date

    package init(now: @escaping @Sendable () -> Date) { self.now = now }

    static func count(_ outcome: Outcome, _ provider: ProviderID, _ caller: Caller) {
        current?.signIns.add(SignIn(provider: provider.family, outcome: outcome))
        current?.keep(outcome.rawValue, provider, caller)
    }

    static func count(conflict: Conflict, _ provider: ProviderID, _ caller: Caller) {
        current?.conflicts.add(conflict)
        // A conflict that is found is an outcome of its sign-in already.
        if conflict != .raised { current?.keep(conflict.name, provider, caller) }
    }

    private func keep(_ outcome: String, _ provider: ProviderID, _ caller: Caller) {
        let day = Int64((now().timeIntervalSince1970 / 86_400).rounded(.down))
        let count = SignInCount(scope: caller.scope, day: day, provider: provider, outcome: outcome)
        unsaved.withLock { $0[count, default: 0] += 1 }
    }

    /// Adds what was counted to the numbers in the database; what cannot be added waits for the next time.
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
    /// Nil for what is no outcome of a sign-in.
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
