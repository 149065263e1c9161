import Development
import Domain
import Foundation
import Outbound
import Projects
import Storage
import Testing
import TestKit

@Suite("Providers of several projects", .database, .timeLimit(.minutes(10)))
struct ProviderShareTests {
    /// What an app can have a provider asked for.
    enum Call: String, CaseIterable {
        case codeExchange = "/token"
        case requestToken = "/request_token"
        case revocation = "/revoke"
    }

    @Test("T-E11: a provider that hangs holds no more than its project's share of the host", arguments: Call.allCases)
    func shares(_ call: Call) async throws {
        try await WebReceiver.run { receiver in
            let gate = TestGate()
            receiver.answer { request in
                if request.path == call.rawValue { await gate.pass() }
                return (200, "{}")
            }
            defer { gate.open() }
            var options = TestService.Options()
            options.outboundLimits.requestsPerHost = 8
            options.outboundLimits.requestsPerShare = 2
            try await TestService.run(options) { service in
                let work = try await prepare(call, at: receiver.baseURL, service)
                try await withThrowingTaskGroup(of: Reply.self) { group in
                    for number in 0..<12 { group.addTask { try await work(number) } }
                    await gate.reached(by: 2)
                    // The others find the share taken.
                    for _ in 0..<10 { #expect(try await group.next()?.status != 200) }
                    #expect(receiver.received.count { $0.path == call.rawValue } == 2)
                    gate.open()
                    try await group.waitForAll()
                }
            }
        }
    }

    /// The request of an app that makes the service call the provider, as often as the app likes.
    private func prepare(
        _ call: Call,
        at host: String,
        _ service: TestService
    ) async throws -> @Sendable (Int) async throws -> Reply {
        let id: ProviderID = call == .requestToken ? "twitter.com" : "oauth.acme"
        var definition: JSON = ["endpoints": ["requestToken": .string("\(host)/request_token")]]
        if call != .requestToken {
            definition = [
                "endpoints": [
                    "authorization": .string("\(host)/authorize"), "token": .string("\(host)/token"),
                    "revocation": .string("\(host)/revoke"),
                ],
                "profile": [["url": .string("\(host)/me")]], "claims": ["subject": ["id"]],
                "revocation": ["style": "standard"],
            ]
        }
        let parent = call == .requestToken ? "defaultSupportedIdpConfigs?idpId=" : "oauthIdpConfigs?oauthIdpConfigId="
        let made = try await service.admin(
            "\(parent)\(id.rawValue)",
            ["enabled": true, "clientId": "app", "clientSecret": "s3cret", "definition": definition],
            version: "v2"
        )
        made.expectOK()
        switch call {
        case .requestToken:
            return { _ in
                try await service.call(
                    "accounts:createAuthUri",
                    ["providerId": .string(id.rawValue), "continueUri": "http://localhost/cb"]
                )
            }
        case .codeExchange:
            var flows: [TestService.StartedFlow] = []
            for _ in 0..<12 { flows.append(try await service.startFlow(through: id)) }
            return { [flows] number in
                let state = URLComponents(string: flows[number].authURI)?.queryItems?.first { $0.name == "state" }
                return try await service.finishFlow(
                    at: "http://localhost/callback?code=c&state=\(state?.value ?? "")",
                    sessionID: flows[number].sessionID
                )
            }
        case .revocation:
            try await service.upload([
                "localId": "ada", "email": "ada@example.com", "rawPassword": "correct horse",
                "providerUserInfo": [["providerId": .string(id.rawValue), "rawId": "1"]],
            ])
            let user = try await service.signInWithPassword("ada@example.com")
            return { _ in
                let body: JSON = [
                    "idToken": JSON(user.idToken), "providerId": .string(id.rawValue), "tokenType": "REFRESH_TOKEN",
                    "token": "r",
                ]
                return try await service.post("/v2/accounts:revokeToken?key=\(service.apiKey)", text: body.text)
            }
        }
    }
}
