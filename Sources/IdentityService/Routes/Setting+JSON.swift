package import Administration
import Projects
import Secrets
import StrictJSON

extension Setting {
    /// The change that a config or tenant asks for; an absent value sets the zero value of its type, as in protobuf's
    /// JSON.
    package func change(in config: WireObject) throws -> SettingChange {
        let (parent, name) = try member(of: config)
        let object = parent ?? WireObject()
        // What is not supported is never shown, so it is not kept that somebody asked for nothing.
        if case .unsupported = value { return try change(in: object, name) }
        let isEmptied = try Self.shownInEmptyMessages.contains(path) && config.isEmptyMessage(at: path)
        return try change(in: object, name).giving(path, try isEmptied || object.has(name))
    }

    /// Flags of messages that Terraform sends empty when they are off, and then expects to read.
    private static let shownInEmptyMessages = [
        "multiTenant.allowTenants", "client.permissions.disabledUserSignup", "client.permissions.disabledUserDeletion",
    ]

    private func change(in object: WireObject, _ name: String) throws -> SettingChange {
        switch value {
        case .flag(let field): field.change(to: try object.bool(name) ?? false)
        case .number(let field, in: let range), .seconds(let field, in: let range):
            field.change(to: try object.int64(name) ?? (range.contains(0) ? 0 : field.standard))
        case .text(let field): field.change(to: try object.string(name) ?? "")
        case .digits(let field): field.change(to: try object.int64(name).map { "\($0)" } ?? "")
        // Their zero value is the one that is not specified.
        case .choice(let field, let choices): field.change(to: try object.choice(name, of: choices) ?? field.standard)
        case .choices(let field, let choices): field.change(to: try object.choices(name, of: choices))
        case .texts(let field): field.change(to: try object.strings(name))
        case .map(let field): field.change(to: try object.texts(name))
        case .mailTexts(let field): field.change(to: try object.messages(name).mapValues { try MailSettings.Text($0) })
        case .passwordPolicies(let field):
            field.change(to: try object.objects(name).map { try PasswordPolicy(version: $0) })
        case .authenticatorApps(let field):
            field.change(to: try object.objects(name).map { try AuthenticatorApp($0) })
        case .regions(let field): field.change(to: try SMSRegions(try object.object(name) ?? WireObject()))
        // An empty message is none.
        case .sms(let field): field.change(to: try object.filled(name).map { try SMSProvider($0) })
        case .webhook(let field): field.change(to: try object.filled(name).map { try WebhookEndpoint($0) })
        case .captcha(let field): field.change(to: try object.filled(name).map { try CaptchaVerifier($0) })
        case .unsupported(let nothing):
            try {
                guard try object.value(name)?.asksForNothing(nothing) ?? true else {
                    throw AdministrationError.invalid("\(path) is not supported.")
                }
                return SettingChange.none(path)
            }()
        }
    }

    /// What its value may contain.
    var members: MemberNames {
        switch value {
        case .flag, .number, .seconds, .text, .digits, .choice, .choices, .texts, .map, .unsupported: .any
        case .mailTexts: .map(MemberNames(MailSettings.Text.members))
        case .passwordPolicies:
            .object(["customStrengthOptions": MemberNames(PasswordPolicy.members), "schemaVersion": .any])
        case .authenticatorApps: .object(["state": .any, "totpProviderConfig": ["adjacentIntervals"]])
        case .regions:
            MemberNames(SMSRegions.Arm.allCases.map { ($0.path, .any) })
        case .sms:
            ["url", "body", "method", "bodyFormat", "authorization", "headers", "user", "secret"]
        case .webhook: ["url", "types", "secrets"]
        case .captcha: ["service", "siteKey", "secret", "url", "minimumScore", "whenUnreachable"]
        }
    }

    /// Members of its value that a mask may name; any other value is set as a whole.
    var inner: [String] {
        guard case .regions = value else { return [] }
        return SMSRegions.Arm.allCases.map(\.path)
    }

    /// The change that a mask with ``inner`` members asks for; the others are ignored.
    func change(in config: WireObject, to inner: [String]) throws -> SettingChange {
        guard case .regions(let field) = value else { return try change(in: config) }
        let (parent, name) = try member(of: config)
        let sent = try parent?.object(name)
        let arms = SMSRegions.Arm.allCases.filter { inner.contains($0.path) }
        let given = try arms.filter { try sent?.has($0.rawValue) ?? false }
        // Neither the default, which allows every region, nor a list of none is what the admin must have meant.
        guard !given.isEmpty else {
            throw AdministrationError.invalid("\(path) lacks what the updateMask names.")
        }
        return field.change(to: try SMSRegions(sent ?? WireObject(), given)).giving(path, true)
    }

    /// Whether a config or tenant has a value for it.
    package func isGiven(in config: WireObject) throws -> Bool {
        let (parent, name) = try member(of: config)
        return try parent?.has(name) ?? false
    }

    /// Of one of these settings, or of what contains some.
    static func kind(_ path: String, of settings: [Setting]) -> FieldMask.Kind {
        switch settings.first(where: { $0.path == path })?.value {
        case nil, .regions: .message
        case .sms, .webhook, .captcha, .mailTexts: .whole
        default: .value
        }
    }

