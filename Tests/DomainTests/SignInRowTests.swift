import Domain
import Testing

/// One row of the decision table for a sign-in.
struct SignInCase: Sendable, CustomTestStringConvertible {
    var name: String
    var identity = Samples.identity()
    var owner: CandidateAccount?
    var emailOwner: CandidateAccount?
    var purpose = SignInDecision.Purpose.signIn
    var policy = Samples.policy()
    var outcome: SignInDecision

    var testDescription: String { name }

    var decided: (row: SignInRow, decision: SignInDecision) {
        SignInDecision.decide(
            for: identity,
            owner: owner,
            emailOwner: emailOwner,
            purpose: purpose,
            policy: policy
        )
    }
}

@Suite("Decision table: sign-in")
struct SignInRowTests {
    private static let l = AccountID("L")
    private static let m = AccountID("M")
    private static let untrusted = Samples.policy(trust: .never)

    @Test(
        "every row",
        arguments: owned + adopting + newcomers + displacing + known + confirmed + refused + modes + relays + duplicates
    )
    func decides(row: SignInCase) {
        #expect(row.decided.decision == row.outcome)
        #expect(row.name.prefix { $0 != ":" && $0 != " " } == row.decided.row.rawValue)
    }

    @Test("no row without a case, and none without a reason")
    func coversEveryRow() {
        let cases =
            Self.owned + Self.adopting + Self.newcomers + Self.displacing + Self.known + Self.confirmed + Self.refused
            + Self.modes
            + Self.relays
            + Self.duplicates
        #expect(Set(cases.map(\.decided.row)) == Set(SignInRow.allCases))
        #expect(SignInRow.allCases.allSatisfy { !$0.reason.isEmpty })
    }

    static let owned: [SignInCase] = [
        SignInCase(name: "S1: the identity is linked", owner: Samples.owner(), outcome: .signIn(l)),
        SignInCase(
            name: "S1: the identity is linked, its address is another account's and not proven",
            identity: Samples.identity(verified: false),
            owner: Samples.owner(),
            emailOwner: Samples.emailOwner(verified: true),
            outcome: .signIn(l)
        ),
        SignInCase(
            name: "S1: the identity is linked, its address is another account's and proven",
            owner: Samples.owner(),
            emailOwner: Samples.emailOwner(verified: false),
            outcome: .signIn(l)
        ),
        SignInCase(
            name: "S1: the identity is linked and asserts no address",
            identity: Samples.identity(email: nil),
            owner: Samples.owner(),
            outcome: .signIn(l)
        ),
        SignInCase(
            name: "S1: reauthentication",
            owner: Samples.owner(),
            purpose: .reauthenticate,
            outcome: .signIn(l)
        ),
        SignInCase(
            name: "S1: sign-up is closed",
            owner: Samples.owner(),
            policy: Samples.policy(signUp: false),
            outcome: .signIn(l)
        ),
        SignInCase(
            name: "S2: the owner is disabled",
            owner: Samples.owner(disabled: true),
            outcome: .refuse(.accountDisabled)
        ),
        SignInCase(
            name: "S2: the owner is disabled, whoever has the address",
            owner: Samples.owner(disabled: true),
            emailOwner: Samples.emailOwner(verified: true),
            outcome: .refuse(.accountDisabled)
        ),
    ]

