import Development
import Domain
import Foundation
import InMemoryLogging
import Logging
import Outbound
import Projects
import StrictJSON
import Testing
import TestKit

/// A service with one provider, where Ada has an account.
///
/// Afterwards the provider must have seen nothing that a correct client would not send, every armed fault must have been
/// met, and the service's log must hold no secret of all that was exchanged.
struct ProviderScene: Sendable {
    enum Kind: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case oidc = "oidc.acme"
        case oauth2 = "oauth.acme"
        case google = "google.com"
        case github = "github.com"
        case yahoo = "yahoo.com"
        case linkedIn = "linkedin.com"
        case slack = "oidc.slack"
        case gitLab = "oidc.gitlab"
        case line = "oidc.line"
        case feedly = "oauth.feedly"
        case x = "oauth.x"
        case discord = "oauth.discord"
        case yahooJapan = "oidc.yahoojp"
        case microsoft = "microsoft.com"
        case facebook = "facebook.com"
        case twitter = "twitter.com"
        case apple = "apple.com"

        var provider: ProviderID { ProviderID(rawValue) }
        var testDescription: String { rawValue }

        var personality: ProviderPersonality {
            switch self {
            case .oidc: .genericOIDC
            case .oauth2: .genericOAuth2
            case .google: .google
            case .github: .github
            case .yahoo: .yahoo
            case .linkedIn: .linkedIn
            case .slack: .slack
            case .gitLab: .gitLab
            case .line: .line
            case .feedly: .feedly
            case .x: .x
            case .discord: .discord
            case .yahooJapan: .yahooJapan
            case .microsoft: .microsoft
            case .facebook: .facebook
            case .twitter: .twitter1
            case .apple: .apple
            }
        }

        /// A GitHub id beyond 2^53, which a double could not hold.
        var subject: String {
            [Self.github, .discord, .twitter].contains(self) ? "9007199254740993" : "ada/1|\(rawValue)"
        }
        /// A code comes back and is exchanged; else a verifier of OAuth 1.0a.
        var usesCodes: Bool { !personality.isOAuth1 }
        static let withCodes = allCases.filter(\.usesCodes)
        /// What the callback of a good sign-in brings besides the state.
        var proofNames: [String] { usesCodes ? ["code"] : ["oauth_token", "oauth_verifier"] }
        var isOpenID: Bool { personality.isOpenID }
        /// A definition whose flows bring back a code alone.
        var codeAlone: JSONObject { self == .apple ? ["responseTypes": ["code"]] : [:] }
        /// Has something to call with an access token.
        var hasProfile: Bool { personality.paths[.userinfo] != nil }
        var usesPKCE: Bool { personality.pkce != .refused }
        /// Whether an access token alone can be shown to be ours.
        var checksAccessTokens: Bool { personality.paths[.tokenCheck] != nil }
    }

    struct Options: Sendable {
        var service = TestService.Options()
        var personality: @Sendable (inout ProviderPersonality) -> Void = { _ in }
        var redirects = TestClient.RedirectRule.anyLocal
        /// Client ids of native apps.
        var audiences: [String] = []
        /// Further members of `definition{}`.
        var definition: JSONObject = [:]
        /// Whether the test makes the provider see mistakes on purpose.
        var expectsViolations = false
    }

    static let clientSecret = "client-s3cret+/=:%"

    let service: TestService
    let tenant: TestTenant
    let kind: Kind
    let ada: TestUser
    let secrets = SecretBook()

    var provider: ProviderID { kind.provider }

    static func run(
        _ kind: Kind,
        _ options: Options = Options(),
        _ body: @Sendable (ProviderScene) async throws -> Void
    ) async throws {
        // The provider's clock is the real one, and waiting for a slot takes time: the service's is made afterwards.
        try await TestSlots.services.use { try await play(kind, options, body) }
    }

    private static func play(
        _ kind: Kind,
        _ options: Options,
        _ body: @Sendable (ProviderScene) async throws -> Void
    ) async throws {
        var personality = kind.personality
        options.personality(&personality)
        let tenant = try await TestProvider.tenant(personality)
        tenant.addClient(secrets: [clientSecret], redirects: options.redirects)
        let ada = tenant.addUser(person(kind.subject, "ada", of: kind))
        tenant.everyLogin(ada)
        try await TestService.run(options.service) { service in
            try await service.configure(
                tenant.configuration(
                    as: kind.provider,
                    audiences: options.audiences,
                    overrides: options.definition
                )
            )
            let scene = ProviderScene(service: service, tenant: tenant, kind: kind, ada: ada)
            scene.secrets.add(clientSecret, ada.email)
            try await body(scene)
            if !options.expectsViolations { #expect(tenant.violations.isEmpty) }
            #expect(tenant.unusedFaults.isEmpty)
            scene.checkLog()
        }
    }

    /// Somebody with a verified address.
    static func person(_ subject: String, _ name: String, of kind: Kind) -> TestUser {
        TestUser(
            subject,
            email: "\(name)@example.com",
            name: name.capitalized,
            givenName: name.capitalized,
            // Apple's display name is made of both.
            familyName: kind == .apple ? nil : "Lovelace",
            picture: "https://pictures.example.com/\(name).png",
            login: "\(name)-login"
        )
    }

    /// A second person at the provider.
    func addGrace() -> TestUser {
        let grace = tenant.addUser(Self.person(kind == .github ? "77" : "grace-2", "grace", of: kind))
        secrets.add(grace.email)
        return grace
    }

    /// Nothing that was secret may stand in the log.
    func checkLog(sourceLocation: SourceLocation = #_sourceLocation) {
        secrets.add(from: tenant.requests())
        let log = service.logs.entries.map { "\($0.message) \($0.metadata) \($0.error.map { "\($0)" } ?? "")" }
        #expect(!log.isEmpty, sourceLocation: sourceLocation)
        for secret in secrets.all {
            let line = log.first { $0.contains(secret) }
            #expect(line == nil, "a secret is in the log", sourceLocation: sourceLocation)
        }
    }

    /// Expects a warning by which an admin finds the provider's configuration and what is wrong with it.
    func logsForAdmin(_ cause: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let expected = ["project.id": "\(service.project.id)", "provider.id": "\(provider)", "error.cause": cause]
        let found = service.logs.entries.contains { entry in
            entry.level == .warning && expected.allSatisfy { "\(entry.metadata[$0.key] ?? "")" == $0.value }
        }
        #expect(found, "the log does not say \(cause)", sourceLocation: sourceLocation)
    }
}
