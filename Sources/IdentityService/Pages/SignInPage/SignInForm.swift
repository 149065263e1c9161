import Accounts
import Domain
import Projects

/// The hosted sign-in page, at each of its steps.
struct SignInForm {
    let context: PageContext
    let visit: PageVisit
    /// ``visit``, sealed for the page's forms.
    let sealed: String
    let ways: SignInPage.Ways
    /// Where browsers find the page.
    let own: PublicURL
    /// Whether this page may ask browsers for passkeys.
    let offersPasskeys: Bool
    /// For the step that shows them.
    var passkeys: SignInPage.OwnPasskeys?
    /// The ID of a passkey that no account has, in base64url, as browsers want it.
    var unknownPasskey: String?
    /// The problem with the last step.
    var problem: PageText?
    /// The requirements that a new password does not meet.
    var lacks: [PasswordPolicy.Requirement]?
    /// As entered.
    var email: String?

    enum Step { case signIn, signUp, forgotPassword, mailSent, emailCode, emailCodeSent, secondFactor, ownPasskeys }

    func page(_ step: Step) -> Page {
        var page =
            switch step {
            case .signIn where visit.conflict != nil: conflict
            case .signIn: context.page(.signInTitle, "\(html: alert)\(html: entrances)")
            case .signUp: signUp
            case .forgotPassword: forgotPassword
            case .mailSent: mailSent
            case .emailCode: emailCode
            case .emailCodeSent: emailCodeSent
            case .secondFactor: secondFactor
            case .ownPasskeys: visit.showsPasskeys ? ownPasskeys : passkeyOffer
            }
        page.script = PageFiles.actionScript
        if offersPasskeys {
            page.data = passkeyData(for: step)
            page.script = PageFiles.actionScript + PageFiles.passkeyScript
        }
        if let captcha = ways.captcha, !Set(ways.captchaOperations).isDisjoint(with: operations(at: step)) {
            page.widget = CaptchaWidget(captcha.service)
        }
        // With it, browsers state the origin of a POST.
        page.referrerPolicy = "same-origin"
        return page
    }

    // MARK: The ways in

    private var conflict: Page {
        let email = visit.conflict?.email ?? ""
        let added = visit.conflict.map { Self.name(of: $0.provider, ways.added?.displayName) } ?? ""
        return context.page(
            .conflictTitle,
            """
            <p>\(html: context.html(.conflictLead, ["EMAIL": email]))</p>
            <p>\(html: context.html(.conflictNote, ["PROVIDER": added]))</p>
            \(html: alert)\(html: entrances)
            """
        )
    }

    private var entrances: HTML {
        let typed = ways.password ? password : ways.emailCode ? emailCodeForm : nil
        let divider: HTML? =
            ways.providers.isEmpty || typed == nil ? nil : "<p class=\"or\">\(html: context.html(.or))</p>"
        return "\(html: providers)\(html: passkeyEntrance)\(html: divider)\(html: typed)\(html: links)"
    }

    private var providers: HTML? {
        let named = ways.providers.map { ($0.provider.rawValue, Self.name(of: $0.provider.rawValue, $0.displayName)) }
        guard !named.isEmpty else { return nil }
        let buttons = named.sorted { $0.1.lowercased() < $1.1.lowercased() }.map { id, name -> HTML in
            """
            <button class="way" name="provider" value="\(id)">\
            \(html: context.html(.continueWith, ["PROVIDER": name]))</button>

            """
        }
        return form("\(html: buttons)", class: "ways")
    }

    private var password: HTML {
        form(
            """
            \(html: emailField(isEntrance: true))\(html: passkeySupport)
            <label for="password">\(html: context.html(.password))</label>
            <input id="password" name="password" type="password" autocomplete="current-password" required \
            spellcheck="false" autocapitalize="off"\(html: context.passwordToggle)\(html: invalid)>
            <button name="do" value="signIn">\(html: context.html(.signInTitle))</button>
            """
        )
    }

    private var links: HTML? {
        var buttons: [HTML] = []
        if ways.password, ways.emailCode { buttons.append(link(.emailCodeTitle, "showEmailCode")) }
        if ways.password { buttons.append(link(.forgotTitle, "forgotPassword")) }
        if ways.signUp { buttons.append(link(.signUpTitle, "showSignUp")) }
        if visit.conflict != nil { buttons.append(link(.startAgain, "startAgain")) }
        return buttons.isEmpty ? nil : form("\(html: hiddenEmail)\(html: buttons)", class: "links")
    }

    private var signUp: Page {
        context.page(
            .signUpTitle,
            """
            \(html: context.passwordAlert(lacks))\(html: lacks == nil ? alert : nil)
            \(html: form(
                """
                \(html: emailField())\(html: passkeySupport)
                \(html: context.newPassword("password", .password, lacks))
                \(html: captcha(for: .signUp))
                <button name="do" value="signUp">\(html: context.html(.signUpButton))</button>
                """
            ))
            \(html: form(link(.backToSignIn, "showSignIn"), class: "links"))
            """
        )
    }

    // MARK: The forgotten password

    private var forgotPassword: Page {
        context.page(
            .forgotTitle,
            """
            <p>\(html: context.html(.forgotLead))</p>
            \(html: alert)
            \(html: form(
                "\(html: emailField())\(html: captcha(for: .email))<button name=\"do\" value=\"sendMail\">\(html: context.html(.forgotButton))</button>"
            ))
            \(html: form(link(.backToSignIn, "showSignIn"), class: "links"))
            """
        )
    }

    private var mailSent: Page {
        context.page(
            .mailSentTitle,
            """
            <p role="status">\(html: context.html(.mailSent, ["EMAIL": email ?? ""]))</p>
            \(html: form("\(html: hiddenEmail)<button name=\"do\" value=\"showSignIn\">\(html: context.html(.backToSignIn))</button>"))
            """
        )
    }

