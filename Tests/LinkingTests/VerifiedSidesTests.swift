import Linking
import Testing

@Suite("Both sides of a link must be verified")
struct VerifiedSidesTests {
    /// What the project and the provider's trust rule make of a proven address.
    enum Policy: String, Sendable, CaseIterable {
        /// Several accounts per email: addresses link nothing.
        case never
        /// The provider is not believed: the person confirms by signing in.
        case confirm
        /// The provider's claim counts.
        case auto

        var linking: LinkingPolicy {
            switch self {
            case .never: Samples.policy(onePerEmail: false)
            case .confirm: Samples.policy(trust: .never)
            case .auto: Samples.policy()
            }
        }
    }

    struct Sides: Sendable, CustomTestStringConvertible {
        var local: Bool
        var provider: Bool
        var policy: Policy
        var testDescription: String { "account \(local), provider \(provider), \(policy)" }
    }

    static let matrix = [false, true].flatMap { local in
        [false, true].flatMap { provider in
            Policy.allCases.map { Sides(local: local, provider: provider, policy: $0) }
        }
    }

    @Test("T-A6: a stranger's way into an unverified account never survives a link", arguments: matrix)
    func linksOnlyVerifiedSides(sides: Sides) {
        let decided = SignInDecision.decide(
            for: Samples.identity(verified: sides.provider),
            owner: nil,
            emailOwner: Samples.emailOwner(verified: sides.local),
            purpose: .signIn,
            policy: sides.policy.linking
        )
        let expected: SignInDecision =
            switch (sides.policy, sides.provider, sides.local) {
            case (.never, _, _): .signUp(email: nil, emailVerified: false)
            case (.confirm, _, _), (.auto, false, _): .conflict(AccountID("M"), providers: [])
            case (.auto, true, false): .takeOver(AccountID("M"))
            case (.auto, true, true): .link(AccountID("M"), replaced: nil)
            }
        #expect(decided == expected)
    }
}
