package import Domain
package import Foundation
import Projects
package import Secrets
import Sessions
import Storage
import Text

extension AccountsService { package var enrollSecondFactor: EnrollSecondFactor { EnrollSecondFactor(service: self) } }

/// Enrolls a second factor for the signed-in account in two steps: an authenticator app, or a phone.
package struct EnrollSecondFactor: Sendable {
    let service: AccountsService

    /// The data for an authenticator app, returned once.
    package struct NewApp: Sendable {
        /// Base 32.
        package var sharedSecret: Secret
        package var sessionInfo: Secret
        package var finalizeBefore: Date
    }

    package struct Result: Sendable {
        package var tokens: IssuedTokens
        package var factor: SecondFactor
    }

    /// Generates the secret; nothing is stored before a code proves that the app has it.
    package func startApp(idToken: String?, _ caller: Caller) async throws -> NewApp {
        guard caller.project.settings.secondFactors.totp else { throw AccountsError.secondFactor(.totpNotOffered) }
        let user = try await signedIn(idToken, caller)
        try requireRoom(for: user.account)
        let secret = service.random.bytes(TOTP.secretLength)
        let pending = PendingEnrollment(
            session: user.session.id.rawValue,
            secret: Data(secret),
            startedAt: service.seconds
        )
        return NewApp(
            sharedSecret: Secret(Base32.encode(secret)),
            sessionInfo: try service.startEnrollment(pending, caller),
            finalizeBefore: service.now().addingTimeInterval(Double(PendingEnrollment.lifetime))
        )
    }

    /// Completes the enrollment with the app's first code.
    ///
    /// Other sessions end; this one continues with the factor proved.
    package func finishApp(
        idToken: String?,
        sessionInfo: String?,
        code: String?,
        displayName: String?,
        _ caller: Caller
    ) async throws -> Result {
        let settings = caller.project.settings.secondFactors
        guard settings.totp else { throw AccountsError.secondFactor(.totpNotOffered) }
        let token = try await service.verify(idToken, caller: caller)
        let pending = try service.pendingEnrollment(sessionInfo, token, caller)
        guard let code, !code.isEmpty else { throw AccountsError.missingVerificationCode }
        guard let name = try ProfileRules.displayName(displayName), !name.isEmpty else {
            throw AccountsError.secondFactor(.missingDisplayName)
        }
        let secret = [UInt8](pending.secret)
        guard let code = TypedCode.sixDigits(code),
            let match = TOTP(secret: secret).match(
                code,
                at: service.seconds,
                adjacent: settings.acceptedIntervals,
                after: 0
            )
        else { throw AccountsError.invalidVerificationCode }
        let id = service.random.uuid()
        let sealed = try service.keyRing.seal(secret, for: AccountsService.secretPlace(token.account, id, caller))
        let factor = SecondFactor(
            id: id,
            kind: .totp(sealedSecret: sealed, lastStep: match.step),
            displayName: name,
            enrolledAt: service.now()
        )
        let evidence = Evidence(match, of: id, at: service.seconds)
        return try await enroll(factor, evidence, token, caller) { account throws(AccountsError) in
            try requireRoom(for: account)
        }
    }

    /// Sends a code to the number.
    ///
    /// - Parameter appHash: of an Android app that reads the SMS itself.
    /// - Returns: the `sessionInfo`.
    package func startPhone(
        _ phoneNumber: String?,
        idToken: String?,
        appHash: String?,
        _ caller: Caller
    ) async throws -> Secret {
        guard caller.project.settings.secondFactors.sms else { throw AccountsError.secondFactor(.smsNotOffered) }
        let user = try await signedIn(idToken, caller)
        guard let number = phoneNumber.flatMap({ PhoneNumber($0) }) else { throw AccountsError.invalidPhoneNumber }
        try requireRoom(for: number, in: user.account)
        return try await service.sendVerificationCode(
            to: number,
            purpose: .enrollment,
            account: user.account.id,
            appHash: appHash,
            caller
        )
    }

    /// Completes the enrollment with the code; sessions end as with an app.
    package func finishPhone(
        idToken: String?,
        sessionInfo: String?,
        code: String?,
        displayName: String?,
        _ caller: Caller
    ) async throws -> Result {
        guard caller.project.settings.secondFactors.sms else { throw AccountsError.secondFactor(.smsNotOffered) }
        let token = try await service.verify(idToken, caller: caller)
        let name = try ProfileRules.displayName(displayName)
        let checked = try await check(code, of: sessionInfo, idToken: idToken, for: token.account, caller)
        let factor = SecondFactor(
            id: service.random.uuid(),
            kind: .phone(checked.phoneNumber.text),
            displayName: name,
            enrolledAt: service.now()
        )
        guard let evidence = checked.evidence.asSecondFactor(factor) else { throw AccountsError.invalidSessionInfo }
        return try await enroll(factor, evidence, spending: checked.code, token, caller) {
            account throws(AccountsError) in
            try requireRoom(for: checked.phoneNumber, in: account)
        }
    }

    /// Checks the code of an enrollment; in `identity dev`, also one of `sendVerificationCode`: the SDK for Apple
    /// platforms before 12.18 asks for that one if its app verification is off for testing.
    private func check(
        _ code: String?,
        of sessionInfo: String?,
        idToken: String?,
        for account: AccountID,
        _ caller: Caller
    ) async throws -> CheckedVerification {
        func check(_ purpose: VerificationPurpose, _ account: AccountID?) async throws -> CheckedVerification {
            try await service.checkVerificationCode(
                sessionInfo: sessionInfo,
                code: code,
                purpose: purpose,
                account: account,
                caller
            )
        }
        do {
            return try await check(.enrollment, account)
        } catch AccountsError.invalidSessionInfo where service.options.development {
            // What the start of an enrollment would have asked for.
            _ = try await signedIn(idToken, caller)
            return try await check(.signIn, nil)
        }
    }

    /// Enrolls the factor.
    ///
    /// A recent sign-in was required at the start; it may no longer be recent, and `auth_time` does not change.
    ///
    /// - Parameter check: refuses what the current account does not allow.
    private func enroll(
        _ factor: SecondFactor,
        _ evidence: Evidence,
        spending code: OneTimeCode? = nil,
        _ token: VerifiedIDToken,
        _ caller: Caller,
        _ check: @escaping @Sendable (Account) throws(AccountsError) -> Void
    ) async throws -> Result {
        let renewal = service.prepareRenewal()
        let changed = try await service.change(token.account, session: token.session, caller) { account, current in
            let user = try SignedInAccount(token: token, account: account, session: current)
            try requireEligible(user)
            if service.needsSecondFactor(account, caller), user.session.secondFactor == nil {
                throw AccountsError.recentSignInRequired
            }
            try check(account)
            var changes = AccountChanges()
            changes.secondFactors = account.secondFactors + [factor]
            changes.spends = code
            changes.endOthers(keeping: renewal.of(user.session).proving(evidence))
            changes.sends = service.revertCode(of: factor.id, account, caller)
            // Each enrollment sends one, and who has withdrawn a factor may enroll another.
            changes.sendLimits = service.noticeLimits(of: account.id, caller)
            return changes
        }
        AccountEvent.secondFactorEnrolled.log(token.account, caller)
        let tokens = try service.issueTokens(after: changed, renewal.secret, caller: caller)
        return Result(tokens: tokens, factor: factor)
    }

    /// The account of a token that may enroll: with a recent sign-in that proved all of the account's factors.
    private func signedIn(_ idToken: String?, _ caller: Caller) async throws -> SignedInAccount {
        guard let idToken else { throw AccountsError.invalidIDToken }
        let user = try await service.authenticate(idToken, caller: caller)
        try requireEligible(user)
        try service.require([.enrollSecondFactor], of: user, caller)
        return user
    }

    private func requireEligible(_ user: SignedInAccount) throws(AccountsError) {
        guard !Self.firstFactorsAlone.contains(user.session.signInProvider) else {
            throw .secondFactor(.unsupportedFirstFactor)
        }
        guard user.account.email != nil, user.account.emailVerified else { throw .secondFactor(.unverifiedEmail) }
    }

    /// Accounts that sign in with one of these cannot have a second factor.
    private static let firstFactorsAlone: Set<ProviderID> = [
        .anonymous, .phone, .custom, ProviderID("gc.apple.com"),
    ]

    private func requireRoom(for number: PhoneNumber, in account: Account) throws(AccountsError) {
        let phones = account.secondFactors.compactMap(\.phoneNumber)
        guard !phones.contains(number.text) else { throw .secondFactor(.phoneNumberEnrolled) }
        guard phones.count < SecondFactor.mostPhones else { throw .secondFactor(.tooManyPhones) }
    }

    private func requireRoom(for account: Account) throws(AccountsError) {
        guard account.secondFactors.count(where: \.isTOTP) < SecondFactor.mostApps else {
            throw .secondFactor(.tooManyApps)
        }
    }
}
