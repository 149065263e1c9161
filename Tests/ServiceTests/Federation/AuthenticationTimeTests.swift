import Development
import Domain
import Foundation
import Projects
import Storage
import StrictJSON
import Testing
import TestKit
import Text

/// When the person authenticated at the provider (OIDC Core §3.1.2.1, §3.1.3.7).
@Suite("Authentication times", .database, .testProvider)
struct AuthenticationTimeTests {
    typealias Kind = ProviderScene.Kind

    private static let openID = Kind.allCases.filter(\.isOpenID)
    private static let tooOld = "INVALID_IDP_RESPONSE : The authentication is too old."

    /// Reauthenticates as Ada, with changes of the ID token that the code is exchanged for.
    private static func arrive(
        _ scene: ProviderScene,
        _ parameters: JSON,
        _ changes: IDTokenChanges = .none
    ) async throws -> Arrival {
        scene.tenant.nextLogin(ScriptedLogin(scene.ada, idToken: changes))
        return try await scene.arrive(["authType": "reauthViaRedirect", "customParameter": parameters])
    }

    @Test("R-05, R-34, 4.4: with max_age the ID token says when, and that it was not too long ago", arguments: openID)
    func maxAge(_ kind: Kind) async throws {
        var options = ProviderScene.Options()
        options.definition = kind.codeAlone
        try await ProviderScene.run(kind, options) { scene in
            let user = try await scene.signIn()
            let now = scene.service.clock.seconds
            let refused: [IDTokenChanges] = [
                IDTokenChanges(remove: ["auth_time"]), IDTokenChanges(set: ["auth_time": .integer(now - 661)]),
                IDTokenChanges(set: ["auth_time": .integer(now + 600)]), IDTokenChanges(set: ["auth_time": "now"]),
                IDTokenChanges(set: ["auth_time": .null]),
            ]
            for changes in refused {
                let arrival = try await Self.arrive(scene, ["max_age": "600"], changes)
                #expect(arrival.request["max_age"] == "600")
                try await scene.refuses(Self.tooOld) { try await scene.finish(arrival) }
                try await scene.refuses(Messages.usedFlow) { try await scene.finish(arrival) }
            }
            #expect(scene.tenant.requests(.token).count == 1 + refused.count, "each code was sent once")
            let good = try await Self.arrive(
                scene,
                ["max_age": "600"],
                IDTokenChanges(set: ["auth_time": .integer(now - 600)])
            )
            #expect(try await scene.finish(good).localID == user.localID)
        }
    }

    @Test("R-04: what prompt=login asks for is believed unless the provider says that it was before", arguments: openID)
    func promptLogin(_ kind: Kind) async throws {
        var options = ProviderScene.Options()
        options.definition = kind.codeAlone
        try await ProviderScene.run(kind, options) { scene in
            let user = try await scene.signIn()
            let now = scene.service.clock.seconds
            let before = IDTokenChanges(set: ["auth_time": .integer(now - 120)])
            for prompt in ["login", "consent login"] {
                let arrival = try await Self.arrive(scene, ["prompt": .string(prompt)], before)
                try await scene.refuses(Self.tooOld) { try await scene.finish(arrival) }
            }
            for changes in [.none, IDTokenChanges(remove: ["auth_time"])] {
                let arrival = try await Self.arrive(scene, ["prompt": "login"], changes)
                #expect(try await scene.finish(arrival).localID == user.localID)
            }
            // Nobody asked.
            let arrival = try await Self.arrive(scene, ["prompt": "consent"], before)
            #expect(try await scene.finish(arrival).localID == user.localID)
        }
    }

    @Test("R-05: a definition's own max_age and prompt are kept to as well, unless the app says otherwise")
    func ofTheDefinition() async throws {
        let before = Int64(Date().timeIntervalSince1970) - 700
        for own in [["max_age": "600"], ["prompt": "login"]] as [JSONObject] {
            var options = ProviderScene.Options()
            options.definition = ["extraAuthorizationParameters": .object(own)]
            try await ProviderScene.run(.oidc, options) { scene in
                _ = try await scene.signIn()
                let old = IDTokenChanges(set: ["auth_time": .integer(before)])
                let arrival = try await Self.arrive(scene, [:], old)
                try await scene.refuses(Self.tooOld) { try await scene.finish(arrival) }
                let longer = try await Self.arrive(scene, ["max_age": "3600", "prompt": "consent"], old)
                try await scene.finish(longer).expectOK()
            }
        }
    }

    @Test(
        "R-05: max_age is refused where no ID token could show that it was kept to",
        arguments: Kind.allCases.filter { !$0.isOpenID }
    )
    func withoutIDToken(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            try await scene.refuses("INVALID_ARGUMENT : The custom parameter \"max_age\" is not allowed.") {
                try await scene.service.call(
                    "accounts:createAuthUri",
                    [
                        "providerId": .string(kind.rawValue), "continueUri": "http://localhost/callback",
                        "customParameter": ["max_age": "600"],
                    ]
                )
            }
            var configuration = scene.tenant.configuration(
                as: kind.provider,
                overrides: ["extraAuthorizationParameters": ["max_age": "600"]]
            )
            configuration.enabled = true
            try await scene.service.stores.configuration.replaceProvider(
                configuration,
                in: Scope(project: scene.service.project.id)
            )
            try await scene.refuses(
                "INVALID_CONFIG : definition.extraAuthorizationParameters.max_age must be a number of seconds, for a "
                    + "provider with ID tokens"
            ) {
                try await scene.service.call(
                    "accounts:createAuthUri",
                    ["providerId": .string(kind.rawValue), "continueUri": "http://localhost/callback"]
                )
            }
        }
    }
}
