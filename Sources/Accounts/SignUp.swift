package import Domain
import Projects
package import Secrets
import Sessions
import Storage

extension AccountsService { package var signUp: SignUp { SignUp(service: self) } }

/// Creates an anonymous account or one with a password, or adds a password to the signed-in account.
package struct SignUp: Sendable {
    let service: AccountsService

    package struct Request: Sendable {
        package var email: String?
        package var password: Secret?
        package var displayName: String?
        package var photoURL: String?
        package var idToken: String?
        /// Only in `identity dev`, as in the emulator: the one way to a factor without a verified email.
        package var secondFactors: [AdminSecondFactor] = []

        package init() {}
    }

    package struct Result: Sendable {
        package var account: Account
        package var tokens: IssuedTokens
    }

    package func callAsFunction(_ request: Request, _ caller: Caller) async throws -> Result {
        let settings = caller.project.settings
        guard request.secondFactors.isEmpty || service.options.development && request.idToken == nil else {
            throw AccountsError.insufficientPermission
        }
        if request.idToken == nil, request.email == nil, request.password == nil {
            guard settings.anonymousSignIn, !settings.disabledUserSignup else {
                throw AccountsError.anonymousSignInDisabled
            }
            let profile = try Profile(request)
            try await service.requirePerson(for: .signUp, caller)
            return try await open(request, profile, email: nil, caller)
        }
        guard let email = request.email, !email.isEmpty else { throw AccountsError.missingEmail }
        guard let password = request.password, !password.isEmpty else { throw AccountsError.missingPassword }
        guard settings.passwordSignIn else { throw AccountsError.signUpWithPasswordDisabled }
        if request.idToken == nil, settings.disabledUserSignup { throw AccountsError.signUpClosed }
        guard let address = EmailAddress(email) else { throw AccountsError.invalidEmail }
        let profile = try Profile(request)
        var token: VerifiedIDToken?
        if let idToken = request.idToken {
            let user = try await service.authenticate(idToken, caller: caller)
            try require(address, of: user, caller)
            token = user.token
        } else {
            try await service.requirePerson(for: .signUp, caller)
        }
        // Taken separately, before the hash: the statement that creates an account writes nothing if the email is
        // taken.
        try await service.stores.rateLimits.take(service.signUpLimits(caller, of: token?.account))
        do {
            try await service.check(password, caller)
        } catch {
            // The error for a taken email precedes the one for a weak password; only then is the email looked up.
            if try await isTaken(address, by: token, caller) { throw AccountsError.emailExists }
            throw error
        }
        if let token { return try await link(address, password, profile, token, caller) }
        return try await open(request, profile, email: address, caller)
    }

    /// The profile of a request, checked.
    private struct Profile {
        var displayName: String?
        var photoURL: String?

        init(_ request: Request) throws(AccountsError) {
            displayName = try ProfileRules.displayName(request.displayName)
            photoURL = try ProfileRules.photoURL(request.photoURL)
        }
    }

    private func open(
        _ request: Request,
        _ profile: Profile,
        email: EmailAddress?,
        _ caller: Caller
    ) async throws -> Result {
        if let email, caller.project.settings.blockingFunctions[.beforeCreate] != nil,
            try await isTaken(email, by: nil, caller)
        {
            throw AccountsError.emailExists
        }
        var account = Account(id: service.newAccountID(), validSince: service.seconds, createdAt: service.now())
        account.email = email
        account.displayName = profile.displayName
        account.photoURL = profile.photoURL
        account.secondFactors = try service.newSecondFactors(request.secondFactors, of: account)
        let password = email == nil ? nil : request.password
        var stored: StoredPassword?
        if let password {
            stored = try await service.hash(password, caller.project, for: caller.hashShare)
            account.hasPassword = true
            account.passwordUpdatedAt = service.now()
        }
        let session = service.prepareSession(
            Evidence(newAccount: account, at: service.seconds),
            provider: email == nil ? .anonymous : .password,
            caller: caller
        )
        let limits = password == nil ? try await service.takeBeforeAsking(service.signUpLimits(caller), caller) : .none
        let signedUp = try await service.create(account, session, password: stored, within: limits, caller)
        return Result(account: signedUp.account, tokens: signedUp.tokens)
    }

    private func link(
        _ email: EmailAddress,
        _ password: Secret,
        _ profile: Profile,
        _ token: VerifiedIDToken,
        _ caller: Caller
    ) async throws -> Result {
        let stored = try await service.hash(password, caller.project, for: caller.hashShare)
        let renewal = service.prepareRenewal()
        let evidence = Evidence(settingPassword: stored, at: service.seconds)
        let now = service.now()
        let changed = try await service.change(token.account, session: token.session, caller) { account, current in
            let user = try SignedInAccount(token: token, account: account, session: current)
            try require(email, of: user, caller)
            var changes = AccountChanges()
            changes.email = email
            if account.email?.canonical != email.canonical {
                // The same rule as in `update`; a first email replaces none.
                if account.email != nil || !account.secondFactors.isEmpty {
                    try service.requireChangeable(account, caller)
                }
                changes.emailVerified = false
                service.keepWayBack(of: account, replacedBy: email, in: &changes, caller)
            }
            changes.password = stored
            changes.passwordUpdatedAt = now
            if let displayName = profile.displayName { changes.displayName = displayName }
            if let photoURL = profile.photoURL { changes.photoURL = photoURL }
            // The user has just set the password, which counts as a sign-in with it.
            let session = renewal.of(user.session, method: (.password, nil))
            changes.endOthers(keeping: session.signedInAgain(evidence))
            return changes
        }
        let tokens = try service.issueTokens(after: changed, renewal.secret, caller: caller)
        return Result(account: try changed.existing, tokens: tokens)
    }

    /// Refuses a password, with an email that may be new, to a session that may not set them.
    private func require(
        _ email: EmailAddress,
        of user: SignedInAccount,
        _ caller: Caller
    ) throws(AccountsError) {
        guard !user.account.isGuest else { return }
        let moves = user.account.email?.canonical != email.canonical
        try service.require(moves ? [.setPassword, .changeEmail] : [.setPassword], of: user, caller)
    }

    private func isTaken(_ email: EmailAddress, by token: VerifiedIDToken?, _ caller: Caller) async throws -> Bool {
        let found = try await service.accounts.holder(of: email, in: caller.scope)
        return found.map { $0.id != token?.account } ?? false
    }
}
