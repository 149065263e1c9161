import HTTPTypes
import Projects
import Secrets

extension SettingsMember {
    /// The SMS provider and the webhook: each is set as a whole, and a secret that a request omits stays.
    static let delivery: [SettingsMember] = [
        SettingsMember(path: "identity.sms") { object, name, settings in
            settings.delivery.sms = try object.object(name).map { try sms($0, before: settings.delivery.sms) }
        },
        SettingsMember(path: "identity.webhook") { object, name, settings in
            settings.delivery.webhook = try object.object(name).map {
                try webhook($0, before: settings.delivery.webhook)
            }
        },
    ]

    private static func webhook(_ object: WireObject, before: WebhookEndpoint?) throws -> WebhookEndpoint {
        let url = try readURL(object, "identity.webhook.url")
        let types = try object.strings("types").map { text in
            guard let type = WebhookType(rawValue: text) else {
                throw invalid("identity.webhook.types must be among \(WebhookType.allCases.map(\.rawValue))")
            }
            return type
        }
        guard !types.isEmpty, Set(types).count == types.count else {
            throw invalid("identity.webhook.types must list at least one type, each once")
        }
        var secrets = try object.strings("secrets").map { Secret($0) }
        // Secrets for another URL must not be used for this one.
        if secrets.isEmpty, let before, before.url == url { secrets = before.secrets }
        guard (1...3).contains(secrets.count), secrets.allSatisfy({ WebhookEndpoint.key(of: $0) != nil }) else {
            throw invalid(
                "identity.webhook.secrets must be 1 to 3 secrets: whsec_ and 24 to 64 bytes in base64"
            )
        }
        return WebhookEndpoint(url: url, types: types, secrets: secrets)
    }

    private static func sms(_ object: WireObject, before: SMSProvider?) throws -> SMSProvider {
        let body = try object.string("body") ?? ""
        guard body.contains("%TO%"), body.contains("%TEXT%") || body.contains("%CODE%"), body.utf8.count <= 8_192,
            !body.utf8.contains(0)
        else {
            throw invalid("identity.sms.body must contain %TO%, and %TEXT% or %CODE%, in at most 8192 bytes")
        }
        var provider = SMSProvider(url: try readURL(object, "identity.sms.url"), body: body)
        provider.method = try choice(object, "method") ?? .post
        provider.format = try choice(object, "bodyFormat") ?? .form
        provider.authorization = try choice(object, "authorization") ?? .none
        provider.headers = try object.texts("headers")
        guard provider.headers.count <= 16, provider.headers.allSatisfy({ isHeader($0.key, $0.value) }) else {
            throw invalid("identity.sms.headers must be at most sixteen, and not headers that every request has")
        }
        provider.user = try object.string("user")
        provider.secret = try object.string("secret").map { Secret($0) }
        // The secret for another URL must not be used for this one.
        if provider.secret == nil, let before, before.url == provider.url { provider.secret = before.secret }
        guard !needsSecret(provider) || provider.secret.map({ isLine($0.reveal()) && !$0.isEmpty }) ?? false else {
            throw invalid("identity.sms.secret is missing or not one line of text")
        }
        guard provider.authorization != .basic || provider.user.map({ isLine($0) && !$0.contains(":") }) ?? false else {
            throw invalid("identity.sms.user is missing or contains a colon")
        }
        return provider
    }

    private static func needsSecret(_ provider: SMSProvider) -> Bool {
        provider.authorization != .none
            || ([provider.body] + provider.headers.values).contains { $0.contains("%SECRET%") }
    }

    private static func readURL(_ object: WireObject, _ path: String) throws -> String {
        guard let url = try object.string("url"), DeliverySettings.isAcceptable(url: url) else {
            throw invalid("\(path) must be an https URL, or a URL of this machine")
        }
        return url
    }

    private static func choice<Choice: RawRepresentable & CaseIterable>(
        _ object: WireObject,
        _ name: String
    ) throws -> Choice? where Choice.RawValue == String {
        try object.choice(name, of: Choice.allCases.map(\.rawValue)).flatMap(Choice.init(rawValue:))
    }

    private static func isHeader(_ name: String, _ value: String) -> Bool {
        let own = ["host", "content-length", "content-type", "authorization", "transfer-encoding", "connection"]
        return HTTPField.Name(name) != nil && !own.contains(name.lowercased()) && isLine(value)
    }

    private static func isLine(_ text: String) -> Bool {
        text.utf8.count <= 4_096 && text.utf8.allSatisfy { $0 >= 32 && $0 < 127 }
    }

    private static func invalid(_ text: String) -> WireError { WireError("INVALID_CONFIG", "\(text).") }
}

extension JSONWriter {
    /// Without secrets.
    mutating func delivery(_ settings: DeliverySettings) {
        if let sms = settings.sms {
            object("sms") { json in
                json.member("url", sms.url)
                json.member("method", sms.method.rawValue)
                if !sms.headers.isEmpty {
                    json.object("headers") { json in
                        for (name, value) in sms.headers.sorted(by: { $0.key < $1.key }) { json.member(name, value) }
                    }
                }
                json.member("body", sms.body)
                json.member("bodyFormat", sms.format.rawValue)
                json.member("authorization", sms.authorization.rawValue)
                json.member("user", sms.user)
            }
        }
        if let webhook = settings.webhook {
            object("webhook") { json in
                json.member("url", webhook.url)
                json.member("types", strings: webhook.types.map(\.rawValue))
            }
        }
    }
}
