import Federation
import Linking
package import Prometheus

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
    }

    package let signIns = Tally<SignIn>()
    package let conflicts = Tally<Conflict>()

    package init() {}

    static func count(_ outcome: Outcome, _ provider: ProviderID) {
        current?.signIns.add(SignIn(provider: provider.family, outcome: outcome))
    }

    static func count(_ conflict: Conflict) { current?.conflicts.add(conflict) }
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
