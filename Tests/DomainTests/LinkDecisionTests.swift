import Domain
import Testing

/// One row of the decision table for linking to a signed-in account.
struct LinkRow: Sendable, CustomTestStringConvertible {
    var name: String
    var identity = Samples.identity()
    var account: CandidateAccount
    var owner: String?
    var emailOwner: String?
    var policy = Samples.policy()
    var outcome: LinkDecision

    var testDescription: String { name }
}

@Suite("Decision table: linking")
struct LinkDecisionTests {
    /// U, without an address of its own unless one is given.
    private static func user(
        _ email: EmailAddress? = nil,
        verified: Bool = false,
        linked: [ProviderID: String] = [:],
        hasSecondFactor: Bool = false
    ) -> CandidateAccount {
        CandidateAccount(
            id: AccountID("U"),
            email: email,
            emailVerified: verified,
            linked: linked,
            hasSecondFactor: hasSecondFactor
        )
    }
    private static let other = Samples.address("other@example.com")

    static let rows: [LinkRow] = [
        LinkRow(
            name: "K2: another account has the identity",
            account: user(),
            owner: "L",
            outcome: .refuse(.identityLinkedToAnotherAccount)
        ),
        LinkRow(
            name: "K2: also with several accounts per email",
            account: user(),
            owner: "L",
            policy: Samples.policy(onePerEmail: false),
            outcome: .refuse(.identityLinkedToAnotherAccount)
        ),
        LinkRow(
            name: "K2 before K3",
            account: user(linked: [Samples.provider: "R′"]),
            owner: "L",
            outcome: .refuse(.identityLinkedToAnotherAccount)
        ),
        LinkRow(
            name: "K2 before K5",
            account: user(),
            owner: "L",
            emailOwner: "M",
            outcome: .refuse(.identityLinkedToAnotherAccount)
        ),
        LinkRow(
            name: "K3: the account has another subject of the provider",
            account: user(linked: [Samples.provider: "R′"]),
            outcome: .refuse(.providerAlreadyLinked)
        ),
        LinkRow(
            name: "K3 before K5",
            account: user(linked: [Samples.provider: "R′"]),
            emailOwner: "M",
            outcome: .refuse(.providerAlreadyLinked)
        ),
        LinkRow(
            name: "K4: the account has the identity already",
            account: user(linked: [Samples.provider: Samples.subject]),
            owner: "U",
            outcome: .keep
        ),
        LinkRow(
            name: "K4 before K5",
            account: user(linked: [Samples.provider: Samples.subject]),
            owner: "U",
            emailOwner: "M",
            outcome: .keep
        ),
        LinkRow(
            name: "K5: the address is another account's, proven",
            account: user(),
            emailOwner: "M",
            outcome: .refuse(.emailExists)
        ),
        LinkRow(
            name: "K5: the address is another account's, not proven",
            identity: Samples.identity(verified: false),
            account: user(other),
            emailOwner: "M",
            outcome: .refuse(.emailExists)
        ),
        LinkRow(
            name: "K6: several accounts per email",
            account: user(),
            emailOwner: "M",
            policy: Samples.policy(onePerEmail: false),
            outcome: .link(.none)
        ),
        LinkRow(
            name: "K6: a relay address that another account has",
            identity: Samples.identity(relay: true),
            account: user(),
            emailOwner: "M",
            outcome: .link(.none)
        ),
        LinkRow(
            name: "K7: without an address the account adopts the proven one",
            account: user(),
            outcome: .link(.adopt(Samples.email, verified: true))
        ),
        LinkRow(
            name: "K7: without an address the account adopts one that is not proven",
            account: user(),
            policy: Samples.policy(trust: .never),
            outcome: .link(.adopt(Samples.email, verified: false))
        ),
        LinkRow(
            name: "K7: with a second factor the account adopts the proven one",
            account: user(hasSecondFactor: true),
            outcome: .link(.adopt(Samples.email, verified: true))
        ),
        LinkRow(
            name: "K7: with a second factor the account adopts none that is not proven",
            account: user(hasSecondFactor: true),
            policy: Samples.policy(trust: .never),
            outcome: .link(.none)
        ),
        LinkRow(
            name: "K7: several accounts per email: nothing is adopted",
            account: user(),
            policy: Samples.policy(onePerEmail: false),
            outcome: .link(.none)
        ),
        LinkRow(
            name: "K7: the provider proves the account's own address",
            account: user(Samples.email),
            emailOwner: "U",
            outcome: .link(.markVerified)
        ),
        LinkRow(
            name: "K7: the provider proves the account's own address, several accounts per email",
            account: user(Samples.email),
            emailOwner: "U",
            policy: Samples.policy(onePerEmail: false),
            outcome: .link(.markVerified)
        ),
        LinkRow(
            name: "K7: the provider asserts the account's own address without proof",
            account: user(Samples.email),
            emailOwner: "U",
            policy: Samples.policy(trust: .never),
            outcome: .link(.none)
        ),
        LinkRow(
            name: "K7: the address is verified already",
            account: user(Samples.email, verified: true),
            emailOwner: "U",
            outcome: .link(.none)
        ),
        LinkRow(
            name: "K7: a verified address does not lose that by a provider that proves nothing",
            identity: Samples.identity(verified: false),
            account: user(Samples.email, verified: true),
            emailOwner: "U",
            outcome: .link(.none)
        ),
        LinkRow(
            name: "K7: another address stays",
            account: user(other),
            outcome: .link(.none)
        ),
        LinkRow(
            name: "K7: no address in the identity",
            identity: Samples.identity(email: nil),
            account: user(),
            outcome: .link(.none)
        ),
        LinkRow(
            name: "K7: other providers are no obstacle",
            account: user(other, verified: true, linked: [.github: "1", .google: "2"]),
            outcome: .link(.none)
        ),
    ]

