/// What a verified identity may do when no user is signed in.
///
/// A pure function of the identity, the accounts that it could belong to and the project's policy; the row IDs (S1…S16,
/// D1, D2) are those of the decision table in `docs/guide/linking.md`.
package enum SignInDecision: Sendable, Hashable {
    /// The identity belongs to this account (S1, D1).
    case signIn(AccountID)
    /// The identity belongs to this account, which has no email, and no account has the identity's: sign in, and the
    /// account takes it (S15).
    case adoptEmail(AccountID, EmailAddress, verified: Bool)
    /// No account has it: creates one, with the email as its own if `email` is set (S3, S4, D2); without it if the
    /// email is a relay address that another account has (S14).
    ///
    /// `displaced` is the account that loses the email, which it never verified (S16).
    case signUp(email: EmailAddress?, emailVerified: Bool, displaced: AccountID? = nil)
    /// The provider verifies this account's verified email: sign in and link (S5).
    ///
    /// `replaced` is the subject that loses its link because the same provider reassigned the email (S6).
    case link(AccountID, replaced: String?)
    /// The provider verifies this account's unverified email: the account's earlier sign-in methods are removed (S7).
    case takeOver(AccountID)
    /// The email belongs to this account and the provider does not verify it (S9), or the user must confirm in any case
    /// (S12).
    ///
    /// `providers` are the account's identity providers, sorted, without `password` and `phone`.
    case conflict(AccountID, providers: [ProviderID])
    case refuse(Refusal)

    package enum Refusal: Error, Sendable, Hashable {
        /// S2, S8.
        case accountDisabled
        /// No account has the identity, and the request asked for an existing account (S10).
        case accountNotFound
        /// S11.
        case signUpClosed
        /// S13.
        case emailExists
    }

    package enum Purpose: Sendable, Hashable {
        case signIn
        /// Reauthentication, for which SDKs send `autoCreate: false`: creates neither an account nor a link.
        case reauthenticate
    }

    /// - Parameters:
    ///   - owner: the account that has the identity linked (L of the table).
    ///   - emailOwner: the account whose own email is the identity's (M); ignored if several accounts per email are
    ///     allowed.
    package static func decide(
        for identity: FederatedIdentity,
        owner: CandidateAccount?,
        emailOwner: CandidateAccount?,
        purpose: Purpose,
        policy: LinkingPolicy
    ) -> (row: SignInRow, decision: SignInDecision) {
        let proven = policy.emailTrust.proves(identity)
        if let owner {
            if owner.disabled { return (.s2, .refuse(.accountDisabled)) }
            guard policy.oneAccountPerEmail else { return (.d1, .signIn(owner.id)) }
            guard owner.email == nil, emailOwner == nil, let email = identity.email, owner.mayTakeEmail(proven: proven)
            else { return (.s1, .signIn(owner.id)) }
            return (.s15, .adoptEmail(owner.id, email, verified: proven))
        }
        guard policy.oneAccountPerEmail, let email = identity.email, let emailOwner, !identity.emailIsRelay else {
            guard purpose == .signIn else { return (.s10, .refuse(.accountNotFound)) }
            guard policy.signUpAllowed else { return (.s11, .refuse(.signUpClosed)) }
            guard policy.oneAccountPerEmail else { return (.d2, .signUp(email: nil, emailVerified: false)) }
            if identity.email != nil, emailOwner != nil { return (.s14, .signUp(email: nil, emailVerified: false)) }
            return (identity.email == nil ? .s3 : .s4, .signUp(email: identity.email, emailVerified: proven))
        }
        if policy.linking == .never { return (.s13, .refuse(.emailExists)) }
        let providers = emailOwner.linked.keys.sorted { $0.rawValue < $1.rawValue }
        guard proven, emailOwner.email?.canonical == email.canonical else {
            return (.s9, .conflict(emailOwner.id, providers: providers))
        }
        if policy.linking == .confirm { return (.s12, .conflict(emailOwner.id, providers: providers)) }
        guard purpose != .reauthenticate else { return (.s10, .refuse(.accountNotFound)) }
        guard !emailOwner.disabled else { return (.s8, .refuse(.accountDisabled)) }
        guard emailOwner.emailVerified else {
            guard emailOwner.outlivesTakeover else { return (.s7, .takeOver(emailOwner.id)) }
            guard policy.signUpAllowed else { return (.s11, .refuse(.signUpClosed)) }
            return (.s16, .signUp(email: email, emailVerified: true, displaced: emailOwner.id))
        }
        let replaced = emailOwner.linked[identity.provider]
        return (replaced == nil ? .s5 : .s6, .link(emailOwner.id, replaced: replaced))
    }
}

extension CandidateAccount {
    /// Whether a sign-in gives the account the identity's email.
    ///
    /// A second factor comes before any change. An unverified email puts an account at the mercy of whoever verifies it
    /// (S7), so an account with other methods takes none.
    fileprivate func mayTakeEmail(proven: Bool) -> Bool {
        !hasSecondFactor && (proven || ownMethods.isEmpty && linked.count == 1)
    }
}

extension SignInDecision {
    /// The effect of a sign-in to the identity's account on the account's email.
    package var emailEffect: LinkDecision.EmailEffect {
        guard case .adoptEmail(_, let email, let verified) = self else { return .none }
        return .adopt(email, verified: verified)
    }
}
