import Linking
import Projects
import StrictJSON

/// A project's setting that the console shows, by its path in the API.
struct ConsoleSetting: Sendable {
    enum Kind: Sendable {
        case flag(@Sendable (ProjectSettings) -> Bool)
        case number(@Sendable (ProjectSettings) -> Int64)
        case text(@Sendable (ProjectSettings) -> String)
        /// One of the given values.
        case choice([String], @Sendable (ProjectSettings) -> String)
        /// One value per line.
        case list(@Sendable (ProjectSettings) -> [String])
    }

    let path: String
    let label: String
    let kind: Kind

    private init(_ path: String, _ label: String, _ kind: Kind) {
        (self.path, self.label, self.kind) = (path, label, kind)
    }

    /// All other settings are only available in the API.
    static let all: [ConsoleSetting] = [
        ConsoleSetting("identity.appName", "App name in emails and on pages", .text { $0.mail.appName ?? "" }),
        ConsoleSetting("authorizedDomains", "Authorized domains, one per line", .list { $0.authorizedDomains }),
        ConsoleSetting(
            "identity.continueURLs",
            "Continue URLs, one per line (empty: any page on an authorized domain)",
            .list { $0.continueURLs }
        ),
        ConsoleSetting("signIn.email.enabled", "Email and password sign-in", .flag { $0.passwordSignIn }),
        ConsoleSetting("signIn.anonymous.enabled", "Anonymous sign-in", .flag { $0.anonymousSignIn }),
        ConsoleSetting(
            "client.permissions.disabledUserSignup",
            "Disable sign-up by users",
            .flag { $0.disabledUserSignup }
        ),
        ConsoleSetting(
            "emailPrivacyConfig.enableImprovedEmailPrivacy",
            "Email enumeration protection",
            .flag { $0.emailEnumerationProtection }
        ),
        ConsoleSetting("identity.signInPage", "Hosted sign-in page", .flag { $0.signInPage }),
        ConsoleSetting(
            "identity.linking",
            "When a new identity's email already has an account",
            .choice(LinkingMode.allCases.map(\.rawValue)) { $0.linking.rawValue }
        ),
        ConsoleSetting(
            "identity.emailTrust",
            "Providers whose emails count as verified",
            .choice(["default", "strict"]) { $0.strictEmailTrust ? "strict" : "default" }
        ),
        ConsoleSetting(
            "identity.methodChanges",
            "Accounts that need a recent sign-in to link or unlink sign-in methods",
            .choice(MethodChangePolicy.allCases.map(\.rawValue)) { $0.methodChanges.rawValue }
        ),
        ConsoleSetting(
            "identity.keepLastSignInMethod",
            "Users cannot remove their last sign-in method",
            .flag { $0.keepLastSignInMethod }
        ),
        ConsoleSetting(
            "identity.rotateRefreshTokens",
            "Rotate refresh tokens",
            .flag { $0.rotateRefreshTokens }
        ),
        ConsoleSetting(
            "identity.sessionIdleDays",
            "Days until an unused session ends (0: never)",
            .number { Int64($0.sessionIdleDays) }
        ),
        ConsoleSetting(
            "identity.recentSignInSeconds",
            "Seconds for which a sign-in counts as recent (0: always)",
            .number { $0.recentSignInSeconds }
        ),
    ]

    // MARK: On the page

    func field(_ settings: ProjectSettings, _ number: Int) -> HTML {
        let id = "setting-\(number)"
        switch kind {
        case .flag(let read):
            let checked: HTML? = read(settings) ? " checked" : nil
            return """
                <label class="check"><input name="\(path)" type="checkbox" value="true"\(html: checked)> \(label)</label>

                """
        case .number(let read):
            return """
                <label for="\(id)">\(label)</label>
                <input id="\(id)" name="\(path)" inputmode="numeric" value="\(String(read(settings)))" maxlength="12" required>

                """
        case .text(let read):
            return """
                <label for="\(id)">\(label)</label>
                <input id="\(id)" name="\(path)" value="\(read(settings))" maxlength="256" autocomplete="off">

                """
        case .choice(let choices, let read):
            let options = choices.map { choice -> HTML in
                let selected: HTML? = choice == read(settings) ? " selected" : nil
                return "<option\(html: selected)>\(choice)</option>"
            }
            return """
                <label for="\(id)">\(label)</label>
                <select id="\(id)" name="\(path)">\(html: options)</select>

                """
        case .list(let read):
            return """
                <label for="\(id)">\(label)</label>
                <textarea id="\(id)" name="\(path)" rows="4" spellcheck="false">\(read(settings).joined(separator: "\n"))</textarea>

                """
        }
    }

    // MARK: From a form

    /// Applies it as the equivalent API request would.
    func apply(_ form: ConsoleForm, to settings: inout ProjectSettings) throws {
        let text = try form.value(path)
        let value: JSONValue =
            switch kind {
            case .flag: .bool(text == "true")
            case .number: .string(text.filter { $0 != " " })
            case .text: text.isEmpty ? .null : .string(text)
            case .choice: .string(text)
            case .list:
                .array(text.split(whereSeparator: \.isWhitespace).map { .string(String($0)) })
            }
        guard let member = SettingsMember.all.first(where: { $0.path == path }) else { return }
        var names = path.split(separator: ".").map { String($0) }
        var object = JSONObject([JSONObject.Member(name: names.removeLast(), value: value)])
        for name in names.reversed() {
            object = JSONObject([JSONObject.Member(name: name, value: .object(object))])
        }
        try member.apply(WireObject(object.members), to: &settings)
    }
}
