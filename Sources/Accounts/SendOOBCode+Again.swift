package import Domain
import Projects
package import Storage

extension SendOOBCode {
    /// The types of which an expired link asks for a new one.
    ///
    /// The others need what has gone with the time: a recent sign-in to change the email, or the right to undo a change.
    package static let repeatable: Set<OOBCodeType> = [.passwordReset, .verifyEmail, .emailSignIn]

    /// Sends the email of an expired link again, to the same address, if the account still has it.
    ///
    /// The code shows that the caller has read the first email, so no CAPTCHA is needed; everything else is as when an app
    /// requests it, and nothing says whether there is still an account.
    ///
    /// - Throws: ``AccountsError/invalidOOBCode`` for a code that has not expired, is used, replaced or forgotten.
    package func again(
        _ text: String,
        as type: OOBCodeType,
        continueURL: String?,
        _ caller: Caller
    ) async throws -> EmailAddress {
        var request = Request(type: type)
        request.continueURL = continueURL
        request.handlesCodeInApp = type == .emailSignIn
        let url = try self.continueURL(request, caller)
        let code = try await service.findCode(expired: text, caller)
        guard code.type == type, Self.repeatable.contains(type) else { throw AccountsError.invalidOOBCode }
        let subject = try await subject(of: code, caller)
        _ = try await issue(type, subject, as: .app, continueURL: url, linkDomain: nil, caller)
        // One link sends one email.
        _ = try await service.stores.oobCodes.spend(code, in: caller.scope)
        return code.email
    }

    private func subject(of code: OOBCode, _ caller: Caller) async throws -> Subject {
        let settings = caller.project.settings
        guard code.type != .passwordReset || settings.passwordSignIn else { throw AccountsError.passwordSignInDisabled }
        if code.type == .emailSignIn {
            guard settings.emailLinkSignIn else { throw AccountsError.operationNotAllowed }
            let account = try await service.accounts.holder(of: code.email, in: caller.scope)
            var subject = Subject(address: code.email, isUnknown: account?.isDisabled ?? false)
            subject.account = account?.id
            subject.displayName = account?.displayName
            return subject
        }
        guard let account = try await service.accounts.find(code.account, session: nil, in: caller.scope)?.account,
            !account.isDisabled, let email = account.email, email.canonical == code.email.canonical
        else { return Subject(address: code.email, isUnknown: true) }
        return Subject(account, email)
    }
}
