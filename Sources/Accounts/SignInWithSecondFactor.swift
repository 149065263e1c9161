import Domain
package import Passkeys
import Projects
package import Secrets
import Sessions
import Storage

extension AccountsService {
    package var signInWithSecondFactor: SignInWithSecondFactor { SignInWithSecondFactor(service: self) }
}

/// Completes a sign-in whose first factor was proved, with the code of a second factor.
package struct SignInWithSecondFactor: Sendable {
    let service: AccountsService

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
        let pending = try service.pendingSignIn(
            pendingCredential,
            missing: .missingPendingCredential,
            late: .invalidPendingCredential,
            caller
        )
        guard let enrollment, !enrollment.isEmpty else { throw AccountsError.secondFactor(.missingEnrollment) }
        guard caller.project.settings.secondFactors.sms else { throw AccountsError.secondFactor(.smsNotOffered) }
        let found = try await service.accounts.find(AccountID(pending.account), session: nil, in: caller.scope)
        guard let account = found?.account else { throw AccountsError.userNotFound }
        try require(pending, standsFor: account)
        guard
            let number = account.secondFactors.first(where: { $0.id == enrollment })?.phoneNumber
                .flatMap({ PhoneNumber(stored: $0) })
        else { throw AccountsError.secondFactor(.enrollmentNotFound) }
        return try await service.sendVerificationCode(
            to: number,
            purpose: .secondFactor,
            account: account.id,
            appHash: appHash,
            caller
        )
    }

    /// Accepts an SMS code.
    ///
    /// - Parameter enrollment: the factor that the code was sent for; SDKs leave it out.
    package func withPhone(
        pendingCredential: String?,
        enrollment: String? = nil,
        sessionInfo: String?,
        code: String?,
        _ caller: Caller
    ) async throws -> IssuedTokens {
        let pending = try service.pendingSignIn(pendingCredential, late: .invalidPendingCredential, caller)
        guard caller.project.settings.secondFactors.sms else { throw AccountsError.secondFactor(.smsNotOffered) }
        let code = try AccountsService.sixDigits(code)
        try await takeTry(of: pending, caller)
        let checked = try await service.checkVerificationCode(
            sessionInfo: sessionInfo,
            code: code,
            purpose: .secondFactor,
            account: AccountID(pending.account),
            caller
        )
        return try await finish(pending, spending: checked.code, caller) { account throws(AccountsError) in
            guard
                let factor = account.secondFactors.first(where: { $0.phoneNumber == checked.phoneNumber.text }),
                enrollment == nil || enrollment == factor.id,
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
        let pending = try service.pendingSignIn(pendingCredential, late: .challengeTimeout, caller)
        guard let enrollment, !enrollment.isEmpty else { throw AccountsError.secondFactor(.missingEnrollment) }
        let code = try AccountsService.sixDigits(code)
        try await takeTry(of: pending, caller)
        let adjacent = caller.project.settings.secondFactors.acceptedIntervals
        let seconds = service.seconds
        return try await finish(pending, caller) { account throws(AccountsError) in
            guard let factor = account.secondFactors.first(where: { $0.id == enrollment }),
                case .totp(let sealed, let last) = factor.kind
            else { throw .secondFactor(.invalidEnrollment) }
            guard caller.project.settings.secondFactors.totp else { throw .secondFactor(.totpNotOffered) }
            let place = AccountsService.secretPlace(account.id, enrollment, caller)
            guard let secret = try? service.keyRing.open(sealed, for: place),
                let match = TOTP(secret: secret).match(code, at: seconds, adjacent: adjacent, after: last)
            else { throw .invalidVerificationCode }
            var used = factor
            used.kind = .totp(sealedSecret: sealed, lastStep: match.step)
            return ProvedFactor(factor: used, evidence: Evidence(match, of: enrollment, at: seconds))
        }
    }

    // MARK: Passkeys

    /// The ID of all passkeys of an account together, in `mfaInfo`: the authenticator says which one it is.
    package static let passkeyEnrollment = "passkey"

    /// - Returns: what the browser asks the authenticator for, good for five minutes, once.
    package func startPasskey(pendingCredential: String?, _ caller: Caller) async throws -> AssertionOptions {
        let pending = try service.pendingSignIn(
            pendingCredential,
            missing: .missingPendingCredential,
            late: .invalidPendingCredential,
            caller
        )
        let party = try service.relyingParty(caller)
        let found = try await service.accounts.find(AccountID(pending.account), session: nil, in: caller.scope)
        guard let account = found?.account else { throw AccountsError.userNotFound }
        try require(pending, standsFor: account)
        try requirePasskey(account, pending, caller)
        let challenge = Challenge.random(from: service.random)
        try await service.flows.insert(
            PasskeyChallenge(challenge.bytes, for: .secondFactor(account.id)),
            within: service.flowLimits(caller),
            in: caller.scope,
            now: service.now()
        )
        return AssertionOptions(
            relyingPartyID: party.id,
            challenge: challenge,
            allowed: account.passkeys.compactMap(\.descriptor),
            userVerification: caller.project.settings.passkeys.userVerification
        )
    }

    /// Accepts a passkey of the account.
    ///
    /// The challenge is used up, whatever the verification says.
    package func withPasskey(
        pendingCredential: String?,
        _ response: AssertionResponse,
        _ caller: Caller
    ) async throws -> IssuedTokens {
        let pending = try service.pendingSignIn(pendingCredential, late: .challengeTimeout, caller)
        let party = try service.relyingParty(caller)
        // No limit: nobody guesses a signature, and whoever has the password would use up the owner's tries.
        let challenge = response.clientData.challenge
        let isTaken = try await service.flows.take(
            PasskeyChallenge(challenge, for: .secondFactor(AccountID(pending.account))),
            in: caller.scope,
            now: service.now()
        )
        guard isTaken else { throw AccountsError.passkey(.challengeTimeout) }
        let ceremony = AssertionCeremony(
            relyingParty: party,
            challenge: Challenge(bytes: challenge),
            userVerification: caller.project.settings.passkeys.userVerification
        )
        let (now, seconds) = (service.now(), service.seconds)
        return try await finish(pending, caller) { account throws(AccountsError) in
            try requirePasskey(account, pending, caller)
            guard let index = account.passkeys.firstIndex(where: { $0.id == response.id.description }) else {
                throw .passkey(.enrollmentNotFound)
            }
            let passkey = account.passkeys[index]
            let assertion = try service.verify(response, passkey, ceremony, account.id, caller)
            var passkeys = account.passkeys
            passkeys[index] = passkey.used(assertion.record, at: now)
            return ProvedFactor(passkeys: passkeys, evidence: Evidence(secondFactor: assertion, at: seconds))
        }
    }

    private func requirePasskey(
        _ account: Account,
        _ pending: PendingSignIn,
        _ caller: Caller
    ) throws(AccountsError) {
        guard service.asksForPasskey(account, caller), ProviderID(pending.provider) != .passkey else {
            throw .secondFactor(.enrollmentNotFound)
        }
    }

    // MARK: The end

    private struct ProvedFactor {
        /// The factor to store; nil for a passkey.
        var factor: SecondFactor?
        /// The account's passkeys to store; nil if they stay as they are.
        var passkeys: [Passkey]?
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
        let secret = Secret(service.random.handle())
        @Sendable func session(_ evidence: Evidence) -> PreparedSession {
            service.prepareSession(
                evidence,
                provider: provider,
                claims: pending.claims,
                attributes: pending.attributes,
                secret: secret,
                caller: caller
            )
        }
        let now = service.now()
        do {
            var entrance: Entrance?
            if service.asksBeforeSignIn(by: provider, caller) {
                let found = try await service.accounts.find(id, session: nil, in: caller.scope)
                guard let account = found?.account else { throw AccountsError.userNotFound }
                try require(pending, standsFor: account)
                entrance = try await service.admit(account, session(prove(account).evidence), caller)
            }
            let changed = try await service.change(id, session: nil, caller) { [entrance] account, _ in
                try require(pending, standsFor: account)
                let proved = try prove(account)
                if let known = entrance?.account {
                    guard account.version == known.version, account.createdAt == known.createdAt else {
                        throw AccountsError.contended
                    }
                }
                var changes = AccountChanges()
                if let factor = proved.factor {
                    changes.secondFactors = account.secondFactors.map { $0.id == factor.id ? factor : $0 }
                }
                changes.passkeys = proved.passkeys == account.passkeys ? nil : proved.passkeys
                changes.session = .open((entrance?.session ?? session(proved.evidence)).values)
                changes.lastSignInAt = now
                changes.isByCustomToken = provider == .custom
                changes.amend(entrance?.amendment, account)
                changes.spends = code
                changes.forgives = service.secondFactorLimits(of: id, [.home, .elsewhere], caller)
                return changes
            }
            let tokens = try service.issueTokens(after: changed, secret, caller: caller)
            AccountEvent.signedIn.log(id, provider: provider, caller)
            return tokens
        } catch AccountsError.invalidVerificationCode {
            AccountEvent.secondFactorRefused.log(id, provider: provider, caller)
            throw AccountsError.invalidVerificationCode
        }
    }

    /// Counts an attempt at a code; one with an ended pending sign-in is none.
    private func takeTry(of pending: PendingSignIn, _ caller: Caller) async throws {
        let account = AccountID(pending.account)
        guard let standing = try await service.standing(of: account, caller) else { throw AccountsError.userNotFound }
        guard !standing.isDisabled else { throw AccountsError.userDisabled }
        guard standing.revokedVersion == pending.revokedVersion else {
            throw AccountsError.secondFactor(.invalidPendingCredential)
        }
        try await service.stores.rateLimits.take(service.secondFactorLimits(of: account, [standing.place], caller))
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
