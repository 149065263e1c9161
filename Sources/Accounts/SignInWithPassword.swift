package import Linking
import Passwords
import Projects
package import Secrets
import Storage

/// Signs in with email and password.
package struct SignInWithPassword: Sendable {
    let parts: Parts

    /// The password is checked before the account's state is told: only who knows it learns that an account is
    /// disabled.
    ///
    /// An unknown address costs the same hash.
    package func callAsFunction(
        email: String?,
        password: Secret?,
        _ caller: Caller
    ) async throws -> (account: Account, tokens: IssuedTokens) {
        let settings = caller.project.settings
        guard settings.passwordSignIn else { throw AccountsError.passwordSignInDisabled }
        guard let email, !email.isEmpty else { throw AccountsError.missingEmail }
        guard let address = EmailAddress(email) else { throw AccountsError.invalidEmail }
        guard let password, !password.isEmpty else { throw AccountsError.missingPassword }
        let found = try await parts.accounts.findForPassword(email: address, in: caller.scope)
        let matches: Bool
        do {
            // Nothing longer was ever stored.
            let stored = password.reveal().utf16.count <= 4096 ? found?.password?.hash : nil
            matches = try await parts.passwords.verify(
                stored == nil ? Secret("unknown") : password,
                against: stored,
                signerKey: caller.project.signerKey
            )
        } catch PasswordError.overloaded {
            throw AccountsError.overloaded
        }
        let protected = settings.emailEnumerationProtection
        guard let found else { throw protected ? AccountsError.invalidLoginCredentials : AccountsError.emailNotFound }
        guard matches, let stored = found.password else {
            throw protected ? AccountsError.invalidLoginCredentials : AccountsError.invalidPassword
        }
        guard !found.account.isDisabled else { throw AccountsError.userDisabled }
        if settings.passwordPolicy.forcesUpgradeAtSignIn {
            let problems = settings.passwordPolicy.problems(of: password.reveal())
            guard problems.isEmpty else { throw AccountsError.passwordMissesPolicy(problems) }
        }
        let session = parts.prepareSession(nil, provider: .password, caller: caller)
        let applied = try await parts.accounts.signIn(
            to: found.account,
            checked: stored,
            session: session.values,
            in: caller.scope,
            now: parts.now()
        )
        guard applied else { throw protected ? AccountsError.invalidLoginCredentials : AccountsError.invalidPassword }
        AccountEvent.signedIn.log(found.account.id, provider: .password, caller)
        return (found.account, try parts.issueTokens(for: found.account, session, caller: caller))
    }
}
