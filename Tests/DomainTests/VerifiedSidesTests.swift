import Domain
import Testing

@Suite("Both sides of a link must be verified")
struct VerifiedSidesTests {
    struct Sides: Sendable, CustomTestStringConvertible {
        var local: Bool
        var provider: Bool
        var policy: LinkingMode
        var testDescription: String { "account \(local), provider \(provider), \(policy)" }
    }

    static let matrix = [false, true].flatMap { local in
        [false, true].flatMap { provider in
            LinkingMode.allCases.map { Sides(local: local, provider: provider, policy: $0) }
        }
    }

    @Test("T-A6: a stranger's way into an unverified account never survives a link", arguments: matrix)
    func linksOnlyVerifiedSides(sides: Sides) {
        let decided = SignInDecision.decide(
            for: Samples.identity(verified: sides.provider),
            owner: nil,
            emailOwner: Samples.emailOwner(verified: sides.local),
            purpose: .signIn,
            policy: Samples.policy(linking: sides.policy)
        ).decision
        let expected: SignInDecision =
            switch (sides.policy, sides.provider, sides.local) {
            case (.never, _, _): .refuse(.emailExists)
            case (.confirm, _, _), (.auto, false, _): .conflict(AccountID("M"), providers: [])
            case (.auto, true, false): .takeOver(AccountID("M"))
            case (.auto, true, true): .link(AccountID("M"), replaced: nil)
            }
        #expect(decided == expected)
    }
}
