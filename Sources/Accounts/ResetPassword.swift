import Linking
import Projects
package import Secrets
package import Storage

/// `resetPassword`: what a one-time code is good for, or a new password for a reset code.
package struct ResetPassword: Sendable {
    let parts: Parts

    /// A code of another type is only looked at, as every code is without a password: that does not use it up.
    package func callAsFunction(
        code text: String?,
        newPassword: Secret?,
        _ caller: Caller
    ) async throws -> OOBCode {
        guard caller.project.settings.passwordSignIn else { throw AccountsError.passwordSignInDisabled }
        let code = try await parts.findCode(text, caller)
        guard let newPassword, !newPassword.isEmpty, code.type == .passwordReset else { return code }
        try PasswordRules.check(newPassword, caller.project.settings.passwordPolicy)
        let stored = try await parts.hash(newPassword, caller.project)
        let now = parts.now()
        let seconds = parts.seconds
        let account = AccountID(code.owner)
        do {
            let changed = try await parts.change(account, session: nil, caller) { account, _ in
                guard account.email?.canonical == code.email.canonical else { throw AccountsError.userNotFound }
                guard !account.isDisabled else { throw AccountsError.userDisabled }
                var changes = AccountChanges()
                changes.spends = code.hash
                changes.password = stored
                changes.passwordUpdatedAt = now
                changes.validSince = seconds
                changes.endedSessions = .all
                changes.verifyEmail(
                    by: .passwordReset,
                    EmailProof(provider: .password, subject: code.email.canonical),
                    provedBefore: account.emailVerified,
                    seconds: seconds
                )
                return changes
            }
            if changed.changes.firstVerification != nil { AccountEvent.takenOver.log(account, caller) }
            AccountEvent.passwordReset.log(account, caller)
        } catch AccountsError.userDisabled {
            try await parts.stores.oobCodes.spend(code, in: caller.scope)
            throw AccountsError.userDisabled
        }
        return code
    }
}
