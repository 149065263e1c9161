/// What a verified identity may do for a signed-in account (K2…K7 of the decision table).
package enum LinkDecision: Sendable, Hashable {
    /// K7.
    case link(EmailEffect)
    /// K4: the account has this identity; nothing changes, as for a request whose answer was lost.
    case keep
    case refuse(Refusal)

    package enum Refusal: String, Error, Sendable, Hashable, CaseIterable {
        /// K2: another account has the identity.
        case identityLinkedToAnotherAccount = "FEDERATED_USER_ID_ALREADY_LINKED"
        /// K3: the account has another identity of this provider.
        case providerAlreadyLinked = "PROVIDER_ALREADY_LINKED"
        /// K5: another account has the address.
        case emailExists = "EMAIL_EXISTS"
    }

    /// The effect of linking on the account's own email.
    package enum EmailEffect: Sendable, Hashable {
        case none
        /// The account had no email.
        case adopt(EmailAddress, verified: Bool)
        /// The provider verifies the account's email.
        case markVerified
    }

    /// - Parameters:
    ///   - account: the signed-in account (U).
    ///   - owner: the ID of the account that has the identity (L).
    ///   - emailOwner: the ID of the account whose own email is the identity's (M).
    package static func decide(
        for identity: FederatedIdentity,
        account: CandidateAccount,
        owner: AccountID?,
        emailOwner: AccountID?,
        policy: LinkingPolicy
    ) -> LinkDecision {
        if let owner, owner != account.id { return .refuse(.identityLinkedToAnotherAccount) }
        if owner == account.id { return .keep }
        if account.linked[identity.provider] != nil { return .refuse(.providerAlreadyLinked) }
        guard let email = identity.email else { return .link(.none) }
        let proven = policy.emailTrust.proves(identity)
        if policy.oneAccountPerEmail {
            if let emailOwner, emailOwner != account.id {
                return identity.emailIsRelay ? .link(.none) : .refuse(.emailExists)
            }
            if account.email == nil {
                // Whoever proves the address later is asked for the factor, and may not be the one who enrolled it.
                return .link(proven || !account.hasSecondFactor ? .adopt(email, verified: proven) : .none)
            }
        }
        let verifies = proven && account.email?.canonical == email.canonical && !account.emailVerified
        return .link(verifies ? .markVerified : .none)
    }
}