    static let adopting: [SignInCase] = [
        SignInCase(
            name: "S15: the owner has no address, and nobody has the identity's",
            owner: Samples.owner(email: nil),
            outcome: .adoptEmail(l, Samples.email, verified: true)
        ),
        SignInCase(
            name: "S15: not proven",
            owner: Samples.owner(email: nil),
            policy: untrusted,
            outcome: .adoptEmail(l, Samples.email, verified: false)
        ),
        SignInCase(
            name: "S1: not proven, and the owner has another method, which S7 would take",
            owner: Samples.owner(email: nil, ownMethods: [.phone]),
            policy: untrusted,
            outcome: .signIn(l)
        ),
        SignInCase(
            name: "S1: a second factor comes before any change",
            owner: Samples.owner(email: nil, hasSecondFactor: true),
            outcome: .signIn(l)
        ),
        SignInCase(
            name: "S15: a relay address that nobody has",
            identity: Samples.identity(relay: true),
            owner: Samples.owner(email: nil),
            outcome: .adoptEmail(l, Samples.email, verified: true)
        ),
        SignInCase(
            name: "S1: the owner has no address, another account has the identity's",
            owner: Samples.owner(email: nil),
            emailOwner: Samples.emailOwner(verified: false),
            outcome: .signIn(l)
        ),
        SignInCase(
            name: "S1: neither the owner nor the identity has an address",
            identity: Samples.identity(email: nil),
            owner: Samples.owner(email: nil),
            outcome: .signIn(l)
        ),
        SignInCase(
            name: "S2: the owner has no address and is disabled",
            owner: Samples.owner(disabled: true, email: nil),
            outcome: .refuse(.accountDisabled)
        ),
        SignInCase(
            name: "D1: the owner has no address, and several accounts may have one",
            owner: Samples.owner(email: nil),
            policy: Samples.policy(onePerEmail: false),
            outcome: .signIn(l)
        ),
    ]

    static let newcomers: [SignInCase] = [
        SignInCase(
            name: "S3: a new identity without an address",
            identity: Samples.identity(email: nil),
            outcome: .signUp(email: nil, emailVerified: false)
        ),
        SignInCase(
            name: "S3: without an address nothing is proven, even by a provider that is always believed",
            identity: Samples.identity(email: nil),
            policy: Samples.policy(trust: .always),
            outcome: .signUp(email: nil, emailVerified: false)
        ),
        SignInCase(
            name: "S4: a new address, proven",
            outcome: .signUp(email: Samples.email, emailVerified: true)
        ),
        SignInCase(
            name: "S4: a new address, not proven",
            identity: Samples.identity(verified: false),
            outcome: .signUp(email: Samples.email, emailVerified: false)
        ),
        SignInCase(
            name: "S4: a claim of a provider that is not believed proves nothing",
            policy: untrusted,
            outcome: .signUp(email: Samples.email, emailVerified: false)
        ),
    ]

    static let displacing: [SignInCase] = [
        SignInCase(
            name: "S16: somebody keeps a way into the account, which never verified the address",
            emailOwner: Samples.emailOwner(verified: false, outlivesTakeover: true),
            outcome: .signUp(email: Samples.email, emailVerified: true, displaced: m)
        ),
        SignInCase(
            name: "S5: it has verified the address",
            emailOwner: Samples.emailOwner(verified: true, outlivesTakeover: true),
            outcome: .link(m, replaced: nil)
        ),
        SignInCase(
            name: "S8: it is disabled",
            emailOwner: Samples.emailOwner(verified: false, disabled: true, outlivesTakeover: true),
            outcome: .refuse(.accountDisabled)
        ),
        SignInCase(
            name: "S9: nobody proved the address",
            identity: Samples.identity(verified: false),
            emailOwner: Samples.emailOwner(verified: false, outlivesTakeover: true),
            outcome: .conflict(m, providers: [])
        ),
        SignInCase(
            name: "S10: in reauthentication nobody signs up",
            emailOwner: Samples.emailOwner(verified: false, outlivesTakeover: true),
            purpose: .reauthenticate,
            outcome: .refuse(.accountNotFound)
        ),
        SignInCase(
            name: "S11: sign-up is closed",
            emailOwner: Samples.emailOwner(verified: false, outlivesTakeover: true),
            policy: Samples.policy(signUp: false),
            outcome: .refuse(.signUpClosed)
        ),
        SignInCase(
            name: "S12: every link is confirmed",
            emailOwner: Samples.emailOwner(verified: false, outlivesTakeover: true),
            policy: Samples.policy(linking: .confirm),
            outcome: .conflict(m, providers: [])
        ),
        SignInCase(
            name: "S13: nothing is linked by email",
            emailOwner: Samples.emailOwner(verified: false, outlivesTakeover: true),
            policy: Samples.policy(linking: .never),
            outcome: .refuse(.emailExists)
        ),
    ]

