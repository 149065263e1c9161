import Domain
import Testing

/// Every combination of what a sign-in is decided on, against the table written down a second time as plain rows.
@Suite("Decision table: every combination")
struct SignInOracleTests {
    struct Combination: Sendable {
        var hasEmail: Bool
        var claimed: Bool
        var isRelay: Bool
        var trust: EmailTrust
        var owner: CandidateAccount?
        var emailOwner: CandidateAccount?
        var purpose: SignInDecision.Purpose
        var onePerEmail: Bool
        var signUpAllowed: Bool
        var linking: LinkingMode
    }

    /// The table, first match wins; a second hand wrote it without looking at the first.
    static func table(_ c: Combination) -> SignInDecision {
        // V: the trust rule, E present.
        let proven: Bool
        switch c.trust {
        case .always: proven = c.hasEmail
        case .never: proven = false
        case .claim: proven = c.hasEmail && c.claimed
        case .domains(let domains, _): proven = c.hasEmail && c.claimed && domains.contains("example.com")
        }
        // M means anything only with one account per email, and only for an address.
        // A relay's address means nobody.
        let m = c.onePerEmail && c.hasEmail && !c.isRelay ? c.emailOwner : nil
        let outlives = m?.emailVerified == false && m?.outlivesTakeover == true
        let held = m?.linked.keys.sorted(by: <) ?? []
        let rows: [(applies: Bool, outcome: SignInDecision)] = [
            (
                c.owner?.disabled == false && c.owner?.email == nil && c.onePerEmail && c.hasEmail
                    && c.emailOwner == nil && c.owner?.hasSecondFactor == false
                    && (proven || c.owner?.ownMethods == [] && c.owner?.linked.count == 1),
                .adoptEmail(AccountID("L"), Samples.email, verified: proven)
            ),  // S15
            (c.owner.map { !$0.disabled } ?? false, .signIn(AccountID("L"))),  // S1, D1
            (c.owner?.disabled == true, .refuse(.accountDisabled)),  // S2
            (m != nil && c.linking == .never, .refuse(.emailExists)),  // S13
            (m != nil && c.linking == .confirm, .conflict(AccountID("M"), providers: held)),  // S9, S12
            (m != nil && !proven, .conflict(AccountID("M"), providers: held)),  // S9
            (m != nil && c.purpose == .reauthenticate, .refuse(.accountNotFound)),  // S5…S8 in reauthentication
            (m?.disabled == true, .refuse(.accountDisabled)),  // S8
            (outlives && !c.signUpAllowed, .refuse(.signUpClosed)),  // S11
            (
                outlives,
                .signUp(email: Samples.email, emailVerified: true, displaced: AccountID("M"))
            ),  // S16
            (m?.emailVerified == false, .takeOver(AccountID("M"))),  // S7
            (m?.linked[Samples.provider] != nil, .link(AccountID("M"), replaced: "R′")),  // S6
            (m != nil, .link(AccountID("M"), replaced: nil)),  // S5
            (c.purpose != .signIn, .refuse(.accountNotFound)),  // S10
            (!c.signUpAllowed, .refuse(.signUpClosed)),  // S11
            (!c.onePerEmail || !c.hasEmail, .signUp(email: nil, emailVerified: false)),  // D2, S3
            (c.isRelay && c.emailOwner != nil, .signUp(email: nil, emailVerified: false)),  // S14
            (true, .signUp(email: Samples.email, emailVerified: proven)),  // S4
        ]
        return rows.first(where: \.applies)?.outcome ?? .refuse(.accountNotFound)
    }

    static let owners: [CandidateAccount?] = [
        nil, Samples.owner(), Samples.owner(disabled: true), Samples.owner(email: nil),
        Samples.owner(email: nil, ownMethods: [.phone]), Samples.owner(email: nil, linked: [.github: "7"]),
        Samples.owner(email: nil, hasSecondFactor: true),
    ]

    static let emailOwners: [CandidateAccount?] =
        [nil]
        + [false, true].flatMap { verified in
            [false, true].flatMap { disabled in
                let methods: [(Set<ProviderID>, [ProviderID: String])] = [
                    ([], [:]), ([.password], [:]), ([.emailLink], [:]), ([.phone], [:]), ([], [.github: "1"]),
                    ([.password], [.google: "1", .github: "2"]), ([], [Samples.provider: "R′"]),
                    ([.password, .phone], [Samples.provider: "R′", .apple: "3"]),
                ]
                return methods.flatMap { own, linked in
                    [false, true].map { custom in
                        Samples.emailOwner(
                            verified: verified,
                            disabled: disabled,
                            ownMethods: own,
                            linked: linked,
                            outlivesTakeover: custom
                        )
                    }
                }
            }
        }

    static let trusts: [EmailTrust] = [
        .always, .never, .claim, .domains(["example.com"], orAuthority: false),
        .domains(["other.example"], orAuthority: false),
    ]

    static let combinations: [Combination] = {
        var all: [Combination] = []
        for owner in owners {
            for emailOwner in emailOwners {
                for trust in trusts {
                    for purpose in [SignInDecision.Purpose.signIn, .reauthenticate] {
                        for bits in 0..<96 {
                            all.append(
                                Combination(
                                    hasEmail: bits & 1 != 0,
                                    claimed: bits & 2 != 0,
                                    isRelay: bits >= 48,
                                    trust: trust,
                                    owner: owner,
                                    emailOwner: emailOwner,
                                    purpose: purpose,
                                    onePerEmail: bits & 4 != 0,
                                    signUpAllowed: bits & 8 != 0,
                                    linking: LinkingMode.allCases[bits % 48 >> 4]
                                )
                            )
                        }
                    }
                }
            }
        }
        return all
    }()

    @Test("decides as in the table")
    func agreesWithTheTable() {
        #expect(Self.combinations.count == 436_800)
        var outcomes: Set<SignInDecision> = []
        for combination in Self.combinations {
            let decided = SignInDecision.decide(
                for: Samples.identity(
                    email: combination.hasEmail ? Samples.email : nil,
                    verified: combination.claimed,
                    relay: combination.isRelay
                ),
                owner: combination.owner,
                emailOwner: combination.emailOwner,
                purpose: combination.purpose,
                policy: Samples.policy(
                    onePerEmail: combination.onePerEmail,
                    trust: combination.trust,
                    signUp: combination.signUpAllowed,
                    linking: combination.linking
                )
            ).decision
            outcomes.insert(decided)
            #expect(decided == Self.table(combination), "\(combination)")
        }
        #expect(outcomes.count >= 16)
    }

    @Test("an account whose address differs is never linked or taken over")
    func comparesTheAddressItself() {
        var stranger = Samples.emailOwner(verified: true)
        stranger.email = Samples.address("eve@example.com")
        let decided = SignInDecision.decide(
            for: Samples.identity(),
            owner: nil,
            emailOwner: stranger,
            purpose: .signIn,
            policy: Samples.policy()
        ).decision
        #expect(decided == .conflict(stranger.id, providers: []))
    }
}

extension ProviderID {
    fileprivate static func < (left: ProviderID, right: ProviderID) -> Bool { left.rawValue < right.rawValue }
}
