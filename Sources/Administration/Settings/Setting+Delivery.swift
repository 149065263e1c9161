import HTTPTypes
import Projects
import Secrets

extension Setting {
    /// The SMS provider, the webhook and the verifier of CAPTCHAs: each is set as a whole, and a secret that a change omits stays.
    static let delivery: [Setting] = [
        Setting(path: "identity.sms", value: .sms(field("identity.sms", \.sms, checked))),
        Setting(path: "identity.webhook", value: .webhook(field("identity.webhook", \.webhook, checked))),
        Setting(path: "identity.captcha", value: .captcha(field("identity.captcha", \.captcha, checked))),
        Setting(path: captchaOperations, value: .choices(operations, of: CaptchaOperation.allCases.map(\.rawValue))),
    ]

    static let captchaOperations = "identity.captchaOperations"

    private static let operations = Field<[String]>(
        captchaOperations,
        get: { $0.captchaOperations.map(\.rawValue) }
    ) { settings, names in
        settings.captchaOperations = CaptchaOperation.allCases.filter { names.contains($0.rawValue) }
    }

    private static func field<Endpoint: Sendable>(
        _ path: String,
        _ endpoint: any WritableKeyPath<DeliverySettings, Endpoint?> & Sendable,
        _ check: @escaping @Sendable (_ new: Endpoint, _ before: Endpoint?) throws -> Endpoint
    ) -> Field<Endpoint?> {
        Field(path, get: { $0.delivery[keyPath: endpoint] }) { settings, new in
            let before = settings.delivery[keyPath: endpoint]
            settings.delivery[keyPath: endpoint] = try new.map { try check($0, before) }
        }
    }

    @Sendable private static func checked(_ new: WebhookEndpoint, before: WebhookEndpoint?) throws -> WebhookEndpoint {
        var webhook = new
        try check(url: webhook.url, "identity.webhook.url")
        guard !webhook.types.isEmpty, Set(webhook.types).count == webhook.types.count else {
            throw invalid("identity.webhook.types must list at least one type, each once")
        }
        // Secrets for another URL must not be used for this one.
        if webhook.secrets.isEmpty, let before, before.url == webhook.url { webhook.secrets = before.secrets }
        guard (1...3).contains(webhook.secrets.count),
            webhook.secrets.allSatisfy({ WebhookEndpoint.key(of: $0) != nil })
        else {
            throw invalid("identity.webhook.secrets must be 1 to 3 secrets: whsec_ and 24 to 64 bytes in base64")
        }
        return webhook
    }

    @Sendable private static func checked(_ new: SMSProvider, before: SMSProvider?) throws -> SMSProvider {
        var provider = new
        let body = provider.body
        guard body.contains("%TO%"), body.contains("%TEXT%") || body.contains("%CODE%"), body.utf8.count <= 8_192,
            !body.utf8.contains(0)
        else {
            throw invalid("identity.sms.body must contain %TO%, and %TEXT% or %CODE%, in at most 8192 bytes")
        }
        try check(url: provider.url, "identity.sms.url")
        guard provider.headers.count <= 16, provider.headers.allSatisfy({ isHeader($0.key, $0.value) }) else {
            throw invalid("identity.sms.headers must be at most sixteen, and not headers that every request has")
        }
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

    @Sendable private static func checked(_ new: CaptchaVerifier, before: CaptchaVerifier?) throws -> CaptchaVerifier {
        var verifier = new
        if let url = verifier.url { try check(url: url, "identity.captcha.url") }
        guard isLine(verifier.siteKey), !verifier.siteKey.isEmpty, verifier.siteKey.utf8.count <= 256 else {
            throw invalid("identity.captcha.siteKey is missing or not one line of text")
        }
        guard verifier.minimumScore.map({ (0...1).contains($0) }) ?? true else {
            throw invalid("identity.captcha.minimumScore must be between 0 and 1")
        }
        // The secret for another URL must not be used for this one.
        if verifier.secret.isEmpty, let before, before.verificationURL == verifier.verificationURL {
            verifier.secret = before.secret
        }
        guard isLine(verifier.secret.reveal()), !verifier.secret.isEmpty else {
            throw invalid("identity.captcha.secret is missing or not one line of text")
        }
        return verifier
    }

    private static func needsSecret(_ provider: SMSProvider) -> Bool {
        provider.authorization != .none
            || ([provider.body] + provider.headers.values).contains { $0.contains("%SECRET%") }
    }

    private static func check(url: String, _ path: String) throws {
        guard DeliverySettings.isAcceptable(url: url) else {
            throw invalid("\(path) must be an https URL, or a URL of this machine")
        }
    }

    private static func isHeader(_ name: String, _ value: String) -> Bool {
        let own = ["host", "content-length", "content-type", "authorization", "transfer-encoding", "connection"]
        return HTTPField.Name(name) != nil && !own.contains(name.lowercased()) && isLine(value)
    }

    private static func isLine(_ text: String) -> Bool {
        text.utf8.count <= 4_096 && text.utf8.allSatisfy { $0 >= 32 && $0 < 127 }
    }

    private static func invalid(_ text: String) -> AdministrationError { .invalid("\(text).") }
}
