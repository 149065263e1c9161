import Delivery
import Foundation
import Linking
import Logging
import Projects
import Secrets
import Sessions
import Storage

/// A code about to be stored, with the secret for the email's reader or an admin.
struct PreparedCode: Sendable {
    var values: NewOOBCode
    var code: Secret
    var link: Secret
}

extension Parts {
    /// - Parameters:
    ///   - owner: the account, or the email of a sign-in code.
    ///   - recipient: the recipient of the email; nil for none.
    /// - Throws: ``AccountsError/noActionURL``.
    func prepareCode(
        _ type: OOBCodeType,
        owner: String,
        email: EmailAddress,
        newEmail: EmailAddress? = nil,
        mailTo recipient: EmailAddress?,
        displayName: String? = nil,
        continueURL: String? = nil,
        _ caller: Caller
    ) throws(AccountsError) -> PreparedCode {
        guard let base = deployment.actionPage(of: caller.project) else { throw .noActionURL }
        let code = Secret(random.handle())
        let link = ActionLink(
            base: base,
            type: type,
            code: code,
            apiKey: caller.apiKey ?? configuration.snapshot.apiKey(of: caller.project.id)?.rawValue ?? "",
            continueURL: continueURL,
            language: caller.language ?? caller.project.settings.mail.defaultLocale,
            tenant: caller.tenant
        )
        var values = NewOOBCode(
            type: type,
            owner: owner,
            email: email,
            hash: SecureHash.sha256(code.reveal())
        )
        values.newEmail = newEmail
        if let recipient {
            values.mail = Mail(
                template: type.template,
                to: recipient.original,
                link: link.text,
                displayName: displayName,
                newEmail: newEmail?.original,
                language: caller.language
            )
        }
        return PreparedCode(values: values, code: code, link: Secret(link.text))
    }

    /// The code that restores the email that is about to be replaced, in an email to it (threats.md, T-E6).
    ///
    /// For an unverified email, the code restores the last verified one. Nil if the account had no email, and, if
    /// changes need no confirmation otherwise, without a page to link to.
    func recoveryCode(of account: Account, replacedBy newEmail: EmailAddress, _ caller: Caller) -> NewOOBCode? {
        guard let current = account.email,
            let kept = account.emailVerified ? current : account.initialEmail.map({ EmailAddress($0) }) ?? current,
            kept.canonical != newEmail.canonical
        else { return nil }
        do {
            var code = try prepareCode(
                .recoverEmail,
                owner: OOBCode.recoveryOwner(account.id, kept),
                // Always in canonical form, so that a newer code finds an older one of the same address.
                email: EmailAddress(canonical: kept.canonical, original: kept.canonical),
                newEmail: newEmail,
                mailTo: kept,
                displayName: account.displayName,
                caller
            ).values
            code.proved = account.emailVerified
            return code
        } catch {
            Logger.current.warning(
                "An email changed without a message to the old address: http.publicURL is missing",
                metadata: ["project.id": "\(caller.project.id)"]
            )
            return nil
        }
    }

    /// The code that removes a second factor, in an email to the account; nil without a page to link to.
    func revertCode(of factor: SecondFactor, _ account: Account, _ caller: Caller) -> NewOOBCode? {
        guard let email = account.email else { return nil }
        return try? prepareCode(
            .revertSecondFactor,
            owner: OOBCode.revertOwner(account.id, factor.id),
            email: email,
            mailTo: email,
            displayName: account.displayName,
            caller
        ).values
    }

    /// The code in a request.
    ///
    /// - Throws: ``AccountsError/invalidOOBCode`` if it is unknown, used or replaced; ``AccountsError/expiredOOBCode``.
    func findCode(_ text: String?, _ caller: Caller) async throws -> FoundCode {
        guard let text, !text.isEmpty else { throw AccountsError.missingOOBCode }
        guard Base64URL.decode(text)?.count == 32 else { throw AccountsError.invalidOOBCode }
        guard let found = try await stores.oobCodes.find(Secret(text), in: caller.scope) else {
            try await stores.rateLimits.take(codeLimits(caller))
            throw AccountsError.invalidOOBCode
        }
        guard found.code.validUntil > now() else { throw AccountsError.expiredOOBCode }
        return found
    }
}

extension OOBCodeType {
    fileprivate var template: Mail.Template {
        switch self {
        case .passwordReset: .passwordReset
        case .verifyEmail: .verifyEmail
        case .recoverEmail: .recoverEmail
        case .emailSignIn: .signIn
        case .verifyAndChangeEmail: .verifyAndChangeEmail
        case .revertSecondFactor: .revertSecondFactor
        }
    }
}