    /// The members of a resource that has settings and others.
    static func members(_ settings: [Setting], others: [String]) -> MemberNames {
        MemberNames(settings.map { ($0.path, $0.members) } + others.map { ($0, .any) })
    }

    private func member(of config: WireObject) throws -> (parent: WireObject?, name: String) {
        var parent: WireObject? = config
        var names = path.split(separator: ".").map { String($0) }
        let last = names.removeLast()
        for name in names { parent = try parent?.object(name) }
        return (parent, last)
    }
}

extension Setting.AuthenticatorApp {
    /// With or without `totpProviderConfig`: there is no other kind.
    fileprivate init(_ object: WireObject) throws {
        self.init(
            state: try object.choice("state", of: Setting.states),
            adjacentIntervals: try object.object("totpProviderConfig")?.int64("adjacentIntervals")
        )
    }
}

extension SMSRegions {
    /// The two forms of the configuration, of which one is set.
    fileprivate enum Arm: String, CaseIterable {
        case allowByDefault
        case allowlistOnly

        var list: String { self == .allowlistOnly ? "allowedRegions" : "disallowedRegions" }
        var path: String { "\(rawValue).\(list)" }
    }

    fileprivate init(_ object: WireObject) throws {
        try self.init(object, Arm.allCases.filter { try object.object($0.rawValue) != nil })
    }

    fileprivate init(_ object: WireObject, _ arms: [Arm]) throws {
        guard arms.count < 2 else {
            throw AdministrationError.invalid("smsRegionConfig accepts allowByDefault or allowlistOnly, not both.")
        }
        let arm = arms.first ?? .allowByDefault
        let listed = try object.object(arm.rawValue)?.strings(arm.list) ?? []
        self.init(isAllowlist: arm == .allowlistOnly, listed: listed)
    }
}

extension MailSettings.Text {
    fileprivate static let members = ["subject", "body", "bodyFormat", "senderDisplayName", "replyTo"]

    fileprivate init(_ object: WireObject) throws {
        self.init()
        func text(_ name: String) throws -> String? {
            try object.string(name).flatMap { $0.isEmpty ? nil : $0 }
        }
        (subject, body) = (try text("subject"), try text("body"))
        (senderDisplayName, replyTo) = (try text("senderDisplayName"), try text("replyTo"))
        // Without a body it has no format.
        isHTML = try object.choice("bodyFormat", of: ["PLAIN_TEXT", "HTML"]) == "HTML" && body != nil
    }
}

extension WebhookEndpoint {
    fileprivate init(_ object: WireObject) throws {
        let types = try object.strings("types").map { text in
            guard let type = WebhookType(rawValue: text) else {
                throw AdministrationError.invalid(
                    "identity.webhook.types must be among \(WebhookType.allCases.map(\.rawValue))."
                )
            }
            return type
        }
        self.init(
            url: try object.string("url") ?? "",
            types: types,
            secrets: try object.strings("secrets").map { Secret($0) }
        )
    }
}

extension CaptchaVerifier {
    fileprivate init(_ object: WireObject) throws {
        guard let service: Service = try object.choice("service") else {
            throw AdministrationError.invalid("identity.captcha.service is missing.")
        }
        self.init(
            service: service,
            siteKey: try object.string("siteKey") ?? "",
            secret: Secret(try object.string("secret") ?? "")
        )
        url = try object.string("url")
        if let value = try object.value("minimumScore") {
            guard case .number(let text) = value, let score = Double(text) else {
                throw AdministrationError.invalid("identity.captcha.minimumScore must be a number.")
            }
            minimumScore = score
        }
        let choice = try object.choice("whenUnreachable", of: ["refuse", "allow"])
        allowsWhenUnreachable = choice == "allow"
    }
}

extension SMSProvider {
    fileprivate init(_ object: WireObject) throws {
        self.init(url: try object.string("url") ?? "", body: try object.string("body") ?? "")
        method = try object.choice("method") ?? method
        format = try object.choice("bodyFormat") ?? format
        authorization = try object.choice("authorization") ?? authorization
        headers = try object.texts("headers")
        user = try object.string("user")
        secret = try object.string("secret").map { Secret($0) }
    }
}

extension WireObject {
    /// Whether the first message on a path is there, and contains no value.
    fileprivate func isEmptyMessage(at path: String) throws -> Bool {
        let name = String(path.prefix { $0 != "." })
        return try object(name) != nil && value(name)?.hasLeaf == false
    }

    /// A message that contains a value.
    fileprivate func filled(_ name: String) throws -> WireObject? {
        guard let message = try object(name), try value(name)?.hasLeaf ?? false else { return nil }
        return message
    }

    fileprivate func choice<Choice: RawRepresentable<String> & CaseIterable>(_ name: String) throws -> Choice? {
        try choice(name, of: Choice.allCases.map(\.rawValue)).flatMap(Choice.init(rawValue:))
    }
}

extension JSONValue {
    /// Whether it is the zero value of its type, or a choice that changes nothing.
    fileprivate func asksForNothing(_ choices: [String]) -> Bool {
        switch self {
        case .null, .bool(false), .string(""), .array([]): true
        case .number: wholeNumber == 0
        case .string(let text): choices.contains(text)
        case .bool, .array, .object: false
        }
    }
}
