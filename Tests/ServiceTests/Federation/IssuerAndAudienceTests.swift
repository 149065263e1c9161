import Development
import Domain
import Foundation
import Postgres
import Projects
import Secrets
import StrictJSON
import Testing
import TestKit

@Suite("Tokens for others", .database, .testProvider)
struct IssuerAndAudienceTests {
    typealias Kind = ProviderScene.Kind

    @Test(
        "T-C1: a token that is valid for another issuer is refused, without a request to that issuer",
        arguments: [Kind.oidc, .google]
    )
    func foreignIssuer(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            let evil = try await TestProvider.tenant(.genericOIDC, name: "evil")
            evil.addClient(secrets: ["x"], redirects: .anyLocal)
            let header: JSONObject = [
                "jku": .string(evil.url(.keys) ?? ""), "x5u": .string(evil.url(.keys) ?? ""),
                "iss": .string(evil.issuer),
            ]
            let victim = TestUser("eve", email: "ada@example.com")
            let token = try evil.mintIDToken(for: victim, changes: IDTokenChanges(header: header))
            try await scene.refuses(
                "INVALID_IDP_RESPONSE : The issuer in ID Token \(evil.issuer) does not match the expected one in config: "
                    + "\(scene.tenant.issuer)."
            ) { try await scene.signIn(idToken: token) }
            // Also when it claims to be ours.
            let claiming = try evil.mintIDToken(
                for: victim,
                changes: IDTokenChanges(set: ["iss": .string(scene.tenant.issuer)], header: header)
            )
            try await scene.refuses(Messages.badSignature) { try await scene.signIn(idToken: claiming) }
            #expect(evil.requests().isEmpty)
        }
    }

    @Test(
        "T-C1: an issuer that is nearly ours is another one",
        arguments: ["/", "upper", "http", "", "#"]
    )
    func nearIssuer(_ change: String) async throws {
        try await ProviderScene.run(.oidc) { scene in
            let ours = scene.tenant.issuer
            let issuer =
                switch change {
                case "upper": ours.uppercased()
                case "http": ours.replacing("http:", with: "https:")
                case "": ""
                default: ours + change
                }
            var login = ScriptedLogin(scene.ada)
            login.idToken.set = ["iss": .string(issuer)]
            scene.tenant.nextLogin(login)
            let arrival = try await scene.arrive()
            try await scene.refuses(
                "INVALID_IDP_RESPONSE : The issuer in ID Token \(issuer) does not match the expected one in config: \(ours)."
            ) { try await scene.finish(arrival) }
        }
    }

    @Test(
        "T-C2: the audience is a client of this project's provider, and azp too",
        arguments: [
            (#""other-app""#, nil, "other-app"), (#"["other-app"]"#, #""client""#, "other-app"),
            (#"["client","other-app"]"#, nil, "azp is missing"),
            (#"["client","other-app"]"#, #""other-app""#, "azp other-app"),
            (#""client""#, #""other-app""#, "azp other-app"),
            ("[]", nil, ""), ("1", nil, "1"), (#"["client",1]"#, #""client""#, "client, 1"),
            (#""Client""#, nil, "Client"),
            (#""client""#, "1", "azp is missing"),
        ] as [(String, String?, String)]
    )
    func audience(aud: String, azp: String?, shown: String) async throws {
        let message =
            shown.hasPrefix("azp ")
            ? "INVALID_IDP_RESPONSE : The authorized party (azp) in ID Token \(shown.dropFirst(4)): add it to audiences."
            : "INVALID_IDP_RESPONSE : The audience in ID Token [\(shown)] does not match the expected audience client."
        var changes = IDTokenChanges(set: ["aud": .raw(aud)], remove: ["azp"])
        if let azp { changes.set["azp"] = .raw(azp) }
        try await ProviderScene.run(.oidc) { [changes] scene in
            let token = try scene.tenant.mintIDToken(for: scene.ada, changes: changes)
            try await scene.refuses(message) { try await scene.signIn(idToken: token) }
            var login = ScriptedLogin(scene.ada)
            login.idToken = changes
            scene.tenant.nextLogin(login)
            let arrival = try await scene.arrive()
            try await scene.refuses(message) { try await scene.finish(arrival) }
        }
    }

    @Test("T-C2: several audiences are fine when ours is the authorized party")
    func severalAudiences() async throws {
        try await ProviderScene.run(.oidc) { scene in
            let token = try scene.tenant.mintIDToken(
                for: scene.ada,
                changes: IDTokenChanges(set: ["aud": ["client", "other-app"], "azp": "client"])
            )
            try await scene.signIn(idToken: token).expectOK()
        }
    }

    @Test(
        "R-38, T-C3: an access token whose audience cannot be checked signs no one in, and is sent nowhere",
        arguments: Kind.allCases.filter { !$0.checksAccessTokens }
    )
    func bareAccessToken(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            scene.tenant.addClient("another-app", secrets: ["another"], redirects: .anyLocal)
            for client in ["client", "another-app"] {
                let token = scene.tenant.mintAccessToken(for: scene.ada, client: client)
                try await scene.refuses(
                    "INVALID_IDP_RESPONSE : An access token alone is not accepted for \(kind.rawValue)."
                ) { try await scene.signIn(accessToken: token) }
            }
            #expect(scene.tenant.requests().isEmpty)
        }
    }

    @Test(
        "R-38: an ID token for a provider that gives apps none is refused in so many words, and is sent nowhere",
        arguments: Kind.allCases.filter { !$0.isOpenID && $0 != .facebook }
    )
    func unexpectedIDToken(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            let elsewhere = try await TestProvider.tenant(.genericOIDC, name: "elsewhere")
            let token = try elsewhere.mintIDToken(for: TestUser("ada", email: "ada@example.com"))
            for text in [token, "no token at all"] {
                try await scene.refuses("INVALID_IDP_RESPONSE : An ID token is not accepted for \(kind.rawValue).") {
                    try await scene.signIn(idToken: text)
                }
            }
            #expect(scene.tenant.requests().isEmpty)
            #expect(elsewhere.requests().isEmpty)
        }
    }
}
