import Domain
import Testing

/// What the account with the address holds, with both outcomes: the address proven, and not proven.
struct HeldMethods: Sendable, CustomTestStringConvertible {
    var name: String
    var account: CandidateAccount
    var proven: SignInDecision
    /// `verifiedProvider` of the conflict.
    var named: [ProviderID]

    init(
        _ name: String,
        verified: Bool,
        _ ownMethods: Set<ProviderID> = [],
        _ linked: [ProviderID: String] = [:],
        disabled: Bool = false,
        proven: SignInDecision,
        named: [ProviderID] = []
    ) {
        self.name = name
        account = Samples.emailOwner(verified: verified, disabled: disabled, ownMethods: ownMethods, linked: linked)
        self.proven = proven
        self.named = named
    }

    var testDescription: String { name }
}

@Suite("Decision table: by the account's sign-in methods")
struct HeldMethodsTests {
    private static let takeOver = SignInDecision.takeOver(AccountID("M"))
    private static let link = SignInDecision.link(AccountID("M"), replaced: nil)
    private static let recycle = SignInDecision.link(AccountID("M"), replaced: "R′")
    private static let github: [ProviderID: String] = [.github: "7"]
    private static let google: [ProviderID: String] = [.google: "7"]
    private static let recycled: [ProviderID: String] = [Samples.provider: "R′"]

    static let held: [HeldMethods] = [
        HeldMethods("password, unverified", verified: false, [.password], proven: takeOver),
        HeldMethods("password, verified", verified: true, [.password], proven: link),
        HeldMethods("email link, verified", verified: true, [.emailLink], proven: link),
        HeldMethods("untrusted provider, unverified", verified: false, [], github, proven: takeOver, named: [.github]),
        HeldMethods("untrusted provider, verified by mail", verified: true, [], github, proven: link, named: [.github]),
        HeldMethods("trusted provider, verified", verified: true, [], google, proven: link, named: [.google]),
        HeldMethods(
            "password and untrusted provider, unverified",
            verified: false,
            [.password],
            github,
            proven: takeOver,
            named: [.github]
        ),
        HeldMethods(
            "password and trusted provider, verified",
            verified: true,
            [.password],
            google,
            proven: link,
            named: [.google]
        ),
        HeldMethods(
            "password and untrusted provider, verified",
            verified: true,
            [.password],
            github,
            proven: link,
            named: [.github]
        ),
        HeldMethods("phone, unverified", verified: false, [.phone], proven: takeOver),
        HeldMethods("phone, verified", verified: true, [.phone], proven: link),
        HeldMethods(
            "another subject of this provider, verified",
            verified: true,
            [],
            recycled,
            proven: recycle,
            named: [Samples.provider]
        ),
        HeldMethods(
            "another subject of this provider, unverified",
            verified: false,
            [],
            recycled,
            proven: takeOver,
            named: [Samples.provider]
        ),
        HeldMethods("custom token with an admin's address, unverified", verified: false, proven: takeOver),
        HeldMethods("custom token with an admin's address, verified", verified: true, proven: link),
        HeldMethods("no method left, unverified", verified: false, proven: takeOver),
        HeldMethods("no method left, verified", verified: true, proven: link),
        HeldMethods(
            "disabled, unverified",
            verified: false,
            [.password],
            disabled: true,
            proven: .refuse(.accountDisabled)
        ),
        HeldMethods(
            "disabled, verified",
            verified: true,
            [.password],
            google,
            disabled: true,
            proven: .refuse(.accountDisabled),
            named: [.google]
        ),
    ]

    @Test("the address is proven", arguments: held)
    func proven(held: HeldMethods) {
        #expect(decide(held, .claim) == held.proven)
    }

    @Test("the address is not proven", arguments: held)
    func notProven(held: HeldMethods) {
        #expect(decide(held, .never) == .conflict(AccountID("M"), providers: held.named))
    }

    private func decide(_ held: HeldMethods, _ trust: EmailTrust) -> SignInDecision {
        SignInDecision.decide(
            for: Samples.identity(),
            owner: nil,
            emailOwner: held.account,
            purpose: .signIn,
            policy: Samples.policy(trust: trust)
        ).decision
    }
}