    static let known: [SignInCase] = [
        SignInCase(
            name: "S5: both sides verified",
            emailOwner: Samples.emailOwner(verified: true),
            outcome: .link(m, replaced: nil)
        ),
        SignInCase(
            name: "S5: sign-up is closed, but nobody signs up",
            emailOwner: Samples.emailOwner(verified: true),
            policy: Samples.policy(signUp: false),
            outcome: .link(m, replaced: nil)
        ),
        SignInCase(
            name: "S10: in reauthentication nothing is linked",
            emailOwner: Samples.emailOwner(verified: true),
            purpose: .reauthenticate,
            outcome: .refuse(.accountNotFound)
        ),
        SignInCase(
            name: "S6: the account has another subject of the same provider",
            emailOwner: Samples.emailOwner(verified: true, linked: [Samples.provider: "R′"]),
            outcome: .link(m, replaced: "R′")
        ),
        SignInCase(
            name: "S7: the account never proved its address",
            emailOwner: Samples.emailOwner(verified: false),
            outcome: .takeOver(m)
        ),
        SignInCase(
            name: "S7: it also has another subject of the same provider",
            emailOwner: Samples.emailOwner(verified: false, linked: [Samples.provider: "R′"]),
            outcome: .takeOver(m)
        ),
        SignInCase(
            name: "S10: in reauthentication nothing is taken over",
            emailOwner: Samples.emailOwner(verified: false),
            purpose: .reauthenticate,
            outcome: .refuse(.accountNotFound)
        ),
        SignInCase(
            name: "S8: verified and disabled",
            emailOwner: Samples.emailOwner(verified: true, disabled: true),
            outcome: .refuse(.accountDisabled)
        ),
        SignInCase(
            name: "S8: unverified and disabled",
            emailOwner: Samples.emailOwner(verified: false, disabled: true),
            outcome: .refuse(.accountDisabled)
        ),
    ]

    static let confirmed: [SignInCase] = [
        SignInCase(
            name: "S9: the provider does not say that it verified the address",
            identity: Samples.identity(verified: false),
            emailOwner: Samples.emailOwner(verified: true),
            outcome: .conflict(m, providers: [])
        ),
        SignInCase(
            name: "S9: the provider says so and is not believed",
            emailOwner: Samples.emailOwner(verified: true),
            policy: untrusted,
            outcome: .conflict(m, providers: [])
        ),
        SignInCase(
            name: "S9: an unverified account is not the provider's either",
            emailOwner: Samples.emailOwner(verified: false),
            policy: untrusted,
            outcome: .conflict(m, providers: [])
        ),
        SignInCase(
            name: "S9: also when the account is disabled",
            emailOwner: Samples.emailOwner(verified: true, disabled: true),
            policy: untrusted,
            outcome: .conflict(m, providers: [])
        ),
        SignInCase(
            name: "S9: also in reauthentication",
            emailOwner: Samples.emailOwner(verified: true),
            purpose: .reauthenticate,
            policy: untrusted,
            outcome: .conflict(m, providers: [])
        ),
        SignInCase(
            name: "S9: identity providers are named in order, own methods never",
            emailOwner: Samples.emailOwner(
                verified: true,
                ownMethods: [.password, .phone, .emailLink],
                linked: ["github.com": "1", "apple.com": "2", "oidc.zeta": "3"]
            ),
            policy: untrusted,
            outcome: .conflict(m, providers: ["apple.com", "github.com", "oidc.zeta"])
        ),
    ]

    static let refused: [SignInCase] = [
        SignInCase(
            name: "S10: nobody has it, in reauthentication",
            purpose: .reauthenticate,
            outcome: .refuse(.accountNotFound)
        ),
        SignInCase(
            name: "S10: without an address",
            identity: Samples.identity(email: nil),
            purpose: .reauthenticate,
            outcome: .refuse(.accountNotFound)
        ),
        SignInCase(
            name: "S10 before S11",
            purpose: .reauthenticate,
            policy: Samples.policy(signUp: false),
            outcome: .refuse(.accountNotFound)
        ),
        SignInCase(
            name: "S11: sign-up is closed",
            policy: Samples.policy(signUp: false),
            outcome: .refuse(.signUpClosed)
        ),
        SignInCase(
            name: "S11: without an address",
            identity: Samples.identity(email: nil),
            policy: Samples.policy(signUp: false),
            outcome: .refuse(.signUpClosed)
        ),
    ]

