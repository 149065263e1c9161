import Linking
import Projects
package import Secrets
import Sessions
import Storage

extension AccountsService {
    package var signInWithSecondFactor: SignInWithSecondFactor { SignInWithSecondFactor(parts: parts) }
}

/// Completes a sign-in whose first factor was proved, with the code of a second factor.
package struct SignInWithSecondFactor: Sendable {
    let parts: Parts

    /// Sends a code to a phone of the account.
    ///
    /// - Parameter appHash: of an Android app that reads the SMS itself.
    /// - Returns: the `sessionInfo`.
    package func sendCode(
        pendingCredential: String?,
        enrollment: String?,
        appHash: String?,
        _ caller: Caller
    ) async throws -> Secret {
        let pending = try parts.pendingSignIn(
            pendingCredential,
            missing: .missingPendingCredential,
            late: .invalidPendingCredential,
            caller
        )
        guard let enrollment, !enrollment.isEmpty else { throw AccountsError.secondFactor(.missingEnrollment) }
        guard caller.project.settings.secondFactors.sms else { throw AccountsError.secondFactor(.smsNotOffered) }
        let found = try await parts.accounts.find(AccountID(pending.account), session: nil, in: caller.scope)
        guard let account = found?.account else { throw AccountsError.userNotFound }
        try require(pending, standsFor: account)
        guard
            let number = account.secondFactors.first(where: { $0.id == enrollment })?.phoneNumber
                .flatMap({ PhoneNumber($0) })
        else { throw AccountsError.secondFactor(.enrollmentNotFound) }
        return try await parts.sendVerificationCode(
            to: number,
            purpose: .secondFactor,
            account: account.id,
            appHash: appHash,
            caller
        )
    }

    /// Accepts an SMS code.
    package func withPhone(
        pendingCredential: String?,
        sessionInfo: String?,
        code: String?,
        _ caller: Caller
    ) async throws -> IssuedTokens {
        let pending = try parts.pendingSignIn(pendingCredential, late: .invalidPendingCredential, caller)
        guard caller.project.settings.secondFactors.sms else { throw AccountsError.secondFactor(.smsNotOffered) }
        try await parts.stores.rateLimits.take(parts.secondFactorLimits(of: pending.account, caller))
        let checked = try await parts.checkVerificationCode(
            sessionInfo: sessionInfo,
            code: code,
            purpose: .secondFactor,
            account: AccountID(pending.account),
            caller
        )
        return try await finish(pending, spending: checked.code, caller) { account throws(AccountsError) in
            guard
                let factor = account.secondFactors.first(where: { $0.phoneNumber == checked.phoneNumber.text }),
                let evidence = checked.evidence.asSecondFactor(factor)
            else { throw .secondFactor(.invalidEnrollment) }
            return ProvedFactor(factor: factor, evidence: evidence)
        }
    }

    /// Accepts an authenticator app's code, each once.
    ///
    /// The account is read again: if it was disabled, revoked or unlinked since the first factor, the sign-in fails.
    package func withApp(
        pendingCredential: String?,
        enrollment: String?,
        code: String?,
        _ caller: Caller
    ) async throws -> IssuedTokens {
        let pending = try parts.pendingSignIn(pendingCredential, late: .challengeTimeout, caller)
        guard let enrollment, !enrollment.isEmpty else { throw AccountsError.secondFactor(.missingEnrollment) }
        guard let code, !code.isEmpty else { throw AccountsError.missingVerificationCode }
        try await parts.stores.rateLimits.take(parts.secondFactorLimits(of: pending.account, caller))
        let adjacent = Int64(caller.project.settings.secondFactors.adjacentIntervals)
        let seconds = parts.seconds
        return try await finish(pending, caller) { account throws(AccountsError) in
            guard let factor = account.secondFactors.first(where: { $0.id == enrollment }),
                case .totp(let sealed, let last) = factor.kind
            else { throw .secondFactor(.invalidEnrollment) }
            guard caller.project.settings.secondFactors.totp else { throw .secondFactor(.totpNotOffered) }
            let place = Parts.secretPlace(account.id, enrollment, caller)
            guard let secret = try? parts.keyRing.open(sealed, for: place),
                let match = TOTP(secret: secret).match(code, at: seconds, adjacent: adjacent, after: last)
            else { throw .invalidVerificationCode }
            var used = factor
            used.kind = .totp(sealedSecret: sealed, lastStep: match.step)
            return ProvedFactor(factor: used, evidence: Evidence(match, of: enrollment, at: seconds))
        }
    }

    private struct ProvedFactor {
        /// The factor to store.
        var factor: SecondFactor
        var evidence: Evidence
    }

    private func finish(
        _ pending: PendingSignIn,
        spending code: OneTimeCode? = nil,
        _ caller: Caller,
        _ prove: @escaping @Sendable (Account) throws(AccountsError) -> ProvedFactor
    ) async throws -> IssuedTokens {
        let id = AccountID(pending.account)
        let provider = ProviderID(pending.provider)
        let secret = Secret(parts.random.handle())
        @Sendable func session(_ evidence: Evidence) -> PreparedSession {
            parts.prepareSession(
                evidence,
                provider: provider,
                claims: pending.claims,
                attributes: pending.attributes,
                secret: secret,
                caller: caller
            )
        }
        let now = parts.now()
        do {
            var entrance: Entrance?
            if parts.asksBeforeSignIn(caller) {
                let found = try await parts.accounts.find(id, session: nil, in: caller.scope)
                guard let account = found?.account else { throw AccountsError.userNotFound }
                try require(pending, standsFor: account)
                entrance = try await parts.admit(account, session(prove(account).evidence), caller)
            }
            let changed = try await parts.change(id, session: nil, caller) { [entrance] account, _ in
                try require(pending, standsFor: account)
                let proved = try prove(account)
                let factor = proved.factor
                guard entrance == nil || entrance?.account.version == account.version else {
                    throw AccountsError.contended
                }
                var changes = AccountChanges()
                changes.secondFactors = account.secondFactors.map { $0.id == factor.id ? factor : $0 }
                changes.session = .open((entrance?.session ?? session(proved.evidence)).values)
                changes.lastSignInAt = now
                changes.amend(entrance?.amendment)
                changes.spends = code
                changes.forgives = parts.secondFactorLimits(of: pending.account, caller)
                return changes
            }
            let tokens = try parts.issueTokens(after: changed, secret, caller: caller)
            AccountEvent.signedIn.log(id, provider: provider, caller)
            return tokens
        } catch AccountsError.invalidVerificationCode {
            AccountEvent.secondFactorRefused.log(id, provider: provider, caller)
            throw AccountsError.invalidVerificationCode
        }
    }

    private func require(_ pending: PendingSignIn, standsFor account: Account) throws(AccountsError) {
        guard !account.isDisabled else { throw .userDisabled }
        guard pending.revokedVersion == account.revokedVersion, account.signsIn(with: ProviderID(pending.provider))
        else {
            throw .secondFactor(.invalidPendingCredential)
        }
    }
}

extension Account {
    /// Whether the account still has the first factor of a pending sign-in.
    fileprivate func signsIn(with provider: ProviderID) -> Bool {
        switch provider {
        case .custom: true
        // A sign-in by email link appears as a password in tokens.
        case .password: hasPassword || emailLinkSignIn
        default: methods.contains(provider)
        }
    }
}
