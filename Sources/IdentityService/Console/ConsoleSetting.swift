import Administration
import Projects

/// A project's setting that the console shows.
struct ConsoleSetting: Sendable {
    let setting: Setting
    let label: String

    /// All other settings are only available in the API.
    static let all = labels.compactMap { path, label in
        Setting.all.first { $0.path == path }.map { ConsoleSetting(setting: $0, label: label) }
    }

    private static let labels = [
        ("identity.appName", "App name in emails and on pages"),
        ("authorizedDomains", "Authorized domains, one per line"),
        ("identity.continueURLs", "Continue URLs, one per line (empty: any page on an authorized domain)"),
        ("signIn.email.enabled", "Email and password sign-in"),
        ("identity.emailCodes", "Codes of six digits in emails, in addition to the link"),
        ("signIn.anonymous.enabled", "Anonymous sign-in"),
        ("client.permissions.disabledUserSignup", "Disable sign-up by users"),
        ("emailPrivacyConfig.enableImprovedEmailPrivacy", "Email enumeration protection"),
        ("identity.signInPage", "Hosted sign-in page"),
        ("identity.captchaOperations", "What needs a CAPTCHA, one per line: signUp, email, sms"),
        ("passkeyConfig.secondFactor", "Ask for an account's passkey after another sign-in method"),
        ("identity.oauth.enabled", "OpenID provider for other applications"),
        ("identity.oauth.registration", "Applications may register themselves"),
        ("identity.oauth.clientMetadataDocuments", "Applications may be identified by a metadata document"),
        ("identity.linking", "When a new identity's email already has an account"),
        ("identity.emailTrust", "Providers whose emails count as verified"),
        ("identity.methodChanges", "Accounts that need a recent sign-in to link or unlink sign-in methods"),
        ("identity.keepLastSignInMethod", "Users cannot remove their last sign-in method"),
        ("identity.customTokensNeedSecondFactor", "Custom tokens need a second factor as well"),
        ("identity.rotateRefreshTokens", "Rotate refresh tokens"),
        ("identity.sessionIdleDays", "Days until an unused session ends (0: never)"),
        ("identity.recentSignInSeconds", "Seconds for which a sign-in counts as recent (0: always)"),
    ]

    // MARK: On the page

    func field(_ settings: ProjectSettings, _ number: Int) -> HTML {
        let id = "setting-\(number)"
        switch setting.value {
        case .flag(let field):
            let checked: HTML? = field.get(settings) ? " checked" : nil
            return """
                <label class="check"><input name="\(setting.path)" type="checkbox" value="true"\(html: checked)> \(label)</label>

                """
        case .number(let field, _), .seconds(let field, _):
            return """
                <label for="\(id)">\(label)</label>
                <input id="\(id)" name="\(setting.path)" inputmode="numeric" value="\(String(field.get(settings)))" maxlength="12" required>

                """
        case .text(let field), .digits(let field):
            return """
                <label for="\(id)">\(label)</label>
                <input id="\(id)" name="\(setting.path)" value="\(field.get(settings))" maxlength="256" autocomplete="off">

                """
        case .choice(let field, let choices):
            let options = choices.map { choice -> HTML in
                let selected: HTML? = choice == field.get(settings) ? " selected" : nil
                return "<option\(html: selected)>\(choice)</option>"
            }
            return """
                <label for="\(id)">\(label)</label>
                <select id="\(id)" name="\(setting.path)">\(html: options)</select>

                """
        case .texts(let field), .choices(let field, _):
            return """
                <label for="\(id)">\(label)</label>
                <textarea id="\(id)" name="\(setting.path)" rows="4" spellcheck="false">\(field.get(settings).joined(separator: "\n"))</textarea>

                """
        case .map, .mailTexts, .passwordPolicies, .authenticatorApps, .regions, .sms, .webhook, .captcha, .unsupported:
            return ""
        }
    }

    // MARK: From a form

    /// The change that a form asks for; nil for a setting that it lacks.
    func change(in form: ConsoleForm) throws -> SettingChange? {
        let sent = try form.items.value(setting.path)
        // Browsers omit an unchecked box.
        if case .flag(let field) = setting.value { return field.change(to: sent == "true") }
        guard let sent else { return nil }
        switch setting.value {
        case .number(let field, _), .seconds(let field, _):
            guard let number = Int64(sent.filter { $0 != " " }) else {
                throw AdministrationError.invalid("\(setting.path) must be a number.")
            }
            return field.change(to: number)
        case .text(let field), .digits(let field), .choice(let field, _): return field.change(to: sent)
        case .texts(let field): return field.change(to: sent.split(whereSeparator: \.isWhitespace).map { String($0) })
        case .choices(let field, let choices):
            let chosen = sent.split(whereSeparator: \.isWhitespace).map { String($0) }
            guard Set(chosen).isSubset(of: choices) else {
                throw AdministrationError.invalid("\(setting.path) must be some of \(choices.joined(separator: ", ")).")
            }
            return field.change(to: chosen)
        case .flag, .map, .mailTexts, .passwordPolicies, .authenticatorApps, .regions, .sms, .webhook, .captcha,
            .unsupported:
            return nil
        }
    }
}
