package import Linking
import Passwords
import Projects
package import Secrets
import Storage

extension AccountsService { package var signInWithPassword: SignInWithPassword { SignInWithPassword(parts: parts) } }

/// Signs in with email and password.
package struct SignInWithPassword: Sendable {
    let parts: Parts

    /// The password is checked before the account's state is revealed: only a caller who knows it learns that an
    /// account is disabled.
    ///
    /// An unknown email costs the same hash. The limits count failures: each attempt takes from them before its hash is
    /// computed, so simultaneous attempts cannot exceed them, and a success returns what it took.
    package func callAsFunction(
        email: String?,
        password: Secret?,
        _ caller: Caller
    ) async throws -> (account: Account, result: FirstFactorResult) {
        let settings = caller.project.settings
        guard settings.passwordSignIn else { throw AccountsError.passwordSignInDisabled }
        guard let email, !email.isEmpty else { throw AccountsError.missingEmail }
        guard let address = EmailAddress(email) else { throw AccountsError.invalidEmail }
        guard let password, !password.isEmpty else { throw AccountsError.missingPassword }
        for number in Parts.tries {
            try await parts.pause(beforeTry: number)
            if let result = try await signIn(address, password, caller) { return result }
        }
        throw AccountsError.contended
    }

    /// - Returns: nil if the password or the account changed in the meantime.
    private func signIn(
        _ address: EmailAddress,
        _ password: Secret,
        _ caller: Caller
    ) async throws -> (account: Account, result: FirstFactorResult)? {
        let settings = caller.project.settings
        let found = try await parts.accounts.findForPassword(
            email: address,
            within: parts.passwordLimits(for: address, caller),
            from: caller.addressPrefix,
            in: caller.scope
        )
        let match: PasswordMatch?
        do {
            // No longer password was ever stored.
            let stored = password.reveal().utf16.count <= 4096 ? found?.password?.hash : nil
            match = try await parts.passwords.match(
                stored == nil ? Secret("unknown") : password,
                against: stored,
                parameters: caller.project.scryptParameters,
                signerKey: caller.project.signerKey
            )
        } catch PasswordError.overloaded {
            throw AccountsError.overloaded
        }
        let protected = settings.emailEnumerationProtection
        guard let found else {
            AccountEvents.count(.refused, .password, caller)
            throw protected ? AccountsError.invalidLoginCredentials : AccountsError.emailNotFound
        }
        guard let match, let stored = found.password else {
            AccountEvents.count(.refused, .password, caller)
            throw protected ? AccountsError.invalidLoginCredentials : AccountsError.invalidPassword
        }
        guard !found.account.isDisabled else { throw AccountsError.userDisabled }
        if settings.passwordPolicy.forcesUpgradeAtSignIn {
            let problems = settings.passwordPolicy.problems(of: password.reveal())
            guard problems.isEmpty else { throw AccountsError.passwordMissesPolicy(problems) }
        }
        let session = parts.prepareSession(
            Evidence(match, at: parts.seconds),
            provider: .password,
            caller: caller
        )
        let challenge = try parts.challenge(found.account, session, caller)
        let entrance =
            challenge == nil
            ? try await parts.admit(found.account, session, caller)
            : Entrance(account: found.account, session: session)
        let applied = try await parts.accounts.signIn(
            to: found,
            checked: stored,
            rehashed: try await rehash(password, stored, caller.project),
            session: challenge == nil ? entrance.session.values : nil,
            amendment: entrance.amendment,
            in: caller.scope,
            now: parts.now()
        )
        guard applied else { return nil }
        if let challenge { return (found.account, .needsSecondFactor(challenge)) }
        AccountEvent.signedIn.log(found.account.id, provider: .password, caller)
        let tokens = try parts.issueTokens(for: entrance.account, entrance.session, caller: caller)
        return (entrance.account, .signedIn(tokens))
    }

    /// The password with the project's parameters; nil if it has them already, or the hasher is busy.
    private func rehash(
        _ password: Secret,
        _ stored: StoredPassword,
        _ project: Project
    ) async throws -> StoredPassword? {
        guard stored.hash.parameters != project.scryptParameters else { return nil }
        do {
            return try await parts.hash(password, project)
        } catch AccountsError.overloaded {
            return nil
        }
    }
}
