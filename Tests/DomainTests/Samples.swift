import Domain

/// The values that tables here speak of: P is the provider at hand, R its subject, E its address.
enum Samples {
    static let provider: ProviderID = "oidc.acme"
    static let subject = "R"
    static let email = address("ada@example.com")

    static func address(_ text: String) -> EmailAddress { EmailAddress(canonical: text, original: text) }

    /// - Parameter verified: `email_verified`, as the provider says it.
    static func identity(
        email: EmailAddress? = email,
        verified: Bool = true,
        relay: Bool = false
    ) -> FederatedIdentity {
        FederatedIdentity(
            provider: provider,
            subject: subject,
            issuer: "https://acme.example",
            email: email,
            emailVerifiedClaim: email != nil && verified,
            emailIsRelay: relay
        )
    }

    /// L: has the identity, and another address than E, or none.
    static func owner(
        disabled: Bool = false,
        email: EmailAddress? = address("owner@example.com"),
        ownMethods: Set<ProviderID> = [],
        linked others: [ProviderID: String] = [:],
        hasSecondFactor: Bool = false
    ) -> CandidateAccount {
        CandidateAccount(
            id: AccountID("L"),
            email: email,
            emailVerified: email != nil,
            disabled: disabled,
            ownMethods: ownMethods,
            linked: others.merging([provider: subject]) { $1 },
            hasSecondFactor: hasSecondFactor
        )
    }

    /// M: has E as its own address.
    static func emailOwner(
        verified: Bool,
        disabled: Bool = false,
        ownMethods: Set<ProviderID> = [.password],
        linked: [ProviderID: String] = [:],
        outlivesTakeover: Bool = false
    ) -> CandidateAccount {
        CandidateAccount(
            id: AccountID("M"),
            email: email,
            emailVerified: verified,
            disabled: disabled,
            ownMethods: ownMethods,
            linked: linked,
            outlivesTakeover: outlivesTakeover
        )
    }

    static func policy(
        onePerEmail: Bool = true,
        trust: EmailTrust = .claim,
        signUp: Bool = true,
        linking: LinkingMode = .auto
    ) -> LinkingPolicy {
        LinkingPolicy(oneAccountPerEmail: onePerEmail, emailTrust: trust, signUpAllowed: signUp, linking: linking)
    }
}