    @Test("every row", arguments: rows)
    func decides(row: LinkRow) {
        #expect(decide(row) == row.outcome)
    }

    @Test("every combination")
    func agreesWithTheTable() {
        var count = 0
        for account in Self.accounts {
            for owner in [nil, "U", "L"] {
                for emailOwner in [nil, "U", "M"] {
                    for bits in 0..<8 {
                        let row = LinkRow(
                            name: "",
                            identity: Samples.identity(email: bits & 1 != 0 ? Samples.email : nil),
                            account: account,
                            owner: owner,
                            emailOwner: emailOwner,
                            policy: Samples.policy(onePerEmail: bits & 2 != 0, trust: bits & 4 != 0 ? .claim : .never),
                            outcome: .link(.none)
                        )
                        #expect(decide(row) == Self.table(row), "\(row)")
                        count += 1
                    }
                }
            }
        }
        #expect(count == 3456)
    }

    private static let accounts: [CandidateAccount] = [nil, Samples.email, other].flatMap { email in
        [false, true].flatMap { verified in
            [false, true].flatMap { hasSecondFactor in
                [[:], [Samples.provider: "R′"], [.github: "1"], [Samples.provider: Samples.subject]].map {
                    user(email, verified: verified && email != nil, linked: $0, hasSecondFactor: hasSecondFactor)
                }
            }
        }
    }

    /// The table as plain rows.
    private static func table(_ row: LinkRow) -> LinkDecision {
        let email = row.identity.email
        let proven = email != nil && row.policy.emailTrust == .claim
        let oneEach = row.policy.oneAccountPerEmail
        let rows: [(applies: Bool, outcome: LinkDecision)] = [
            (row.owner == "L", .refuse(.identityLinkedToAnotherAccount)),  // K2
            (row.owner == "U", .keep),  // K4
            (row.account.linked.keys.contains(Samples.provider), .refuse(.providerAlreadyLinked)),  // K3
            (oneEach && email != nil && row.emailOwner == "M", .refuse(.emailExists)),  // K5
            // K7
            (
                oneEach && email != nil && row.account.email == nil && !proven && row.account.hasSecondFactor,
                .link(.none)
            ),
            (
                oneEach && email != nil && row.account.email == nil,
                .link(.adopt(email ?? Samples.email, verified: proven))
            ),
            (proven && row.account.email == email && !row.account.emailVerified, .link(.markVerified)),
            (true, .link(.none)),
        ]
        return rows.first(where: \.applies)?.outcome ?? .link(.none)
    }

    private func decide(_ row: LinkRow) -> LinkDecision {
        LinkDecision.decide(
            for: row.identity,
            account: row.account,
            owner: row.owner.map { AccountID($0) },
            emailOwner: row.emailOwner.map { AccountID($0) },
            policy: row.policy
        )
    }
}
