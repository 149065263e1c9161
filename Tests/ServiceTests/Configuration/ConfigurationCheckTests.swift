import Accounts
import Crypto
import Development
import Domain
import Foundation
import Projects
import Secrets
import Testing

@Suite("The check of a project's configuration")
struct ConfigurationCheckTests {
    /// A project with nothing to say about, changed in one way, and what is said then.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// `id`, or `id provider`, in the order of the report.
        var found: [String]
        var change: @Sendable (inout ProjectSettings) -> Void
        var providers: [ProviderConfiguration] = []
        var isDevelopment = false
        var publicURL: String? = "https://id.example"
        var sendsMail = true

        init(
            _ description: String,
            _ found: [String],
            publicURL: String? = "https://id.example",
            sendsMail: Bool = true,
            _ change: @escaping @Sendable (inout ProjectSettings) -> Void
        ) {
            (testDescription, self.found, self.sendsMail, self.change) = (description, found, sendsMail, change)
            self.publicURL = publicURL
        }

        init(
            _ description: String,
            _ found: [String],
            development: Bool = false,
            publicURL: String? = "https://id.example",
            _ providers: [ProviderConfiguration],
            _ change: @escaping @Sendable (inout ProjectSettings) -> Void = { _ in }
        ) {
            (testDescription, self.found, self.providers, self.change) = (description, found, providers, change)
            (isDevelopment, self.publicURL) = (development, publicURL)
        }
    }

    private static func check(_ example: Case) throws -> [ConfigurationFinding] {
        var settings = ProjectSettings()
        settings.authorizedDomains = ["app.example"]
        settings.strictEmailTrust = true
        settings.continueURLs = ["https://app.example/signed-in"]
        example.change(&settings)
        let project = Project(
            id: try #require(ProjectID(rawValue: "check-project")),
            number: ProjectNumber(rawValue: 123_456_789_012),
            settings: settings,
            passwordSignerKey: Secret("")
        )
        let snapshot = ConfigurationSnapshot(
            version: .none,
            projects: [project],
            apiKeys: [],
            providers: example.providers.map { (project.scope, $0) }
        )
        let check = ConfigurationCheck(
            isDevelopment: example.isDevelopment,
            deployment: Deployment(publicURL: example.publicURL),
            sendsMail: example.sendsMail,
            knowsLeakedPasswords: false
        )
        return check(project, in: snapshot, at: now)
    }

    @Test(
        "an RP ID that is another project's host, or the service's",
        arguments: [
            ("id.example", [true, true]), ("own.example", [false, true]), ("app.example", [true, false]),
            ("nobody.example", [false, false]),
        ]
    )
    func foreignHost(_ host: String, _ found: [Bool]) throws {
        let hosts = [("first-project", "https://own.example"), ("second-project", "https://app.example")]
        let projects = try hosts.map { id, url in
            var settings = ProjectSettings()
            settings.appURLs = [PublicURL(url)]
            settings.passkeys.relyingPartyID = host
            settings.passkeys.origins = ["https://\(host)"]
            return Project(
                id: try #require(ProjectID(rawValue: id)),
                number: ProjectNumber(rawValue: 123_456_789_012),
                settings: settings,
                passwordSignerKey: Secret("")
            )
        }
        let check = ConfigurationCheck(
            isDevelopment: false,
            deployment: Deployment(publicURL: "https://id.example"),
            sendsMail: true,
            knowsLeakedPasswords: false
        )
        let snapshot = ConfigurationSnapshot(version: .none, projects: projects, apiKeys: [], providers: [])
        #expect(
            projects.map { check($0, in: snapshot, at: Self.now).contains { $0.id == .passkeyHostForeign } } == found
        )
    }

    @Test(
        "T-D1: a client that another project has too",
        arguments: [
            (provider("google.com", clientID: "ours"), provider("google.com", clientID: "ours"), true),
            (
                provider("google.com", clientID: "ours"), provider("google.com", clientID: "web", audiences: ["ours"]),
                true
            ),
            (
                provider("oidc.acme", clientID: "ours", issuer: "https://acme.example"),
                provider("oidc.other", clientID: "ours", issuer: "https://acme.example"), true
            ),
            (
                provider("oidc.acme", clientID: "ours", issuer: "https://acme.example"),
                provider("oidc.acme", clientID: "ours", issuer: "https://other.example"), false
            ),
            (provider("google.com", clientID: "ours"), provider("google.com", clientID: "theirs"), false),
            (provider("google.com", clientID: "ours"), provider("github.com", clientID: "ours"), false),
            (provider("google.com", clientID: "ours"), provider("google.com", enabled: false, clientID: "ours"), false),
        ]
    )
    func sharedClient(ours: ProviderConfiguration, theirs: ProviderConfiguration, isShared: Bool) throws {
        let projects = try ["first-project", "second-project"].map { id in
            Project(
                id: try #require(ProjectID(rawValue: id)),
                number: ProjectNumber(rawValue: 123_456_789_012),
                settings: ProjectSettings(),
                passwordSignerKey: Secret("")
            )
        }
        let check = ConfigurationCheck(
            isDevelopment: false,
            deployment: Deployment(publicURL: "https://id.example"),
            sendsMail: true,
            knowsLeakedPasswords: false
        )
        let snapshot = ConfigurationSnapshot(
            version: .none,
            projects: projects,
            apiKeys: [],
            providers: [(projects[0].scope, ours), (projects[1].scope, theirs)]
        )
        let found = check(projects[0], in: snapshot, at: Self.now).filter { $0.id == .clientIDShared }
        #expect(found.map(\.provider) == (isShared ? [ours.provider] : []))
        #expect(found.allSatisfy { $0.text.contains("second-project") && $0.text.contains("ours") })
    }

    private static func provider(
        _ id: ProviderID,
        secret: String? = "secret",
        enabled: Bool = true,
        clientID: String = "client",
        audiences: [String] = [],
        issuer: String? = nil,
        _ overrides: String? = nil
    ) -> ProviderConfiguration {
        ProviderConfiguration(
            provider: id,
            enabled: enabled,
            clientID: clientID,
            clientSecret: secret.map { Secret($0) },
            audiences: audiences,
            issuer: issuer,
            overrides: overrides
        )
    }

    private static func acme(secret: String? = "secret", _ overrides: String? = nil) -> ProviderConfiguration {
        provider("oidc.acme", secret: secret, issuer: "https://acme.example", overrides)
    }

    private static let appleKey = P256.Signing.PrivateKey().pemRepresentation
    private static let appleNames = #"{"variables": {"teamId": "TEAM", "keyId": "KEY"}}"#
    private static let apple = provider("apple.com", secret: appleKey, appleNames)
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    /// With a JWT that ends in so many days.
    private static func apple(days: Double) -> ProviderConfiguration {
        let key = AppleClientKey()
        let secret = try? key.secret(
            for: "client",
            audience: "https://appleid.apple.com",
            now: now,
            lifetime: Int64(days * 86_400)
        )
        return provider("apple.com", secret: secret)
    }

    private static let appleWithoutKey = provider("apple.com", secret: nil)

    static let settings: [Case] = [
        Case("careful settings", []) { _ in },
        Case("Firebase's settings", ["continue-urls-by-host", "loopback-domain"]) { $0 = ProjectSettings() },
        Case("loopback addresses", ["loopback-domain"]) { $0.authorizedDomains = ["127.0.0.1", "app.example"] },
        Case("domains that others share", ["public-suffix-domain"]) {
            $0.authorizedDomains = ["app.example", "vercel.app", "com"]
        },
        Case("any page of the app's domains", ["continue-urls-by-host"]) { $0.continueURLs = [] },
        Case("no way in", ["no-sign-in-method"]) { $0.passwordSignIn = false },
        Case("guests alone", []) {
            $0.passwordSignIn = false
            $0.anonymousSignIn = true
        },
        Case("no enumeration protection", ["enumeration-possible"]) { $0.emailEnumerationProtection = false },
        Case("several accounts per email", ["duplicate-emails"]) { $0.allowDuplicateEmails = true },
        Case("the last method may go", ["last-method-removable"]) { $0.keepLastSignInMethod = false },
        Case("no list of leaked passwords", ["leaked-passwords-unknown"]) { $0.refusesLeakedPasswords = true },
        Case("a CAPTCHA that nothing verifies", ["captcha-verifier-missing"]) { $0.captchaOperations = [.signUp] },
        Case("a CAPTCHA that nothing needs", ["captcha-unused"]) {
            $0.delivery.captcha = CaptchaVerifier(service: .turnstile, siteKey: "site", secret: Secret("secret"))
        },
        Case("no limits", ["rate-limits-off"]) { $0.rateLimits.isEnabled = false },
        Case("any sign-in is recent", ["recent-sign-in-unneeded"]) { $0.recentSignInSeconds = 0 },
        Case("sign-in by phone without anybody who sends SMS", ["sms-provider-missing", "sms-regions-open"]) {
            $0.phone.isEnabled = true
        },
        Case("sign-in by phone alone, to one region", []) {
            $0.passwordSignIn = false
            $0.phone.isEnabled = true
            $0.phone.regions = SMSRegions(isAllowlist: true, listed: ["DE"])
            $0.delivery.sms = SMSProvider(url: "https://sms.example", body: "%TO% %TEXT%")
        },
        Case("no page for mails", ["public-url-missing"], publicURL: nil) { _ in },
        Case("no page for mails, and nobody who gets one", [], publicURL: nil) {
            $0.passwordSignIn = false
            $0.anonymousSignIn = true
        },
        Case("an issuer that nobody knows", ["issuer-unknown", "public-url-missing"], publicURL: nil) {
            $0.tokenIssuer = .own
        },
        Case("an OpenID provider that nobody finds", ["oauth-url-missing", "public-url-missing"], publicURL: nil) {
            $0.oauth.isEnabled = true
        },
        Case("the project's own issuer", []) { $0.tokenIssuer = .own },
        Case("no mail server", ["mail-server-missing"], sendsMail: false) { _ in },
        Case("no mail server, and nobody who needs one", [], sendsMail: false) {
            $0.passwordSignIn = false
            $0.anonymousSignIn = true
        },
        Case("a database of identity dev", [], development: true, publicURL: nil, []) {
            $0.authorizedDomains = ["localhost"]
        },
    ]

    static let appleCases: [Case] = [
        Case("others without Apple", ["apple-missing"], [provider("google.com")]),
        Case("others with Apple", [], [provider("google.com"), apple]),
        Case("Apple alone", [], [apple]),
        Case("nobody", [], [provider("google.com", enabled: false)]),
        Case(
            "others with an Apple that is off",
            ["apple-missing"],
            [provider("google.com"), provider("apple.com", secret: nil, enabled: false)]
        ),
    ]

    static let providers: [Case] = [
        Case(
            "Apple without its key",
            ["client-secret-missing apple.com", "revocation-impossible apple.com"],
            [appleWithoutKey]
        ),
        Case("Apple with a JWT that lasts", [], [apple(days: 30)]),
        Case("Apple with a JWT that ends", ["client-secret-expires apple.com"], [apple(days: 29.9)]),
        Case("Apple with a JWT that ended", ["client-secret-expires apple.com"], [apple(days: -1)]),
        Case("Apple behind https", [], publicURL: "https://id.example", [apple]),
        Case("Apple behind http", ["notices-unreachable apple.com"], publicURL: "http://localhost:9099", [apple]),
        Case("a provider without a secret", ["client-secret-missing oidc.acme"], [apple, acme(secret: nil)]),
        Case("a public client", [], [apple, acme(secret: nil, #"{"clientAuth": "none"}"#)]),
        Case("a secret that is needed", ["provider-invalid github.com"], [apple, provider("github.com", secret: nil)]),
        Case(
            "definitions that cannot be read",
            ["provider-invalid oauth.nowhere", "provider-invalid oidc.acme"],
            [apple, provider("oauth.nowhere"), acme(#"{"endpoint": {}}"#)]
        ),
        Case(
            "a definition that cannot be read, and is off",
            [],
            [apple, provider("oauth.nowhere", enabled: false)]
        ),
        Case("endpoints on loopback", ["provider-invalid oidc.acme"], [apple, loopback]),
        Case("endpoints on loopback, in development", [], development: true, [apple, loopback]),
        Case(
            "neither PKCE nor nonce",
            [
                "code-unbound facebook.com", "code-unbound linkedin.com", "code-unbound oauth.discord",
                "code-unbound oauth.feedly",
            ],
            [
                apple, provider("facebook.com"), provider("linkedin.com"), provider("oauth.discord"),
                provider("oauth.feedly"),
            ]
        ),
        Case(
            "PKCE, a nonce, or OAuth 1.0a",
            [],
            [apple, provider("github.com"), provider("twitter.com"), provider("yahoo.com"), provider("oidc.slack")]
        ),
        Case(
            "every address believed",
            ["email-always-trusted oidc.acme"],
            [apple, acme(#"{"emailTrust": "always"}"#)]
        ),
        Case(
            "addresses that others issue",
            ["email-trust-not-strict"],
            [apple, acme(), provider("github.com")]
        ) { $0.strictEmailTrust = false },
        Case(
            "addresses of nobody, or by a rule of their own",
            [],
            [apple, acme(#"{"emailTrust": "claim"}"#), provider("github.com")]
        ) { $0.strictEmailTrust = false },
        Case(
            "errors come first",
            ["provider-invalid github.com", "apple-missing", "duplicate-emails"],
            [provider("github.com", secret: nil)]
        ) { $0.allowDuplicateEmails = true },
    ]

    private static let loopback = provider("oidc.acme", issuer: "http://127.0.0.1:9100/t/acme")

    private func found(_ findings: [ConfigurationFinding]) -> [String] {
        findings.map { [$0.id.rawValue, $0.provider?.rawValue].compactMap(\.self).joined(separator: " ") }
    }

    @Test("says what cannot work and what could be another way", arguments: settings + providers)
    func finds(example: Case) throws {
        #expect(found(try Self.check(example)) == example.found)
    }

    @Test("R-63: warns of providers that are enabled while Apple is not", arguments: appleCases)
    func asksForApple(example: Case) throws {
        let findings = try Self.check(example)
        #expect(found(findings) == example.found)
        #expect(findings.allSatisfy { $0.level == .warning && $0.text.contains("App Review Guideline 4.8") })
    }

    @Test("names what is wrong, without secrets")
    func texts() throws {
        let broken = Self.acme(secret: "s3cret-value", #"{"pkce": "sometimes"}"#)
        let finding = try #require(try Self.check(Case("broken", [], [Self.apple, broken])).first)
        #expect(finding.level == .error)
        #expect(finding.text.contains("definition.pkce"))
        #expect(!finding.text.contains("s3cret-value"))
        let believed = try Self.check(Case("believed", [], [Self.apple, Self.acme()]) { $0.strictEmailTrust = false })
        #expect(believed.first?.text.hasPrefix("oidc.acme can verify emails") == true)
    }

    @Test("each finding can be found")
    func everyFindingHasACase() {
        let found = Set(
            (Self.settings + Self.providers + Self.appleCases).flatMap(\.found).map { $0.prefix { $0 != " " } }
        )
        // They take two projects, in tests of their own.
        let others: Set<Substring> = ["passkey-host-foreign", "client-id-shared"]
        #expect(found.union(others) == Set(ConfigurationFinding.ID.allCases.map { Substring($0.rawValue) }))
    }
}
