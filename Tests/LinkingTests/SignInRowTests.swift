import Linking
import Testing

/// One row of the decision table for a sign-in.
struct SignInRow: Sendable, CustomTestStringConvertible {
    var name: String
    var identity = Samples.identity()
    var owner: CandidateAccount?
    var emailOwner: CandidateAccount?
    var purpose = SignInDecision.Purpose.signIn
    var policy = Samples.policy()
    var outcome: SignInDecision

    var testDescription: String { name }

    var decided: SignInDecision {
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

    @Test("every row", arguments: owned + newcomers + known + confirmed + refused + duplicates)
    func decides(row: SignInRow) {
        #expect(row.decided == row.outcome)
    }

    static let owned: [SignInRow] = [
        SignInRow(name: "S1: the identity is linked", owner: Samples.owner(), outcome: .signIn(l)),
        SignInRow(
            name: "S1: the identity is linked, its address is another account's and not proven",
            identity: Samples.identity(verified: false),
            owner: Samples.owner(),
            emailOwner: Samples.emailOwner(verified: true),
            outcome: .signIn(l)
        ),
        SignInRow(
            name: "S1: the identity is linked, its address is another account's and proven",
            owner: Samples.owner(),
            emailOwner: Samples.emailOwner(verified: false),
            outcome: .signIn(l)
        ),
        SignInRow(
            name: "S1: the identity is linked and asserts no address",
            identity: Samples.identity(email: nil),
            owner: Samples.owner(),
            outcome: .signIn(l)
        ),
        SignInRow(
            name: "S1: reauthentication",
            owner: Samples.owner(),
            purpose: .reauthenticate,
            outcome: .signIn(l)
        ),
        SignInRow(
            name: "S1: sign-up is closed",
            owner: Samples.owner(),
            policy: Samples.policy(signUp: false),
            outcome: .signIn(l)
        ),
        SignInRow(
            name: "S2: the owner is disabled",
            owner: Samples.owner(disabled: true),
            outcome: .refuse(.accountDisabled)
        ),
        SignInRow(
            name: "S2: the owner is disabled, whoever has the address",
            owner: Samples.owner(disabled: true),
            emailOwner: Samples.emailOwner(verified: true),
            outcome: .refuse(.accountDisabled)
        ),
    ]

    static let newcomers: [SignInRow] = [
        SignInRow(
            name: "S3: a new identity without an address",
            identity: Samples.identity(email: nil),
            outcome: .signUp(email: nil, emailVerified: false)
        ),
        SignInRow(
            name: "S3: without an address nothing is proven, even by a provider that is always believed",
            identity: Samples.identity(email: nil),
            policy: Samples.policy(trust: .always),
            outcome: .signUp(email: nil, emailVerified: false)
        ),
        SignInRow(
            name: "S4: a new address, proven",
            outcome: .signUp(email: Samples.email, emailVerified: true)
        ),
        SignInRow(
            name: "S4: a new address, not proven",
            identity: Samples.identity(verified: false),
            outcome: .signUp(email: Samples.email, emailVerified: false)
        ),
        SignInRow(
            name: "S4: a claim of a provider that is not believed proves nothing",
            policy: untrusted,
            outcome: .signUp(email: Samples.email, emailVerified: false)
        ),
    ]

    static let known: [SignInRow] = [
        SignInRow(
            name: "S5: both sides verified",
            emailOwner: Samples.emailOwner(verified: true),
            outcome: .link(m, replaced: nil)
        ),
        SignInRow(
            name: "S5: for an existing account only",
            emailOwner: Samples.emailOwner(verified: true),
            purpose: .signInToExisting,
            outcome: .link(m, replaced: nil)
        ),
        SignInRow(
            name: "S5: sign-up is closed, but nobody signs up",
            emailOwner: Samples.emailOwner(verified: true),
            policy: Samples.policy(signUp: false),
            outcome: .link(m, replaced: nil)
        ),
        SignInRow(
            name: "S5 in reauthentication: refused, never linked",
            emailOwner: Samples.emailOwner(verified: true),
            purpose: .reauthenticate,
            outcome: .refuse(.accountNotFound)
        ),
        SignInRow(
            name: "S6: the account has another subject of the same provider",
            emailOwner: Samples.emailOwner(verified: true, linked: [Samples.provider: "R′"]),
            outcome: .link(m, replaced: "R′")
        ),
        SignInRow(
            name: "S7: the account never proved its address",
            emailOwner: Samples.emailOwner(verified: false),
            outcome: .takeOver(m)
        ),
        SignInRow(
            name: "S7: it also has another subject of the same provider",
            emailOwner: Samples.emailOwner(verified: false, linked: [Samples.provider: "R′"]),
            outcome: .takeOver(m)
        ),
        SignInRow(
            name: "S7 in reauthentication: refused, never taken over",
            emailOwner: Samples.emailOwner(verified: false),
            purpose: .reauthenticate,
            outcome: .refuse(.accountNotFound)
        ),
        SignInRow(
            name: "S8: verified and disabled",
            emailOwner: Samples.emailOwner(verified: true, disabled: true),
            outcome: .refuse(.accountDisabled)
        ),
        SignInRow(
            name: "S8: unverified and disabled",
            emailOwner: Samples.emailOwner(verified: false, disabled: true),
            outcome: .refuse(.accountDisabled)
        ),
    ]

    static let confirmed: [SignInRow] = [
        SignInRow(
            name: "S9: the provider does not say that it verified the address",
            identity: Samples.identity(verified: false),
            emailOwner: Samples.emailOwner(verified: true),
            outcome: .conflict(m, providers: [])
        ),
        SignInRow(
            name: "S9: the provider says so and is not believed",
            emailOwner: Samples.emailOwner(verified: true),
            policy: untrusted,
            outcome: .conflict(m, providers: [])
        ),
        SignInRow(
            name: "S9: an unverified account is not the provider's either",
            emailOwner: Samples.emailOwner(verified: false),
            policy: untrusted,
            outcome: .conflict(m, providers: [])
        ),
        SignInRow(
            name: "S9: also when the account is disabled",
            emailOwner: Samples.emailOwner(verified: true, disabled: true),
            policy: untrusted,
            outcome: .conflict(m, providers: [])
        ),
        SignInRow(
            name: "S9: also in reauthentication and for an existing account",
            emailOwner: Samples.emailOwner(verified: true),
            purpose: .reauthenticate,
            policy: untrusted,
            outcome: .conflict(m, providers: [])
        ),
        SignInRow(
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

    static let refused: [SignInRow] = [
        SignInRow(
            name: "S10: nobody has it, for an existing account only",
            purpose: .signInToExisting,
            outcome: .refuse(.accountNotFound)
        ),
        SignInRow(
            name: "S10: nobody has it, in reauthentication",
            purpose: .reauthenticate,
            outcome: .refuse(.accountNotFound)
        ),
        SignInRow(
            name: "S10: without an address",
            identity: Samples.identity(email: nil),
            purpose: .signInToExisting,
            outcome: .refuse(.accountNotFound)
        ),
        SignInRow(
            name: "S10 before S11",
            purpose: .signInToExisting,
            policy: Samples.policy(signUp: false),
            outcome: .refuse(.accountNotFound)
        ),
        SignInRow(
            name: "S11: sign-up is closed",
            policy: Samples.policy(signUp: false),
            outcome: .refuse(.signUpClosed)
        ),
        SignInRow(
            name: "S11: without an address",
            identity: Samples.identity(email: nil),
            policy: Samples.policy(signUp: false),
            outcome: .refuse(.signUpClosed)
        ),
    ]

    static let duplicates: [SignInRow] = [
        SignInRow(
            name: "D1: several accounts per email, the identity is linked",
            owner: Samples.owner(),
            emailOwner: Samples.emailOwner(verified: true),
            policy: Samples.policy(onePerEmail: false),
            outcome: .signIn(l)
        ),
        SignInRow(
            name: "D2: several accounts per email, a new identity",
            policy: Samples.policy(onePerEmail: false),
            outcome: .signUp(email: nil, emailVerified: false)
        ),
        SignInRow(
            name: "D2: whoever has the address",
            emailOwner: Samples.emailOwner(verified: true),
            policy: Samples.policy(onePerEmail: false),
            outcome: .signUp(email: nil, emailVerified: false)
        ),
        SignInRow(
            name: "D2: never a conflict",
            emailOwner: Samples.emailOwner(verified: true),
            policy: Samples.policy(onePerEmail: false, trust: .never),
            outcome: .signUp(email: nil, emailVerified: false)
        ),
    ]
}
