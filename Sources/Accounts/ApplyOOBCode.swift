package import Domain
import Projects
package import Secrets
import Sessions
package import Storage

import struct Foundation.Date

extension AccountsService { package var applyOOBCode: ApplyOOBCode { ApplyOOBCode(service: self) } }

/// `update` with a code instead of an ID token: verifies an email, changes it, restores the previous one, or removes a
/// second factor or a passkey.
package struct ApplyOOBCode: Sendable {
    let service: AccountsService

    package struct Result: Sendable {
        package var account: Account
        /// Set if the email changed.
        package var newEmail: String?
    }

    /// - Parameters:
    ///   - type: the only accepted type of code; nil for each of the four.
    ///   - idToken: of the code's account, where one came along.
    package func callAsFunction(
        _ text: String?,
        as type: OOBCodeType? = nil,
        beside idToken: String? = nil,
        _ caller: Caller
    ) async throws -> Result {
        let code = try await service.findCode(text, caller).code
        let types: [OOBCodeType] = [.verifyEmail, .verifyAndChangeEmail, .recoverEmail, .revertSecondFactor]
        guard types.contains(code.type), type == nil || type == code.type else { throw AccountsError.invalidOOBCode }
        if let idToken {
            let token = try await service.verify(idToken, caller: caller)
            guard token.account == code.account else { throw AccountsError.invalidOOBCode }
        }
        return try await apply(code, caller)
    }

    /// Verifies the email of the signed-in account with the digits of an email that the same session requested.
    package func callAsFunction(digits: Secret, idToken: String, _ caller: Caller) async throws -> Result {
        let token = try await service.verify(idToken, caller: caller)
        let code = try await service.findCode(
            digits: digits,
            session: Secret(token.session.rawValue),
            .verifyEmail,
            owner: token.account.rawValue,
            caller
        )
        .code
        return try await apply(code, for: token, caller)
    }

    /// - Parameter token: that of the session which the code belongs to; nil for a link's code.
    private func apply(_ code: OOBCode, for token: VerifiedIDToken? = nil, _ caller: Caller) async throws -> Result {
        let earlier = code.type == .recoverEmail ? try await identities(of: code, caller) : [:]
        let changed: ChangedAccount
        do {
            changed = try await change(code, token, earlier, caller)
        } catch AccountsError.emailExists where code.type == .recoverEmail && code.proved {
            changed = try await takeFromHolder(code, earlier, caller)
        }
        let account = try changed.existing
        let event: AccountEvent = changed.changes.firstVerification == nil ? .changed : .takenOver
        event.log(account.id, caller)
        return Result(account: account, newEmail: (changed.changes.email ?? nil)?.canonical)
    }

    /// - Parameter holder: another account, which has the email and loses it.
    private func change(
        _ code: OOBCode,
        _ token: VerifiedIDToken?,
        _ earlier: [ProviderID: LinkedProvider],
        displacing holder: AccountID? = nil,
        _ caller: Caller
    ) async throws -> ChangedAccount {
        let seconds = service.seconds
        do {
            return try await service.change(code.account, session: token?.session, caller) { account, session in
                if let token { _ = try SignedInAccount(token: token, account: account, session: session) }
                guard !account.isDisabled else { throw AccountsError.userDisabled }
                var changes = AccountChanges()
                changes.spends = .mail(code.hash)
                changes.displaces = holder.map { service.displaced(code.email, of: $0, caller) }
                changes.displaces?.evenDisabled = true
                switch code.type {
                case .verifyEmail: try verify(code, account, &changes, seconds)
                case .verifyAndChangeEmail: try change(code, account, &changes, seconds, caller)
                case .revertSecondFactor: try revert(code, account, &changes, seconds)
                default: try recover(code, account, earlier, &changes, seconds)
                }
                return changes
            }
        } catch AccountsError.userNotFound {
            throw AccountsError.invalidOOBCode
        }
    }

    private func verify(
        _ code: OOBCode,
        _ account: Account,
        _ changes: inout AccountChanges,
        _ seconds: Int64
    ) throws(AccountsError) {
        guard account.email?.canonical == code.email.canonical else { throw .invalidOOBCode }
        changes.verifyEmail(
            by: .verificationMail,
            EmailProof(provider: .emailLink, subject: code.email.canonical),
            provedBefore: account.emailVerified,
            seconds: seconds
        )
    }

    private func change(
        _ code: OOBCode,
        _ account: Account,
        _ changes: inout AccountChanges,
        _ seconds: Int64,
        _ caller: Caller
    ) throws(AccountsError) {
        guard let newEmail = code.newEmail, account.email?.canonical == code.email.canonical else {
            throw .invalidOOBCode
        }
        changes.email = newEmail
        service.keepWayBack(of: account, replacedBy: newEmail, isProved: true, in: &changes, caller)
        changes.validSince = seconds
        changes.endedSessions = .all
        changes.verifyEmail(
            by: .emailChangeMail,
            EmailProof(provider: .emailLink, subject: newEmail.canonical),
            provedBefore: account.emailVerified,
            seconds: seconds
        )
    }

    /// Also ends every session, because an attacker who added the factor or passkey was signed in.
    private func revert(
        _ code: OOBCode,
        _ account: Account,
        _ changes: inout AccountChanges,
        _ seconds: Int64
    ) throws(AccountsError) {
        guard account.email?.canonical == code.email.canonical else { throw .invalidOOBCode }
        switch account.addedFactor(of: code) {
        case .passkey(let passkey): changes.passkeys = account.passkeys.filter { $0.id != passkey.id }
        case .secondFactor(let factor): changes.secondFactors = account.secondFactors.filter { $0.id != factor.id }
        case nil: throw .invalidOOBCode
        }
        changes.validSince = seconds
        changes.endedSessions = .all
    }

    private func recover(
        _ code: OOBCode,
        _ account: Account,
        _ earlier: [ProviderID: LinkedProvider],
        _ changes: inout AccountChanges,
        _ seconds: Int64
    ) throws(AccountsError) {
        // Somebody else has a way in that this must not end, or cannot (S16).
        guard code.proved || !account.outlivesTakeover(at: service.now()) else { throw .invalidOOBCode }
        takeBack(code, account, earlier, &changes, seconds)
        changes.email = code.email
        changes.verifyEmail(
            by: .recoveryMail,
            EmailProof(provider: .emailLink, subject: code.email.canonical),
            provedBefore: code.proved,
            seconds: seconds
        )
    }

    /// Removes what whoever changed the email may have added, in the week before or since, to come back by it: a password,
    /// passkeys, second factors, identities, and the phone number, of which nobody knows since when it is there; and ends
    /// the sessions (threats.md, T-E6).
    ///
    /// - Parameter earlier: the identities as they were read. One that was linked after that is not kept.
    private func takeBack(
        _ code: OOBCode,
        _ account: Account,
        _ earlier: [ProviderID: LinkedProvider],
        _ changes: inout AccountChanges,
        _ seconds: Int64
    ) {
        let trusted = Self.trusted(code, account)
        if account.hasPassword, account.passwordUpdatedAt.map({ $0 > trusted }) ?? false {
            changes.password = .some(nil)
        }
        let factors = account.secondFactors.filter { $0.enrolledAt <= trusted }
        if factors.count < account.secondFactors.count { changes.secondFactors = factors }
        let passkeys = account.passkeys.filter { $0.enrolledAt <= trusted }
        if passkeys.count < account.passkeys.count { changes.passkeys = passkeys }
        if account.phoneNumber != nil { changes.phoneNumber = .some(nil) }
        func isEarlier(_ credential: LinkedCredential) -> Bool {
            earlier[credential.provider].map { $0.subject == credential.subject && $0.linkedAt <= trusted } ?? false
        }
        changes.unlinked = Set(account.linked.filter { !isEarlier($0) }.map(\.provider))
        changes.recovers = code
        changes.validSince = seconds
        changes.endedSessions = .all
    }

    /// Another account has the address by now, and loses it if it never verified it: whoever moved the address away may
    /// have signed up with it.
    ///
    /// - Throws: ``AccountsError/emailLost`` if the address was verified there, after the code's account is secured.
    private func takeFromHolder(
        _ code: OOBCode,
        _ earlier: [ProviderID: LinkedProvider],
        _ caller: Caller
    ) async throws -> ChangedAccount {
        let selectors = AccountSelectors(emails: [code.email])
        if let holder = try await service.accounts.find(selectors, in: caller.scope).first, !holder.emailVerified {
            do {
                // Its own account may have got it back a moment ago.
                let displaced = holder.id == code.account ? nil : holder.id
                return try await change(code, nil, earlier, displacing: displaced, caller)
            } catch AccountsError.emailExists {}
        }
        try await secure(code, earlier, caller)
        throw AccountsError.emailLost
    }

    /// Somebody else has the address by now: whoever changed it loses the account all the same, and the code stays good
    /// for when the address is free again.
    private func secure(_ code: OOBCode, _ earlier: [ProviderID: LinkedProvider], _ caller: Caller) async throws {
        let seconds = service.seconds
        let changed = try await service.change(code.account, session: nil, caller) { account, _ in
            // Another request was luckier, and the account is its owner's again.
            guard account.email?.canonical != code.email.canonical else { throw AccountsError.invalidOOBCode }
            var changes = AccountChanges()
            takeBack(code, account, earlier, &changes, seconds)
            changes.email = .some(nil)
            changes.emailVerified = false
            return changes
        }
        AccountEvent.changed.log(try changed.existing.id, caller)
    }

    /// The account's identities before the code is used.
    private func identities(of code: OOBCode, _ caller: Caller) async throws -> [ProviderID: LinkedProvider] {
        let linked = try await service.stores.accounts.linkedProviders(of: code.account, in: caller.scope)
        return Dictionary(linked.map { ($0.provider, $0) }) { first, _ in first }
    }

    /// What was there at this time is the owner's: a week before the email was changed, as whoever changed it may have
    /// prepared that, or when the account was created.
    private static func trusted(_ code: OOBCode, _ account: Account) -> Date {
        max(code.createdAt.addingTimeInterval(-7 * 86_400), account.createdAt)
    }
}
