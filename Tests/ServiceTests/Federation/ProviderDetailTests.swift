import Development
import Domain
import Federation
import Projects
import Storage
import Testing
import TestKit
import Text

/// What each built-in provider is sent, and what is read from its answers: the details in which they differ.
@Suite("Details of the built-in providers", .database, .testProvider)
struct ProviderDetailTests {
    typealias Kind = ProviderScene.Kind

    struct Detail: Sendable, CustomTestStringConvertible {
        var kind: Kind
        var scope: String
        var usesPKCE: Bool
        var sendsNonce: Bool
        /// How the token endpoint learns the client's secret: else in the form.
        var usesBasic: Bool
        /// The word before the access token at the profile; nil without such a call.
        var scheme: String?
        var photoURL: String? = "https://pictures.example.com/ada.png"
        var screenName: String?
        var emailVerified: Bool

        var testDescription: String { kind.rawValue }
    }

    static let details = [
        Detail(
            kind: .yahoo,
            scope: "openid profile email",
            usesPKCE: false,
            sendsNonce: true,
            usesBasic: true,
            scheme: "Bearer",
            emailVerified: false
        ),
        Detail(
            kind: .linkedIn,
            scope: "openid profile email",
            usesPKCE: false,
            sendsNonce: false,
            usesBasic: false,
            scheme: "Bearer",
            emailVerified: false
        ),
        Detail(
            kind: .slack,
            scope: "openid profile email",
            usesPKCE: false,
            sendsNonce: true,
            usesBasic: false,
            scheme: "Bearer",
            emailVerified: false
        ),
        Detail(
            kind: .gitLab,
            scope: "openid profile email",
            usesPKCE: true,
            sendsNonce: true,
            usesBasic: true,
            scheme: "Bearer",
            emailVerified: false
        ),
        Detail(
            kind: .line,
            scope: "openid profile email",
            usesPKCE: true,
            sendsNonce: true,
            usesBasic: false,
            scheme: nil,
            emailVerified: false
        ),
        Detail(
            kind: .feedly,
            scope: "https://cloud.feedly.com/subscriptions",
            usesPKCE: false,
            sendsNonce: false,
            usesBasic: false,
            scheme: "OAuth",
            emailVerified: false
        ),
        Detail(
            kind: .x,
            scope: "users.read tweet.read users.email offline.access",
            usesPKCE: true,
            sendsNonce: false,
            usesBasic: true,
            scheme: "Bearer",
            screenName: "ada-login",
            emailVerified: false
        ),
        Detail(
            kind: .discord,
            scope: "identify email",
            usesPKCE: false,
            sendsNonce: false,
            usesBasic: false,
            scheme: "Bearer",
            photoURL: "https://cdn.discordapp.com/avatars/9007199254740993/a_0123456789abcdef.gif",
            screenName: "ada-login",
            emailVerified: false
        ),
        Detail(
            kind: .microsoft,
            scope: "openid profile email User.Read",
            usesPKCE: true,
            sendsNonce: true,
            usesBasic: false,
            scheme: "Bearer",
            screenName: "ada-login",
            emailVerified: false
        ),
        Detail(
            kind: .yahooJapan,
            scope: "openid profile email",
            usesPKCE: true,
            sendsNonce: true,
            usesBasic: true,
            scheme: "Bearer",
            screenName: "ada-login",
            emailVerified: false
        ),
        Detail(
            kind: .facebook,
            scope: "public_profile,email",
            usesPKCE: false,
            sendsNonce: false,
            usesBasic: false,
            scheme: "Bearer",
            emailVerified: false
        ),
    ]

    @Test(
        "R-22, R-25, R-45, R-46, R-60: each provider is asked in its own way and read in its own way",
        arguments: details
    )
    func signIn(_ detail: Detail) async throws {
        try await ProviderScene.run(detail.kind) { scene in
            let arrival = try await scene.arrive()
            #expect(arrival.request["scope"] == detail.scope)
            #expect((arrival.request["code_challenge"] != nil) == detail.usesPKCE)
            #expect((arrival.request["nonce"] != nil) == detail.sendsNonce)
            let reply = try await scene.finish(arrival)
            reply.expectOK()
            #expect(reply["emailVerified"] == .bool(detail.emailVerified))
            #expect(reply["photoUrl"]?.string == detail.photoURL)
            #expect(reply["screenName"]?.string == detail.screenName)
            let exchange = try #require(scene.tenant.requests(.token).first)
            #expect((exchange.header("authorization") != nil) == detail.usesBasic)
            #expect((exchange.fields["code_verifier"] != nil) == detail.usesPKCE)
            let profile = scene.tenant.requests(.userinfo).first
            #expect(profile?.header("authorization")?.split(separator: " ").first.map(String.init) == detail.scheme)
        }
    }

    @Test("R-46: Feedly's sandbox is another base URL, and the usual one is Feedly's own")
    func sandbox() async throws {
        try await TestSlots.services.use {
            try await TestService.run { service in
                func make(_ patch: JSON, _ path: String, method: String? = nil) async throws -> [String] {
                    let reply = try await service.admin(path, patch, method: method, version: "v2")
                    reply.expectOK()
                    let stored = service.stores.configuration.snapshot.provider(
                        "oauth.feedly",
                        in: service.project.scope
                    )
                    let definition = try ProviderDefinition.make(for: try #require(stored), allowsLoopback: false)
                    let flow = try await service.startFlow(through: "oauth.feedly")
                    return [
                        String(flow.authURI.prefix { $0 != "?" }), definition.endpoints.token ?? "",
                        definition.profile.first?.url ?? "",
                    ]
                }
                let usual: JSON = ["clientId": "app", "clientSecret": "s3cret", "enabled": true]
                let own = try await make(usual, "oauthIdpConfigs?oauthIdpConfigId=oauth.feedly")
                #expect(own == ["auth/auth", "auth/token", "profile"].map { "https://cloud.feedly.com/v3/\($0)" })
                let sandbox: JSON = [
                    "clientSecret": "s3cret", "definition": ["variables": ["base": "https://sandbox.feedly.com"]],
                ]
                let path = "oauthIdpConfigs/oauth.feedly?updateMask=clientSecret,definition"
                let other = try await make(sandbox, path, method: "PATCH")
                #expect(other == own.map { $0.replacing("cloud", with: "sandbox") })
            }
        }
    }

    @Test(
        "R-19, R-59: a provider's own way to refuse a code is understood",
        arguments: [Kind.slack, .feedly, .x, .yahoo]
    )
    func refusedCode(_ kind: Kind) async throws {
        var options = ProviderScene.Options()
        options.expectsViolations = true
        try await ProviderScene.run(kind, options) { scene in
            let arrival = try await scene.arrive()
            try await scene.refuses(nil) { try await scene.finish(arrival.with("code", "another")) }
            let next = try await scene.signIn()
            next.expectOK()
        }
    }
}
