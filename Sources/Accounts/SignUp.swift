package import Linking
import Projects
package import Secrets
import Sessions
import Storage

extension AccountsService { package var signUp: SignUp { SignUp(parts: parts) } }

/// Creates an anonymous account or one with a password, or adds a password to the signed-in account.
package struct SignUp: Sendable {
    let parts: Parts

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
        guard request.secondFactors.isEmpty || parts.development && request.idToken == nil else {
            throw AccountsError.insufficientPermission
        }
        if request.idToken == nil, request.email == nil, request.password == nil {
            guard settings.anonymousSignIn, !settings.disabledUserSignup else {
                throw AccountsError.anonymousSignInDisabled
            }
            let profile = try Profile(request)
            try await parts.requirePerson(for: .signUp, caller)
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
            let user = try await parts.authenticate(idToken, caller: caller)
            try require(address, of: user, caller)
            token = user.token
        } else {
            try await parts.requirePerson(for: .signUp, caller)
        }
        // Taken separately, before the hash: the statement that creates an account writes nothing if the email is
        // taken.
        try await parts.stores.rateLimits.take(parts.signUpLimits(caller, of: token?.account))
        do {
            try await parts.check(password, caller)
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
        var account = Account(id: parts.newAccountID(), validSince: parts.seconds, createdAt: parts.now())
        account.email = email
        account.displayName = profile.displayName
        account.photoURL = profile.photoURL
        account.secondFactors = try parts.newSecondFactors(request.secondFactors, of: account)
        let password = email == nil ? nil : request.password
        var stored: StoredPassword?
        if let password {
            stored = try await parts.hash(password, caller.project, for: caller.hashShare)
            account.hasPassword = true
            account.passwordUpdatedAt = parts.now()
        }
        let session = parts.prepareSession(
            Evidence(newAccount: account, at: parts.seconds),
            provider: email == nil ? .anonymous : .password,
            caller: caller
        )
        let limits = password == nil ? try await parts.takeBeforeAsking(parts.signUpLimits(caller), caller) : .none
        let signedUp = try await parts.signUp(account, session, password: stored, within: limits, caller)
        return Result(account: signedUp.account, tokens: signedUp.tokens)
    }

    private func link(
        _ email: EmailAddress,
        _ password: Secret,
        _ profile: Profile,
        _ token: VerifiedIDToken,
        _ caller: Caller
    ) async throws -> Result {
        let stored = try await parts.hash(password, caller.project, for: caller.hashShare)
        let renewal = parts.prepareRenewal()
        let evidence = Evidence(settingPassword: stored, at: parts.seconds)
        let now = parts.now()
        let changed = try await parts.change(token.account, session: token.session, caller) { account, current in
            let user = try SignedInAccount(token: token, account: account, session: current)
            try require(email, of: user, caller)
            var changes = AccountChanges()
            changes.email = email
            if account.email?.canonical != email.canonical {
                // The same rule as in `update`; a first email replaces none.
                if account.email != nil || !account.secondFactors.isEmpty {
                    try parts.requireChangeable(account, caller)
                }
                changes.emailVerified = false
                parts.keepWayBack(of: account, replacedBy: email, in: &changes, caller)
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
        let tokens = try parts.issueTokens(after: changed, renewal.secret, caller: caller)
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
        try parts.require(moves ? [.setPassword, .changeEmail] : [.setPassword], of: user, caller)
    }

    private func isTaken(_ email: EmailAddress, by token: VerifiedIDToken?, _ caller: Caller) async throws -> Bool {
        let found = try await parts.accounts.holder(of: email, in: caller.scope)
        return found.map { $0.id != token?.account } ?? false
    }
}
