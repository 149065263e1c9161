import Administration
import Projects

extension JSONWriter {
    /// The members of a project's config.
    mutating func settings(of project: Project) {
        member("name", "projects/\(project.number)/config")
        settings(Setting.all, of: project.settings)
    }

    /// Settings in the objects of their paths.
    mutating func settings(_ all: [Setting], of settings: ProjectSettings, below parent: String = "") {
        var names: [Substring] = []
        for setting in all {
            let name = setting.path.dropFirst(parent.count).prefix { $0 != "." }
            if !names.contains(name) { names.append(name) }
        }
        for name in names {
            let path = parent + name
            if let setting = all.first(where: { $0.path == path }) {
                member(String(name), setting, settings)
                continue
            }
            let inside = all.filter { $0.path.hasPrefix(path + ".") }
            guard !inside.allSatisfy({ $0.isAbsent(settings) && !$0.path.dropFirst(path.count + 1).contains(".") })
            else { continue }
            object(String(name)) { json in
                if path == "signIn.hashConfig" { json.member("algorithm", "SCRYPT") }
                json.settings(inside, of: settings, below: path + ".")
            }
        }
    }

    private mutating func member(_ name: String, _ setting: Setting, _ settings: ProjectSettings) {
        switch setting.value {
        case .flag(let field):
            let flag = field.get(settings)
            // As in Firebase, its flags are omitted if false.
            member(name, flag || setting.path.hasPrefix("identity.") ? flag : nil)
        case .number(let field): member(name, number: field.get(settings))
        case .seconds(let field): member(name, int64: field.get(settings))
        case .text(let field), .choice(let field, _):
            member(name, setting.isAbsent(settings) ? nil : field.get(settings))
        case .texts(let field), .choices(let field, _):
            let texts = field.get(settings)
            member(name, strings: texts.isEmpty ? nil : texts)
        case .map(let field): map(name, field.get(settings))
        case .passwordPolicies(let field):
            array(name) { json in
                for policy in field.get(settings) {
                    json.object { json in
                        policy.writeStrength(&json)
                        json.member("schemaVersion", number: 1)
                    }
                }
            }
        case .authenticatorApps(let field):
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

    /// Omitted if it is empty.
    private mutating func map(_ name: String, _ texts: [String: String]) {
        guard !texts.isEmpty else { return }
        object(name) { json in
            for (name, text) in texts.sorted(by: { $0.key < $1.key }) { json.member(name, text) }
        }
    }
}

extension Setting {
    /// Whether it is a text or choice without a value.
    fileprivate func isAbsent(_ settings: ProjectSettings) -> Bool {
        switch value {
        case .text(let field), .choice(let field, _): field.get(settings).isEmpty
        default: false
        }
    }
}
