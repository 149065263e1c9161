package import Domain
import Federation

// The same changes that the statements of `Storage` make to an account, made to the value, so that the response needs
// no second read.

extension Account {
    mutating func apply(_ profile: Profile) { self.profile = profile.only(Profile.ofAccounts) }

    /// With a name that the provider sends only once, if the account has none.
    func named(by credential: FederatedCredential) -> Account {
        guard credential.nameComesOnce else { return self }
        var account = self
        account.displayName = self.displayName ?? credential.identity.profile.displayName
        return account
    }

    /// With the identity linked, replacing another one of the same provider; fills empty profile fields.
    func linking(_ identity: FederatedIdentity, effect: LinkDecision.EmailEffect = .none) -> Account {
        var account = self
        account.version += 1
        account.linked.removeAll { $0.provider == identity.provider }
        account.linked.append(LinkedCredential(identity))
        account.linked.sort { $0.provider.rawValue < $1.provider.rawValue }
        account.displayName = self.displayName ?? identity.profile.displayName
        account.photoURL = self.photoURL ?? identity.profile.photoURL
        account.apply(effect)
        return account
    }

    /// With the effect of the identity's email; any makes it another version.
    func changed(by effect: LinkDecision.EmailEffect) -> Account {
        guard effect != .none else { return self }
        var account = self
        account.version += 1
        account.apply(effect)
        return account
    }

    private mutating func apply(_ effect: LinkDecision.EmailEffect) {
        switch effect {
        case .none: break
        case .markVerified: emailVerified = true
        case .adopt(let email, let verified): (self.email, emailVerified) = (email, verified)
        }
    }

    /// Without the credentials that it had before its email was verified (S7).
    func takenOver(by identity: FederatedIdentity, now: Int64) -> Account {
        var account = self
        account.version += 1
        account.revokedVersion = account.version
        account.dropUnproved(validSince: max(validSince, now))
        account.linked = [LinkedCredential(identity)]
        account.apply(identity.profile)
        return account
    }
}

extension AccountsError {
    package init(_ refusal: SignInDecision.Refusal) {
        self =
            switch refusal {
            case .accountDisabled: .userDisabled
            case .accountNotFound: .accountNotFound
            case .signUpClosed: .signUpClosed
            case .emailExists: .emailExists
            }
    }
}
