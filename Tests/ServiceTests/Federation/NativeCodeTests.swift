import Development
import Domain
import Testing
import TestKit
import Text

/// Codes that an app got from its platform's own dialog: each is good for the client that it was given to alone.
@Suite("Codes of native apps", .database, .testProvider)
struct NativeCodeTests {
    private static let apps = ["com.example.app", "com.example.watch"]

    private static func run(_ body: @Sendable (ProviderScene) async throws -> Void) async throws {
        var options = ProviderScene.Options()
        options.audiences = apps
        try await ProviderScene.run(.apple, options) { scene in
            for app in apps { scene.tenant.addClient(app, redirects: .anyLocal) }
            try await body(scene)
        }
    }

    private static func revoke(
        _ code: String,
        of user: Reply,
        in scene: ProviderScene,
        from app: String?
    ) async throws -> Reply {
        scene.secrets.add(code)
        return try await scene.service.post(
            "/v2/accounts:revokeToken?key=\(scene.service.apiKey)",
            text: JSON.object([
                "providerId": "apple.com", "tokenType": "CODE", "token": .string(code), "idToken": JSON(user.idToken),
            ]).text,
            headers: app.map { [("X-Ios-Bundle-Identifier", $0)] } ?? []
        )
    }

    @Test("R-72: a code is exchanged and its grant ended as the app that calls, whichever of several it is")
    func asTheApp() async throws {
        for app in Self.apps {
            try await Self.run { scene in
                let user = try await scene.signIn()
                let code = scene.tenant.mintCode(for: scene.ada, client: app, redirectURI: nil)
                let exchanges = scene.tenant.requests(.token).count
                let reply = try await Self.revoke(code, of: user, in: scene, from: app)
                reply.expectOK()
                let sent = scene.tenant.requests(.token).dropFirst(exchanges) + scene.tenant.requests(.revocation)
                #expect(sent.map { $0.fields["client_id"] } == [app, app])
            }
        }
    }

    @Test("R-72: without the app's name it is the one that the account was opened by; else nobody guesses")
    func withoutName() async throws {
        for name in [nil, "com.example.unknown", "client"] as [String?] {
            try await Self.run { scene in
                let web = try await scene.signIn()
                let guess = scene.tenant.mintCode(for: scene.ada, client: "com.example.watch", redirectURI: nil)
                let sent = scene.tenant.requests().count
                try await scene.refuses(
                    "INVALID_ARGUMENT : The code's app is unknown: X-Ios-Bundle-Identifier must be "
                        + "one of the configured bundle IDs."
                ) { try await Self.revoke(guess, of: web, in: scene, from: name) }
                #expect(scene.tenant.requests().count == sent, "the code went nowhere")
                let grace = scene.addGrace()
                let token = try scene.tenant.mintIDToken(for: grace, client: "com.example.watch")
                let native = try await scene.signIn(idToken: token)
                let code = scene.tenant.mintCode(for: grace, client: "com.example.watch", redirectURI: nil)
                try await Self.revoke(code, of: native, in: scene, from: name).expectOK()
                #expect(scene.tenant.requests(.token).last?.fields["client_id"] == "com.example.watch")
            }
        }
    }
}
