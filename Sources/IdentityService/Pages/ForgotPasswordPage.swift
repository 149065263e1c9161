import Projects

/// The page for forgotten passwords: asks for the email address, and says that an email is on its way.
struct ForgotPasswordPage {
    let context: PageContext
    let settings: ProjectSettings
    let apiKey: String
    let tenant: String
    /// As entered.
    var email = ""
    var problem: PageText?

    var question: Page {
        let captcha = settings.captchaOperations.contains(.email) ? settings.delivery.captcha : nil
        let described: HTML? = problem == nil ? nil : " aria-describedby=\"problem\""
        let alert: HTML? = problem.map {
            "<div id=\"problem\" role=\"alert\"><p>\(html: context.html($0))</p></div>"
        }
        var page = context.page(
            .forgotTitle,
            """
            <p>\(html: context.html(.forgotLead))</p>
            \(html: alert)
            <form method="post" action="forgot-password">
            <input type="hidden" name="apiKey" value="\(apiKey)">
            <input type="hidden" name="tenantId" value="\(tenant)">
            <input type="hidden" name="lang" value="\(context.language.rawValue)">
            <label for="email">\(html: context.html(.emailAddress))</label>
            <input id="email" name="email" type="text" inputmode="email" autocapitalize="off" spellcheck="false" \
            value="\(email)" autocomplete="username" required maxlength="256"\(html: described)>
            \(html: captcha?.element)<button>\(html: context.html(.forgotButton))</button>
            </form>
            """
        )
        page.script = PageFiles.actionScript
        if let captcha { page.widget = CaptchaWidget(captcha.service) }
        return page
    }

    /// The same whether or not the address has an account (threats.md, T-E1).
    var sent: Page {
        context.page(.mailSentTitle, "<p role=\"status\">\(html: context.html(.mailSent, ["EMAIL": email]))</p>")
    }
}
