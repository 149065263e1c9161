import Administration
import Projects

extension JSONWriter {
    /// The members of a project's config.
    mutating func settings(of project: Project) {
        member("name", "projects/\(project.number)/config")
        settings(Setting.ofProject, of: project.settings)
    }

    /// Settings in the objects of their paths; objects in which nobody set anything are omitted.
    ///
    /// - Parameter standard: the settings of a new project or tenant.
    mutating func settings(
        _ all: [Setting],
        of settings: ProjectSettings,
        over standard: ProjectSettings = ProjectSettings(),
        below parent: String = ""
    ) {
        var names: [Substring] = []
        for setting in all {
            let name = setting.path.dropFirst(parent.count).prefix { $0 != "." }
            if !names.contains(name) { names.append(name) }
        }
        for name in names {
            let path = parent + name
            if let setting = all.first(where: { $0.path == path }) {
                member(String(name), setting, settings, over: standard)
                continue
            }
            let inside = all.filter { $0.path.hasPrefix(path + ".") }
            guard !inside.allSatisfy({ $0.isQuiet(settings, standard) }) else { continue }
            object(String(name)) { json in
                if path == "signIn.hashConfig" { json.member("algorithm", "SCRYPT") }
                if settings.mail.isCustomized(path) { json.member("customized", true) }
                json.settings(inside, of: settings, over: standard, below: path + ".")
            }
        }
    }

    private mutating func member(
        _ name: String,
        _ setting: Setting,
        _ settings: ProjectSettings,
        over standard: ProjectSettings
    ) {
        let isQuiet = setting.isQuiet(settings, standard)
        switch setting.value {
        // As in Firebase, a flag that is off is omitted, unless somebody set it, or it would be on by itself.
        case .flag(let field): member(name, isQuiet && !field.get(settings) ? nil : field.get(settings))
        case .number(let field, _): member(name, number: field.get(settings))
        case .seconds(let field, _): member(name, int64: field.get(settings))
        case .text(let field), .digits(let field), .choice(let field, _):
            let text = field.get(settings)
            member(name, text.isEmpty ? nil : text)
        case .choices where isQuiet: return
        case .texts(let field), .choices(let field, _):
            let texts = field.get(settings)
            member(name, strings: texts.isEmpty ? nil : texts)
        case .map(let field): map(name, field.get(settings))
        case .mailTexts(let field):
            let texts = field.get(settings)
            guard !texts.isEmpty else { return }
            object(name) { json in
                for (tag, text) in texts.sorted(by: { $0.key < $1.key }) { json.object(tag) { $0.members(of: text) } }
            }
        case .passwordPolicies(let field):
            guard !isQuiet else { return }
            array(name) { json in
                for policy in field.get(settings) {
                    json.object { json in
                        policy.writeStrength(&json, isWhole: true)
                        json.member("schemaVersion", number: 1)
                    }
                }
            }
        case .authenticatorApps(let field):
            guard !isQuiet else { return }
            array(name) { json in
                for app in field.get(settings) {
                    json.object { json in
                        json.member("state", app.state)
                        json.object("totpProviderConfig") {
                            $0.member("adjacentIntervals", number: app.adjacentIntervals)
                        }
                    }
                }
            }
        case .regions(let field):
            guard !isQuiet else { return }
            let regions = field.get(settings)
            let list = regions.isAllowlist ? "allowlistOnly" : "allowByDefault"
            object(name) { json in
                json.object(list) { json in
                    json.member(regions.isAllowlist ? "allowedRegions" : "disallowedRegions", strings: regions.listed)
                }
            }
        case .sms(let field):
            guard let sms = field.get(settings) else { return }
            object(name) { $0.members(of: sms) }
        case .webhook(let field):
            guard let webhook = field.get(settings) else { return }
            object(name) { json in
                json.member("url", webhook.url)
                json.member("types", strings: webhook.types.map(\.rawValue))
            }
        case .captcha(let field):
            guard let verifier = field.get(settings) else { return }
            object(name) { $0.members(of: verifier) }
        case .unsupported: return
        }
    }

    /// Without its secret.
    private mutating func members(of verifier: CaptchaVerifier) {
        member("service", verifier.service.rawValue)
        member("siteKey", verifier.siteKey)
        member("url", verifier.url)
        member("minimumScore", json: verifier.minimumScore.map { String($0) })
        member("whenUnreachable", verifier.allowsWhenUnreachable ? "allow" : "refuse")
    }

    /// Without its secret.
    private mutating func members(of sms: SMSProvider) {
        member("url", sms.url)
        member("method", sms.method.rawValue)
        map("headers", sms.headers)
        member("body", sms.body)
        member("bodyFormat", sms.format.rawValue)
        member("authorization", sms.authorization.rawValue)
        member("user", sms.user)
    }

    private mutating func members(of text: MailSettings.Text) {
        member("subject", text.subject)
        member("body", text.body)
        member("bodyFormat", text.body.map { _ in text.isHTML ? "HTML" : "PLAIN_TEXT" })
        member("senderDisplayName", text.senderDisplayName)
        member("replyTo", text.replyTo)
    }

    /// Omitted if it is empty.
    private mutating func map(_ name: String, _ texts: [String: String]) {
        guard !texts.isEmpty else { return }
        object(name) { json in
            for (name, text) in texts.sorted(by: { $0.key < $1.key }) { json.member(name, text) }
        }
    }
}

extension MailSettings {
    /// Firebase's `customized` of a template: whether it has a subject or body of its own.
    fileprivate func isCustomized(_ path: String) -> Bool {
        guard let template = Self.templates.first(where: { path == "notification.sendEmail.\($0)" }) else {
            return false
        }
        let override = self[template]
        return override.subject != nil || override.body != nil
    }
}

extension Setting {
    /// Whether nobody set it, and nothing is lost if it is not shown.
    ///
    /// Ours are shown, and so are Firebase's flags that are on by themselves.
    fileprivate func isQuiet(_ settings: ProjectSettings, _ standard: ProjectSettings) -> Bool {
        func equals<Value: Equatable>(_ field: Field<Value>) -> Bool { field.get(settings) == field.get(standard) }
        guard !settings.given.contains(path) else { return false }
        return switch value {
        case .unsupported: true
        case .flag(let field): !path.hasPrefix("identity.") && equals(field) && !field.get(standard)
        case .number, .seconds: false
        case .text(let field), .digits(let field): field.get(settings).isEmpty
        case .choice(let field, _): !path.hasPrefix("identity.") && equals(field)
        case .choices(let field, _), .texts(let field): equals(field)
        case .map(let field): equals(field)
        case .mailTexts(let field): equals(field)
        case .passwordPolicies(let field): equals(field)
        case .authenticatorApps(let field): equals(field)
        case .regions(let field): equals(field)
        case .sms(let field): equals(field)
        case .webhook(let field): equals(field)
        case .captcha(let field): equals(field)
        }
    }
}