    static let modes: [SignInCase] = [
        SignInCase(
            name: "S1: whatever the project links",
            owner: Samples.owner(),
            policy: Samples.policy(linking: .never),
            outcome: .signIn(l)
        ),
        SignInCase(
            name: "S4: whatever the project links",
            policy: Samples.policy(linking: .never),
            outcome: .signUp(email: Samples.email, emailVerified: true)
        ),
        SignInCase(
            name: "S12: a proven, verified address is confirmed all the same",
            emailOwner: Samples.emailOwner(verified: true, linked: [.google: "1"]),
            policy: Samples.policy(linking: .confirm),
            outcome: .conflict(m, providers: [.google])
        ),
        SignInCase(
            name: "S12: another subject of the same provider takes nothing",
            emailOwner: Samples.emailOwner(verified: true, linked: [Samples.provider: "R′"]),
            policy: Samples.policy(linking: .confirm),
            outcome: .conflict(m, providers: [Samples.provider])
        ),
        SignInCase(
            name: "S12: nor is an unverified account taken over",
            emailOwner: Samples.emailOwner(verified: false),
            policy: Samples.policy(linking: .confirm),
            outcome: .conflict(m, providers: [])
        ),
        SignInCase(
            name: "S12: also when the account is disabled",
            emailOwner: Samples.emailOwner(verified: true, disabled: true),
            policy: Samples.policy(linking: .confirm),
            outcome: .conflict(m, providers: [])
        ),
        SignInCase(
            name: "S9: not proven, whether links are confirmed or not",
            emailOwner: Samples.emailOwner(verified: true),
            policy: Samples.policy(trust: .never, linking: .confirm),
            outcome: .conflict(m, providers: [])
        ),
        SignInCase(
            name: "S13: proven",
            emailOwner: Samples.emailOwner(verified: true),
            policy: Samples.policy(linking: .never),
            outcome: .refuse(.emailExists)
        ),
        SignInCase(
            name: "S13: not proven, and in reauthentication",
            identity: Samples.identity(verified: false),
            emailOwner: Samples.emailOwner(verified: false, disabled: true),
            purpose: .reauthenticate,
            policy: Samples.policy(linking: .never),
            outcome: .refuse(.emailExists)
        ),
        SignInCase(
            name: "D2: several accounts per email, whatever the project links",
            emailOwner: Samples.emailOwner(verified: true),
            policy: Samples.policy(onePerEmail: false, linking: .never),
            outcome: .signUp(email: nil, emailVerified: false)
        ),
    ]

    static let relays: [SignInCase] = [
        SignInCase(
            name: "S14: a relay address that an account has finds nobody",
            identity: Samples.identity(relay: true),
            emailOwner: Samples.emailOwner(verified: false),
            outcome: .signUp(email: nil, emailVerified: false)
        ),
        SignInCase(
            name: "S14: nor is there a conflict about it",
            identity: Samples.identity(verified: false, relay: true),
            emailOwner: Samples.emailOwner(verified: true),
            outcome: .signUp(email: nil, emailVerified: false)
        ),
        SignInCase(
            name: "S4: a relay address that nobody has is the new account's",
            identity: Samples.identity(relay: true),
            outcome: .signUp(email: Samples.email, emailVerified: true)
        ),
    ]

    static let duplicates: [SignInCase] = [
        SignInCase(
            name: "D1: several accounts per email, the identity is linked",
            owner: Samples.owner(),
            emailOwner: Samples.emailOwner(verified: true),
            policy: Samples.policy(onePerEmail: false),
            outcome: .signIn(l)
        ),
        SignInCase(
            name: "D2: several accounts per email, a new identity",
            policy: Samples.policy(onePerEmail: false),
            outcome: .signUp(email: nil, emailVerified: false)
        ),
        SignInCase(
            name: "D2: whoever has the address",
            emailOwner: Samples.emailOwner(verified: true),
            policy: Samples.policy(onePerEmail: false),
            outcome: .signUp(email: nil, emailVerified: false)
        ),
        SignInCase(
            name: "D2: never a conflict",
            emailOwner: Samples.emailOwner(verified: true),
            policy: Samples.policy(onePerEmail: false, trust: .never),
            outcome: .signUp(email: nil, emailVerified: false)
        ),
    ]
}