    // MARK: The code of an email

    private var emailCode: Page {
        context.page(
            .emailCodeTitle,
            """
            <p>\(html: context.html(.emailCodeLead))</p>
            \(html: alert)\(html: emailCodeForm)
            \(html: form("\(html: hiddenEmail)\(html: link(.backToSignIn, "showSignIn"))", class: "links"))
            """
        )
    }

    private var emailCodeForm: HTML {
        form(
            """
            \(html: emailField())\(html: captcha(for: .email))
            <button name="do" value="sendEmailCode">\(html: context.html(.emailCodeButton))</button>
            """
        )
    }

    private var emailCodeSent: Page {
        context.page(
            .mailSentTitle,
            """
            <p role="status">\(html: context.html(.emailCodeSent, ["EMAIL": visit.sentCode?.email ?? ""]))</p>
            \(html: alert)
            \(html: form(
                "\(html: codeField)<button name=\"do\" value=\"signInWithEmailCode\">\(html: context.html(.codeButton))</button>"
            ))
            \(html: form(
                "\(html: hiddenEmail)\(html: link(.emailCodeAgain, "showEmailCode"))\(html: link(.backToSignIn, "showSignIn"))",
                class: "links"
            ))
            """
        )
    }

    // MARK: The second factor

    private var secondFactor: Page {
        let factors = visit.challenge?.factors ?? []
        let sent = visit.challenge?.sent.flatMap { sent in factors.first { $0.id == sent.factor } }
        let asked = sent ?? factors.first { $0.number == nil }
        let lead =
            sent.map { context.html(.factorSentLead, ["NUMBER": $0.number ?? ""]) }
            ?? context.html(factors.isEmpty ? .factorPasskeyLead : asked == nil ? .factorPhoneLead : .factorAppLead)
        let codeForm = asked.map { factor in
            form(
                """
                <input type="hidden" name="factor" value="\(factor.id)">
                \(html: codeField)
                <button name="do" value="proveCode">\(html: context.html(.codeButton))</button>
                """
            )
        }
        let phones = factors.filter { $0.number != nil }.map { factor -> HTML in
            """
            <button class="way" name="send" value="\(factor.id)">\
            \(html: context.html(.sendCodeButton, ["NUMBER": factor.number ?? ""]))</button>

            """
        }
        let divider: HTML? = asked == nil || phones.isEmpty ? nil : "<p class=\"or\">\(html: context.html(.or))</p>"
        let passkey = visit.challenge?.offersPasskey == true ? passkeyEntrance : nil
        return context.page(
            .factorTitle,
            """
            <p>\(html: lead)</p>
            \(html: alert)\(html: passkey)\(html: codeForm)\(html: divider)
            \(html: phones.isEmpty ? nil : form("\(html: captcha(for: .sms))\(html: phones)", class: "ways"))
            \(html: form(link(.startAgain, "startAgain"), class: "links"))
            """
        )
    }

    // MARK: Pieces

    func form(_ content: HTML, class name: String? = nil) -> HTML {
        let attribute: HTML? = name.map { " class=\"\($0)\"" }
        return """
            <form method="post" action="sign-in"\(html: attribute)>
            <input type="hidden" name="page" value="\(sealed)">
            \(html: content)
            </form>

            """
    }

    func link(_ text: PageText, _ action: String) -> HTML {
        "<button class=\"link\" name=\"do\" value=\"\(action)\">\(html: context.html(text))</button>\n"
    }

    /// In a conflict it is the account's email and cannot be changed.
    ///
    /// - Parameter isEntrance: lets browsers offer passkeys beside addresses (WebAuthn §5.1.4).
    private func emailField(isEntrance: Bool = false) -> HTML {
        let completion = isEntrance && offersPasskeys ? "username webauthn" : "username"
        let fixed: HTML? = visit.conflict?.email == nil ? nil : " readonly"
        return """
            <label for="email">\(html: context.html(.emailAddress))</label>
            <input id="email" name="email" type="text" inputmode="email" autocapitalize="off" spellcheck="false" value="\(visit.conflict?.email ?? email ?? "")" \
            autocomplete="\(completion)" required maxlength="256"\(html: fixed)\(html: fixed == nil ? invalid : nil)>
            """
    }

    /// The widget, if the operation needs one.
    private func captcha(for operation: CaptchaOperation) -> HTML? {
        guard let captcha = ways.captcha, ways.captchaOperations.contains(operation) else { return nil }
        return captcha.element
    }

    /// The operations of a step's forms.
    private func operations(at step: Step) -> Set<CaptchaOperation> {
        switch step {
        case .signIn: !ways.password && ways.emailCode ? [.email] : []
        case .signUp: [.signUp]
        case .forgotPassword, .emailCode: [.email]
        case .secondFactor: [.sms]
        case .mailSent, .emailCodeSent, .ownPasskeys: []
        }
    }

    private var codeField: HTML {
        """
        <label for="code">\(html: context.html(.code))</label>
        <input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="32" required\
        \(html: invalid)>

        """
    }

    private var hiddenEmail: HTML? {
        (email ?? visit.sentCode?.email).map { "<input type=\"hidden\" name=\"email\" value=\"\($0)\">" }
    }

    var alert: HTML? {
        problem.map { problem in
            let values = ["EMAIL": visit.conflict?.email ?? ""]
            return "<div id=\"problem\" role=\"alert\"><p>\(html: context.html(problem, values))</p></div>\n"
        }
    }

    private var invalid: HTML? { problem == nil ? nil : " aria-describedby=\"problem\"" }

    private static func name(of provider: String, _ displayName: String?) -> String {
        ProviderNames.name(of: provider, displayName)
    }
}
