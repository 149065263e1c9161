import Delivery
import Domain
import Foundation
import Logging
import Projects
package import Secrets
import Sessions
import Storage
import Text

/// A code about to be stored, with the secret for the email's reader or an admin.
struct PreparedCode: Sendable {
    var values: NewOOBCode
    var code: Secret
    var link: Secret
}

extension AccountsService {
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
        linkDomain: String? = nil,
        opensApp: Bool = false,
        _ caller: Caller
    ) throws(AccountsError) -> PreparedCode {
        guard let base = deployment.actionPage(of: caller.project, at: linkDomain) else { throw .noActionURL }
        let code = Secret(random.handle())
        let page = ActionLink(
            base: base,
            type: type,
            code: code,
            apiKey: caller.apiKey ?? configuration.snapshot.apiKey(of: caller.project.id)?.rawValue ?? "",
            continueURL: continueURL,
            language: caller.language ?? caller.project.settings.mail.defaultLocale,
            tenant: caller.tenant
        ).text
        let link = (opensApp ? deployment.appLink(to: page, of: caller.project, at: linkDomain) : nil) ?? page
        var values = NewOOBCode(
            type: type,
            owner: owner,
            email: email,
            hash: SecureHash.sha256(code.reveal())
        )
        values.newEmail = newEmail
        values.lifetime = caller.project.settings.mail[linkOf: type.template]
        if options.development { values.mailLifetime = Self.developmentMailLifetime }
        if let recipient {
            values.mail = Mail(
                template: type.template,
                to: recipient.original,
                link: link,
                displayName: displayName,
                newEmail: newEmail?.original,
                language: caller.language
            )
            values.mail?.lifetime = values.lifetime
        }
        return PreparedCode(values: values, code: code, link: Secret(link))
    }

    /// Keeps the email that is about to be replaced or removed, and sends it the code that restores it (threats.md, T-E6).
    ///
    /// An email that nobody has verified gets no more messages than its limits allow (T-E7).
    ///
    /// - Parameters:
    ///   - newEmail: nil for none.
    ///   - isProved: whether the change verifies the new email: an unverified one has no right against it.
    func keepWayBack(
        of account: Account,
        replacedBy newEmail: EmailAddress?,
        isProved: Bool = false,
        in changes: inout AccountChanges,
        _ caller: Caller
    ) {
        changes.keepAddress(of: account)
        guard let code = recoveryCode(of: account, replacedBy: newEmail, isProved: isProved, caller) else { return }
        changes.sends = code
        if !code.proved { changes.sendLimits = mailLimits(to: code.email, askedBy: account, isNotice: true, caller) }
    }

    /// For an unverified email, the code restores the last verified one.
    ///
    /// - Returns: nil if the account had no email, or none with a right; and, if changes need no confirmation otherwise,
    ///   without a page to link to.
    private func recoveryCode(
        of account: Account,
        replacedBy newEmail: EmailAddress?,
        isProved: Bool,
        _ caller: Caller
    ) -> NewOOBCode? {
        guard let current = account.email, account.emailVerified || !isProved,
            let kept = account.emailVerified ? current : account.initialEmail.map({ EmailAddress($0) }) ?? current,
            kept.canonical != newEmail?.canonical
        else { return nil }
        // It could restore nothing: an account with custom tokens takes no email back that nobody proved (S16).
        guard account.emailVerified || account.initialEmail != nil || !account.customAuth else { return nil }
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
            code.mail?.account = account.id.rawValue
            return code
        } catch {
            Logger.current.warning(
                "An email changed without a message to the old address: http.publicURL is missing",
                metadata: ["project.id": "\(caller.project.id)"]
            )
            return nil
        }
    }

    /// The code that removes a second factor or a passkey, in an email to the account; nil without a verified email, or a
    /// page to link to.
    ///
    /// - Parameter enrollment: the ID of the second factor, or of the passkey.
    func revertCode(of enrollment: String, _ account: Account, _ caller: Caller) -> NewOOBCode? {
        guard let email = account.email, account.emailVerified else { return nil }
        var code = try? prepareCode(
            .revertSecondFactor,
            owner: OOBCode.revertOwner(account.id, enrollment),
            email: email,
            mailTo: email,
            displayName: account.displayName,
            caller
        ).values
        code?.mail?.account = account.id.rawValue
        return code
    }

    /// The code of a link in a request.
    ///
    /// - Throws: ``AccountsError/invalidOOBCode`` if it is unknown, used or replaced; ``AccountsError/expiredOOBCode``.
    func findCode(_ text: String?, _ caller: Caller) async throws -> FoundCode {
        guard let text, !text.isEmpty else { throw AccountsError.missingOOBCode }
        guard Base64URL.decode(text)?.count == 32 else { throw AccountsError.invalidOOBCode }
        return try await require(await stores.oobCodes.find(Secret(text), in: caller.scope), caller)
    }

    /// The code of a link that has expired.
    ///
    /// - Throws: ``AccountsError/invalidOOBCode`` for any other.
    func findCode(expired text: String, _ caller: Caller) async throws -> OOBCode {
        let isCode = Base64URL.decode(text)?.count == 32
        guard isCode, let found = try await stores.oobCodes.find(Secret(text), in: caller.scope)?.code,
            found.validUntil <= now()
        else {
            try await stores.rateLimits.take(codeLimits(caller))
            throw AccountsError.invalidOOBCode
        }
        return found
    }

    /// The same code, with its account as it is now.
    func findCode(again code: OOBCode, _ caller: Caller) async throws -> FoundCode {
        try await require(await stores.oobCodes.find(again: code, in: caller.scope), caller)
    }

    /// The code whose digits are in a request: counts the attempt before anything is compared (threats.md, T-E21).
    ///
    /// - Parameters:
    ///   - session: what the client that requested the email has.
    ///   - owner: see ``OOBCode/owner``.
    /// - Throws: ``AccountsError/invalidOOBCode`` if the digits are wrong, or of another session, used or replaced;
    ///   ``AccountsError/expiredOOBCode`` after their time or too many attempts.
    func findCode(
        digits: Secret,
        session: Secret,
        _ type: OOBCodeType,
        owner: String,
        _ caller: Caller
    ) async throws -> FoundCode {
        let tried = try await stores.oobCodes.attempt(
            digits,
            session: session,
            for: type,
            owner: owner,
            in: caller.scope
        )
        guard let tried else { return try await require(nil, caller) }
        guard tried.validUntil > now(), tried.attempts <= NewShortCode.attempts else {
            throw AccountsError.expiredOOBCode
        }
        return try await require(await stores.oobCodes.find(tried, in: caller.scope), caller)
    }

    /// A code that was not found counts as a failed attempt of the caller.
    private func require(_ found: FoundCode?, _ caller: Caller) async throws -> FoundCode {
        guard let found else {
            try await stores.rateLimits.take(codeLimits(caller))
            throw AccountsError.invalidOOBCode
        }
        guard found.code.validUntil > now() else { throw AccountsError.expiredOOBCode }
        return found
    }
}

/// How a client presents the six digits of an email.
package enum ShortCodeText {
    /// The digits alone, for an email that belongs to the session of the caller's ID token.
    ///
    /// - Returns: nil for the code of a link.
    package static func digits(_ text: String) -> Secret? {
        TypedCode.sixDigits(text).map { Secret($0) }
    }

    /// `{codeSession}.{digits}`, which needs no escaping in a URL.
    ///
    /// - Returns: nil for any other text.
    static func parse(_ text: String) -> (session: Secret, digits: Secret)? {
        let words = text.split(separator: ".", omittingEmptySubsequences: false)
        guard words.count == 2, Base64URL.decode(String(words[0]))?.count == 32, let digits = digits(String(words[1]))
        else { return nil }
        return (Secret(String(words[0])), digits)
    }
}

extension NewOOBCode {
    /// Adds digits to the code and its email.
    mutating func addShortCode(_ digits: Secret, session: Secret) {
        shortCode = NewShortCode(digits: digits, session: session)
        mail?.code = digits.reveal()
    }
}
