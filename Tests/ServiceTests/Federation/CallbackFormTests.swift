import Development
import Domain
import Foundation
import Testing
import TestKit
import Text

@Suite("Forms of callbacks", .database, .testProvider)
struct CallbackFormTests {
    typealias Kind = ProviderScene.Kind

    /// What a person does at the provider, or the provider says, and how the sign-in ends.
    private static let decisions: [(ScriptedLogin.Decision, String)] = [
        (.deny, "USER_CANCELLED"), (.bail, "USER_CANCELLED"),
        (.loginRequired, "INVALID_IDP_RESPONSE : interaction_required"),
        (.consentRequired, "INVALID_IDP_RESPONSE : interaction_required"),
        (.fail(error: "invalid_scope", description: "sdct-r : no"), "INVALID_CONFIG : invalid_scope: sdct-r: no"),
        (.fail(error: "server_error", description: "x"), Messages.providerDown),
        (
            .fail(error: "<script>alert(1)</script>", description: nil),
            "INVALID_IDP_RESPONSE : _script_alert_1___script_"
        ),
        (
            .fail(error: "weird\r\nSet-Cookie: a=b", description: nil),
            "INVALID_IDP_RESPONSE : weird__Set-Cookie__a_b"
        ),
    ]

    @Test("R-28, R-52: a person who refuses is told apart from what goes wrong", arguments: Kind.withCodes)
    func refusedByPerson(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            for (decision, message) in Self.decisions {
                scene.tenant.nextLogin(scene.ada, decision)
                let arrival = try await scene.arrive()
                let reply = try await scene.refuses(nil) { try await scene.finish(arrival) }
                #expect(reply.error == message, "\(decision): \(reply)")
                // The flow is consumed: its answer cannot be changed for a better one.
                let code = scene.tenant.mintCode(for: scene.ada, redirectURI: "http://localhost/callback")
                try await scene.refuses(Messages.usedFlow) {
                    try await scene.finish(arrival.with("error", nil).with("code", code))
                }
            }
            #expect(scene.tenant.requests(.token).isEmpty)
        }
    }

    @Test("R-28: scopes that the app was not given at Yahoo are refused in words that the app can show")
    func unregisteredScopes() async throws {
        var options = ProviderScene.Options()
        options.personality = {
            $0.registeredScopes = ["openid", "profile", "email", "mail-r", "sdct-w"]
        }
        try await ProviderScene.run(.yahoo, options) { scene in
            let arrival = try await scene.arrive(["oauthScope": "mail-r sdct-w"])
            try await scene.finish(arrival).expectOK()
            let refused = try await scene.arrive(["oauthScope": "mail-r sdct-r"])
            let reply = try await scene.refuses(nil) { try await scene.finish(refused) }
            #expect(reply.error?.hasPrefix("INVALID_CONFIG : invalid_scope") == true, "\(reply)")
        }
    }

    @Test("an error beside a code is an error", arguments: Kind.withCodes)
    func errorAndCode(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            let arrival = try await scene.arrive()
            try await scene.refuses("USER_CANCELLED") { try await scene.finish(arrival.with("error", "access_denied")) }
            #expect(scene.tenant.requests(.token).isEmpty)
        }
    }

    @Test("a flow ends after ten minutes")
    func expires() async throws {
        try await ProviderScene.run(.oidc) { scene in
            let early = try await scene.arrive()
            let late = try await scene.arrive()
            scene.service.clock.advance(by: 599)
            try await scene.finish(early).expectOK()
            scene.service.clock.advance(by: 1)
            try await scene.refuses(Messages.usedFlow) { try await scene.finish(late) }
        }
    }

    @Test(
        "a callback to another address is refused",
        arguments: [
            "http://localhost/callback2", "http://localhost/Callback", "http://localhost/callback/", "http://localhost",
            "https://localhost/callback", "http://localhost:8080/callback", "http://127.0.0.1/callback",
            "http://localhost.evil.example/callback", "http://evil.example/callback", "http://localhost/callback/../x",
            "http://user@localhost/callback", "http://localhost/callback;x", "http://localhost//callback",
            "http://localhost/%63allback",
        ]
    )
    func otherAddress(_ address: String) async throws {
        try await ProviderScene.run(.oauth2) { scene in
            var arrival = try await scene.arrive()
            arrival.callback = address + "?" + arrival.fields.text
            try await scene.refuses(Messages.otherRedirect) {
                try await scene.finish(arrival)
            }
            #expect(scene.tenant.requests(.token).isEmpty)
        }
    }

    @Test(
        "a decisive parameter twice is refused, in whatever places",
        arguments: ["code", "state", "error", "iss", "id_token", "access_token"]
    )
    func duplicates(_ name: String) async throws {
        try await ProviderScene.run(.oidc) { scene in
            let arrival = try await scene.arrive()
            let value = PercentEncoding.encode(arrival.fields[name] ?? "x")
            let first = arrival.fields[name] == nil ? "&\(name)=\(value)" : ""
            for (uri, post) in [
                (arrival.callback + first + "&\(name)=\(value)", nil),
                (arrival.callback + first, "\(name)=\(value)"),
                (arrival.callback + first + "#\(name)=\(value)", nil),
            ] as [(String, String?)] {
                try await scene.refuses("INVALID_IDP_RESPONSE : Duplicate parameter: \(name)") {
                    try await scene.service.finishFlow(
                        at: uri,
                        sessionID: arrival.sessionID,
                        ["postBody": JSON(post)]
                    )
                }
            }
            try await scene.finish(arrival).expectOK()
        }
    }
}
