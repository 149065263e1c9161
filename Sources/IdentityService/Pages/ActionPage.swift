import Accounts
import Domain
import Projects
import Storage

/// The action pages of links in emails: one that asks for confirmation, one that shows the result.
struct ActionPage {
    let context: PageContext
    let link: ActionQuery

    // MARK: Asking

    /// Sign-in codes have no page.
    ///
    /// - Parameter password: the problem with the submitted new password.
    /// - Parameter isLeaked: whether the password that was submitted meets all requirements, but was leaked.
    func question(
        _ action: ShowAction.Result,
        password problem: [PasswordPolicy.Requirement]? = nil,
        isLeaked: Bool = false
    ) -> Page {
        var facts: [(PageText, String)] = []
        let email = action.code.email.original
        let newEmail = action.code.newEmail?.original
        let words: (title: PageText, lead: PageText, note: PageText, button: PageText)
        switch link.type {
        case .verifyEmail, .emailSignIn:
            words = (.verifyTitle, .verifyLead, .verifyNote, .verifyButton)
            facts = [(.address, email)]
        case .verifyAndChangeEmail:
            words = (.changeTitle, .changeLead, .changeNote, .changeButton)
            facts = [(.currentAddress, email), (.newAddress, newEmail ?? "")]
        case .recoverEmail:
            words = (.recoverTitle, .recoverLead, .recoverNote, .recoverButton)
            facts = [(.currentAddress, newEmail ?? ""), (.formerAddress, email)]
        case .revertSecondFactor:
            words = (.revertTitle, .revertLead, .revertNote, .revertButton)
            facts = [(.address, email)]
            if let factor = action.factor { facts.append((.secondFactor, name(of: factor))) }
        case .passwordReset:
            words = (.resetTitle, .resetLead, .resetNote, .resetButton)
        }
        if link.type != .passwordReset { facts.append((.signInMethods, names(of: action.methods))) }
        let fields = link.type == .passwordReset ? passwordFields(email: email, problem, isLeaked: isLeaked) : nil
        var page = context.page(
            words.title,
            """
            <p>\(html: context.html(words.lead))</p>
            \(html: list(facts))
            <form method="post" action="action">
            \(html: hiddenFields)
            \(html: fields)
            <p>\(html: context.html(words.note))</p>
            <button>\(html: context.html(words.button))</button>
            </form>
            """
        )
        page.script = PageFiles.actionScript
        return page
    }

    /// The link's parameters for the form; absent ones are omitted.
    private var hiddenFields: HTML {
        let fields: [(String, String?)] = [
            ("mode", link.type.mode), ("oobCode", link.code), ("apiKey", link.apiKey),
            ("tenantId", link.tenant), ("continueUrl", link.continueURL), ("lang", context.language.rawValue),
        ]
        let inputs = fields.compactMap { name, value in
            value.map { "<input type=\"hidden\" name=\"\(name)\" value=\"\($0)\">" as HTML }
        }
        return "\(html: inputs)"
    }

    private func list(_ facts: [(PageText, String)]) -> HTML? {
        guard !facts.isEmpty else { return nil }
        let rows = facts.map { key, value -> HTML in
            "<div><dt>\(html: context.html(key))</dt><dd><bdi>\(value)</bdi></dd></div>"
        }
        return "<dl>\(html: rows)</dl>"
    }

    // MARK: A new email

    /// Asks first: a mail program that opens links must not send emails.
    func expired() -> Page {
        context.problem(WireError(.expiredOOBCode), (.expiredTitle, .expiredAgain)) {
            """
            <form method="post" action="action">
            \(html: hiddenFields)
            <input type="hidden" name="again" value="true">
            <button>\(html: context.html(.expiredButton))</button>
            </form>
            """
        }
    }

    func sentAgain(to email: String) -> Page {
        context.page(
            .mailSentTitle,
            "<p role=\"status\">\(html: context.html(.expiredSent, ["EMAIL": email]))</p>"
        )
    }

    // MARK: The new password

    /// The email is also a field, because password managers use it as the password's user name.
    private func passwordFields(
        email: String,
        _ lacks: [PasswordPolicy.Requirement]?,
        isLeaked: Bool
    ) -> HTML {
        """
        \(html: isLeaked ? context.leakedPasswordAlert : context.passwordAlert(lacks))
        <label for="email">\(html: context.html(.address))</label>
        <input id="email" type="text" value="\(email)" autocomplete="username" readonly>
        \(html: context.newPassword("newPassword", .newPassword, lacks))
        """
    }

    // MARK: Names

    private func names(of methods: [ShowAction.Method]) -> String {
        guard !methods.isEmpty else { return context.text(.methodNone) }
        return methods.map { method in
            switch method.provider {
            case .password: context.text(.methodPassword)
            case .emailLink: context.text(.methodEmailLink)
            case .phone: context.text(.methodPhone)
            case .passkey: context.text(.methodPasskey)
            case .custom: context.text(.methodCustom)
            default: ProviderNames.name(of: method.provider.rawValue, method.displayName)
            }
        }.joined(separator: ", ")
    }

    private func name(of added: AddedFactor) -> String {
        switch added {
        case .passkey: context.text(.methodPasskey)
        case .secondFactor(let factor):
            factor.phoneNumber.map { context.text(.factorSMS, ["NUMBER": JSONWriter.masked($0)]) }
                ?? context.text(.factorApp)
        }
    }

    // MARK: Done

    /// - Parameter continueURL: a checked URL; without one there is no link.
    func done(email: String, continueURL: String?) -> Page {
        let words: (title: PageText, text: PageText) =
            switch link.type {
            case .verifyEmail, .emailSignIn: (.verifyDoneTitle, .verifyDone)
            case .verifyAndChangeEmail: (.changeDoneTitle, .changeDone)
            case .recoverEmail: (.recoverDoneTitle, .recoverDone)
            case .revertSecondFactor: (.revertDoneTitle, .revertDone)
            case .passwordReset: (.resetDoneTitle, .resetDone)
            }
        let onward: HTML? = continueURL.map { url in
            "<p><a class=\"button\" href=\"\(url)\">\(html: context.html(.goOn))</a></p>"
        }
        return context.page(
            words.title,
            """
            <p role="status">\(html: context.html(words.text, ["EMAIL": email, "NEW_EMAIL": email]))</p>
            \(html: onward)
            """
        )
    }
}
