package import Domain
import Passwords
import Projects
package import Secrets
import Storage

extension AccountsService { package var signInWithPassword: SignInWithPassword { SignInWithPassword(service: self) } }

/// Signs in with email and password.
package struct SignInWithPassword: Sendable {
    let service: AccountsService

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
        for number in AccountsService.tries {
            try await service.pause(beforeTry: number)
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
        let limits = service.passwordLimits(for: address, caller)
        let found = try await service.accounts.findForPassword(
            email: address,
            within: limits,
            // Otherwise a page could find out whether its visitor has the account.
            from: caller.isFromForeignPage ? nil : caller.addressPrefix,
            in: caller.scope
        )
        let match: PasswordMatch?
        do { match = try await self.match(password, against: found?.password?.hash, caller) } catch let error {
            // Nothing was compared, so it was no try.
            if case AccountsError.overloaded = error {
                try await service.stores.rateLimits.giveBack(found?.taken ?? limits)
            }
            throw error
        }
        guard let found, let match, let stored = found.password else {
            AccountEvents.count(.refused, .password, caller)
            if settings.emailEnumerationProtection { throw AccountsError.invalidLoginCredentials }
            throw found == nil ? AccountsError.emailNotFound : AccountsError.invalidPassword
        }
        guard !found.account.isDisabled else { throw AccountsError.userDisabled }
        if settings.passwordPolicy.forcesUpgradeAtSignIn {
            let problems = settings.passwordPolicy.problems(of: password.reveal())
            guard problems.isEmpty else { throw AccountsError.passwordMissesPolicy(problems) }
        }
        let session = service.prepareSession(
            Evidence(match, at: service.seconds),
            provider: .password,
            caller: caller
        )
        let entrance = try await service.enter(found.account, session, caller)
        let applied = try await service.accounts.signIn(
            to: found,
            checked: stored,
            rehashed: try await rehash(password, stored, match, caller),
            session: entrance.newSession,
            amendment: entrance.amendment,
            in: caller.scope,
            now: service.now()
        )
        guard applied else { return nil }
        // Passwords that came by import were never checked; their hashes are replaced at their first sign-in.
        if stored.hash.parameters != caller.project.scryptParameters, await service.isLeaked(password, caller) {
            AccountEvent.leakedPassword.log(found.account.id, caller)
        }
        if entrance.challenge == nil { AccountEvent.signedIn.log(found.account.id, provider: .password, caller) }
        return (entrance.account, try service.result(of: entrance, caller: caller))
    }

    /// Costs the same without a hash.
    private func match(
        _ password: Secret,
        against hash: PasswordHash?,
        _ caller: Caller
    ) async throws -> PasswordMatch? {
        // No longer password was ever stored.
        let isPossible = password.reveal().utf16.count <= PasswordPolicy.lengths.upperBound
        do {
            return try await service.passwords.match(
                isPossible ? password : Secret("unknown"),
                against: isPossible ? hash : nil,
                parameters: caller.project.scryptParameters,
                signerKey: caller.project.signerKey,
                for: caller.hashShare
            )
        } catch PasswordError.overloaded {
            throw AccountsError.overloaded
        }
    }

    /// The password in the stored form and with the project's parameters; nil if it is so already, or the hasher is busy.
    private func rehash(
        _ password: Secret,
        _ stored: StoredPassword,
        _ match: PasswordMatch,
        _ caller: Caller
    ) async throws -> StoredPassword? {
        guard stored.hash.parameters != caller.project.scryptParameters || !match.isComposed else { return nil }
        do {
            return try await service.hash(password, caller.project, for: caller.hashShare)
        } catch AccountsError.overloaded {
            return nil
        }
    }
}
