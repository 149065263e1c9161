import Domain
import Projects
package import Secrets
package import Storage

extension AccountsService { package var resetPassword: ResetPassword { ResetPassword(service: self) } }

/// `resetPassword`: returns a code's details, or sets a new password with a reset code.
package struct ResetPassword: Sendable {
    let service: AccountsService

    package struct Result: Sendable {
        package var code: OOBCode
        /// The second factor or passkey that a code removes.
        package var factor: AddedFactor?
    }

    /// Without a password, returns the details of a code of any type and does not use it.
    ///
    /// - Throws: ``AccountsError/invalidOOBCode`` for a password with a code of another type, or if the account was
    ///   deleted or
    ///   merged, or its email has changed.
    package func callAsFunction(
        code text: String?,
        newPassword: Secret?,
        _ caller: Caller
    ) async throws -> Result {
        guard caller.project.settings.passwordSignIn else { throw AccountsError.passwordSignInDisabled }
        let code = try await service.findCode(text, caller).code
        guard let newPassword, !newPassword.isEmpty else {
            return Result(code: code, factor: try await factor(of: code, caller))
        }
        guard code.type == .passwordReset else { throw AccountsError.invalidOOBCode }
        let stored = try await service.hash(
            checking: newPassword,
            of: AccountID(code.owner),
            isReset: true,
            caller
        )
        let now = service.now()
        let seconds = service.seconds
        let account = AccountID(code.owner)
        do {
            let changed = try await service.change(account, session: nil, caller) { account, _ in
                guard account.email?.canonical == code.email.canonical else { throw AccountsError.invalidOOBCode }
                guard !account.isDisabled else { throw AccountsError.userDisabled }
                guard !account.yieldsEmail(at: now) else { throw EmailLeaves(holder: account) }
                var changes = AccountChanges()
                changes.spends = .mail(code.hash)
                changes.password = stored
                changes.passwordUpdatedAt = now
                changes.validSince = seconds
                changes.endedSessions = .all
                changes.forgives = service.forgivenLimits(for: code.email, caller)
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
        } catch let leaving as EmailLeaves {
            try await create(insteadOf: leaving.holder, code, stored, caller)
        } catch AccountsError.userNotFound {
            throw AccountsError.invalidOOBCode
        } catch AccountsError.userDisabled {
            guard try await service.stores.oobCodes.spend(code, in: caller.scope) else {
                throw AccountsError.invalidOOBCode
            }
            throw AccountsError.userDisabled
        }
        return Result(code: code)
    }

    /// Another than the user who has the email keeps a way into the account (S16).
    private struct EmailLeaves: Error { var holder: Account }

    /// Creates the account of the user who has the email, with the new password.
    private func create(
        insteadOf holder: Account,
        _ code: OOBCode,
        _ password: StoredPassword,
        _ caller: Caller
    ) async throws {
        guard !caller.project.settings.disabledUserSignup else { throw AccountsError.signUpClosed }
        var account = Account(id: service.newAccountID(), validSince: service.seconds, createdAt: service.now())
        account.email = code.email
        account.emailVerified = true
        account.hasPassword = true
        account.passwordUpdatedAt = service.now()
        do {
            try await service.create(
                account,
                password: password,
                spending: .mail(code.hash),
                displacing: holder,
                caller
            )
        } catch AccountsError.emailExists {
            // It lost the email in the meantime, or its own session verified it.
            throw AccountsError.invalidOOBCode
        }
    }

    private func factor(of code: OOBCode, _ caller: Caller) async throws -> AddedFactor? {
        guard let reverted = code.revertedFactor else { return nil }
        let account = try await service.accounts.find(reverted.account, session: nil, in: caller.scope)?.account
        guard let factor = account?.addedFactor(of: code) else { throw AccountsError.invalidOOBCode }
        return factor
    }
}
