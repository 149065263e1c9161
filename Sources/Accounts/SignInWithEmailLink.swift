package import Domain
import Projects
import Secrets
import Sessions
import Storage

extension AccountsService {
    package var signInWithEmailLink: SignInWithEmailLink { SignInWithEmailLink(service: self) }
}

/// Signs in, signs up, or links with the code of a sign-in email: that of the link, or the digits beside it.
package struct SignInWithEmailLink: Sendable {
    let service: AccountsService

    package struct Request: Sendable {
        package var email: String?
        /// The link's, or `{codeSession}.{digits}`.
        package var code: String?
        /// Links to this token's account instead of signing in.
        package var idToken: String?

        package init() {}
    }

    package struct Result: Sendable {
        package var account: Account
        package var end: FirstFactorResult
        package var isNewUser = false
    }

    package func callAsFunction(_ request: Request, _ caller: Caller) async throws -> Result {
        guard caller.project.settings.emailLinkSignIn else { throw AccountsError.operationNotAllowed }
        guard let email = request.email, !email.isEmpty else { throw AccountsError.missingEmail }
        var found = try await find(request.code, of: email, caller)
        let code = found.code
        guard code.type == .emailSignIn else { throw AccountsError.invalidOOBCode }
        // The user must enter the email: a forwarded link alone signs no one in.
        guard EmailAddress(email)?.canonical == code.email.canonical else { throw AccountsError.emailOfAnotherCode }
        let address = code.email
        if let idToken = request.idToken { return try await link(address, code, idToken: idToken, caller) }
        for number in AccountsService.tries {
            try await service.pause(beforeTry: number)
            let result =
                if let holder = found.holder, !holder.yieldsEmail(at: service.now()) {
                    try await signIn(to: holder, address, code, caller)
                } else {
                    try await signUp(address, code, from: found.holder, caller)
                }
            if let result { return result }
            found = try await service.findCode(again: code, caller)
        }
        throw AccountsError.contended
    }

    private func find(_ text: String?, of email: String, _ caller: Caller) async throws -> FoundCode {
        guard let short = text.flatMap(ShortCodeText.parse) else { return try await service.findCode(text, caller) }
        guard let address = EmailAddress(email) else { throw AccountsError.invalidEmail }
        return try await service.findCode(
            digits: short.digits,
            session: short.session,
            .emailSignIn,
            owner: address.canonical,
            caller
        )
    }

    /// - Returns: nil if the account lost the email in the meantime.
    private func signIn(
        to found: Account,
        _ address: EmailAddress,
        _ code: OOBCode,
        _ caller: Caller
    ) async throws -> Result? {
        guard !found.isDisabled else { throw AccountsError.userDisabled }
        if found.emailVerified, found.emailLinkSignIn, !service.needsSecondFactor(found, caller) {
            // Changes nothing else in the account.
            let session = prepareSession(code, caller)
            return try await service.signIn(to: found, session, method: .emailLink, spending: .mail(code.hash), caller)
                .map { Result(account: $0.account, end: .signedIn($0.tokens)) }
        }
        let session = prepareSession(code, caller)
        let now = service.now()
        do {
            let challenges = service.needsSecondFactor(found.provedByLink, caller)
            let entrance =
                challenges
                ? Entrance(account: found, session: session)
                : try await service.admit(found, session, method: .emailLink, caller)
            let changed = try await service.change(found.id, session: nil, caller) { account, _ in
                guard account.email?.canonical == address.canonical, !account.yieldsEmail(at: now) else {
                    throw AddressMoved()
                }
                guard account.stands(as: found) || !service.asksBeforeSignIn(by: .emailLink, caller) else {
                    throw AddressMoved()
                }
                guard !account.isDisabled else { throw AccountsError.userDisabled }
                var changes = AccountChanges()
                changes.spends = .mail(code.hash)
                changes.emailLinkSignIn = true
                changes.session = .open(entrance.session.values)
                changes.lastSignInAt = now
                // Written once, because it voids the account's other codes; a sign-in that stops at the second factor
                // does not.
                if !account.emailVerified || !account.emailLinkSignIn {
                    changes.verifyEmail(
                        by: .emailLinkSignIn,
                        EmailProof(provider: .emailLink, subject: address.canonical),
                        provedBefore: account.emailVerified,
                        seconds: session.values.authTime
                    )
                }
                changes.amend(entrance.amendment, account)
                if service.needsSecondFactor(account.provedByLink, caller) {
                    changes.session = .none
                    changes.lastSignInAt = nil
                }
                return changes
            }
            if let challenge = try service.challenge(try changed.existing, session, caller) {
                return Result(account: try changed.existing, end: .needsSecondFactor(challenge))
            }
            let event: AccountEvent = changed.changes.firstVerification == nil ? .signedIn : .takenOver
            event.log(found.id, provider: .emailLink, caller)
            let tokens = try service.issueTokens(after: changed, entrance.session.secret, caller: caller)
            return Result(account: try changed.existing, end: .signedIn(tokens))
        } catch is AddressMoved {
            return nil
        } catch AccountsError.userNotFound {
            return nil
        }
    }

    private struct AddressMoved: Error {}

    /// - Parameter holder: the account that has the email and loses it (S16).
    /// - Returns: nil if another request created an account with the email in the meantime.
    private func signUp(
        _ address: EmailAddress,
        _ code: OOBCode,
        from holder: Account?,
        _ caller: Caller
    ) async throws -> Result? {
        guard !caller.project.settings.disabledUserSignup else { throw AccountsError.signUpClosed }
        var account = Account(id: service.newAccountID(), validSince: service.seconds, createdAt: service.now())
        account.email = address
        account.emailVerified = true
        account.emailLinkSignIn = true
        let session = prepareSession(code, caller)
        do {
            let spent = OneTimeCode.mail(code.hash)
            let signedUp = try await service.create(
                account,
                session,
                method: .emailLink,
                spending: spent,
                displacing: holder,
                caller
            )
            return Result(account: signedUp.account, end: .signedIn(signedUp.tokens), isNewUser: true)
        } catch AccountsError.emailExists {
            return nil
        }
    }

    /// Adds the email and the sign-in method to the signed-in account, which keeps everything else and its session.
    private func link(
        _ address: EmailAddress,
        _ code: OOBCode,
        idToken: String,
        _ caller: Caller
    ) async throws -> Result {
        let token = try await service.verify(idToken, caller: caller)
        let renewal = service.prepareRenewal()
        let evidence = Evidence(code, at: service.seconds)
        let now = service.now()
        let changed = try await service.link(token, method: .emailLink, caller) { account, current in
            let user = try SignedInAccount(token: token, account: account, session: current)
            var changes = AccountChanges()
            changes.spends = .mail(code.hash)
            changes.emailLinkSignIn = true
            changes.lastSignInAt = now
            let session = renewal.of(user.session, method: (.password, nil))
            if account.email?.canonical == address.canonical {
                // A first factor alone does not make a session recent that needs two.
                let isSignIn = !service.needsSecondFactor(account, caller)
                changes.session = .renew(isSignIn ? session.signedInAgain(evidence) : session, retiresOldSecret: false)
            } else {
                changes.session = .renew(session, retiresOldSecret: false)
                changes.email = address
                if account.email != nil {
                    try service.require([.changeEmail], of: user, caller)
                    service.keepWayBack(of: account, replacedBy: address, isProved: true, in: &changes, caller)
                    changes.endOthers(keeping: session)
                } else if !account.isGuest {
                    try service.require([.addMethod], of: user, caller)
                }
            }
            changes.verifyEmail(
                by: .emailLinkLink,
                EmailProof(provider: .emailLink, subject: address.canonical),
                provedBefore: account.emailVerified,
                seconds: evidence.provedAt
            )
            return changes
        }
        let isLink = (changed.changes.email ?? nil) != nil
        let event: AccountEvent = isLink ? .linked : .signedIn
        event.log(token.account, provider: .emailLink, caller)
        let tokens = try service.issueTokens(after: changed, renewal.secret, caller: caller)
        return Result(account: try changed.existing, end: .signedIn(tokens))
    }

    private func prepareSession(_ code: OOBCode, _ caller: Caller) -> PreparedSession {
        service.prepareSession(Evidence(code, at: service.seconds), provider: .password, caller: caller)
    }
}

extension Account {
    /// The account as a sign-in with a link leaves it.
    fileprivate var provedByLink: Account {
        guard !emailVerified else { return self }
        var account = self
        account.dropUnproved(validSince: validSince)
        return account
    }
}
