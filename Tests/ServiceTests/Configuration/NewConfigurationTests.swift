import Foundation
import Projects
import Storage
import TestKit
import Testing

/// What was made on one node a moment ago, asked for at another, which has not looked at the database since.
@Suite("What was just made is there on every node", .database)
struct NewConfigurationTests {
    private func project(_ service: TestService) throws -> ProjectID {
        try #require(ProjectID(rawValue: "other-\(service.project.id.rawValue.suffix(12))"))
    }

    private func signUp(_ key: String, _ service: TestService) async throws -> Reply {
        let body = #"{"email":"ada@example.com","password":"correct horse"}"#
        return try await service.post("/v1/accounts:signUp?key=\(key)", text: body)
    }

    @Test("a project, its number and its key")
    func projects() async throws {
        try await TestService.runPair { first, second in
            let made = first.stores.configuration
            let id = try project(first)
            var settings = ProjectSettings()
            settings.passwordSignIn = true
            let project = try await made.createProject(id, settings: settings)
            for name in [id.rawValue, "\(project.number.rawValue)"] {
                let reply = try await second.send(
                    "GET",
                    "/v2/projects/\(name)/config",
                    headers: [("Authorization", "Bearer \(second.adminToken)")]
                )
                reply.expectOK()
            }
            let key = try await made.createAPIKey(for: id, displayName: nil)
            let reply = try await signUp(key.rawValue, second)
            #expect(reply.status == 200 && reply.claims["aud"]?.string == id.rawValue, "\(reply)")
        }
    }

    @Test("in dev, a key that was just made means its project, and any other key the first one")
    func keysInDevelopment() async throws {
        var options = TestService.Options()
        options.development = true
        options.settings = .development
        try await TestService.runPair(options) { first, second in
            let id = try project(first)
            _ = try await first.stores.configuration.createProject(id, settings: .development)
            let key = try await first.stores.configuration.createAPIKey(for: id, displayName: nil)
            #expect(try await signUp(key.rawValue, second).claims["aud"]?.string == id.rawValue)
            #expect(try await signUp("any", second).claims["aud"]?.string == second.project.id.rawValue)
        }
    }

    @Test("a service account's key: its custom tokens, its assertions, and what it signs itself")
    func serviceAccounts() async throws {
        try await TestService.runPair { first, second in
            let now = first.clock.seconds
            for number in 0..<3 {
                let account = try await TestServiceAccount.register(
                    in: first.project.id,
                    name: "account-\(number)",
                    scopes: Set(AdminScope.allCases),
                    first.stores.configuration
                )
                var payload = account.payload(uid: "person-\(number)", at: now)
                switch number {
                case 0:
                    let body: JSON = ["token": .string(try account.sign(payload))]
                    try await second.call("accounts:signInWithCustomToken", body).expectOK()
                case 1:
                    (payload["uid"], payload["aud"]) = (nil, "https://oauth2.googleapis.com/token")
                    let body: JSON = [
                        "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
                        "assertion": .string(try account.sign(payload)),
                    ]
                    try await second.post("/token", text: body.text).expectOK()
                default:
                    (payload["uid"], payload["aud"]) = (nil, "https://identitytoolkit.googleapis.com/")
                    let reply = try await second.send(
                        "GET",
                        "/v1/projects/\(second.project.id)/accounts:batchGet",
                        headers: [("Authorization", "Bearer \(try account.sign(payload))")]
                    )
                    reply.expectOK()
                }
            }
        }
    }

    @Test("T-E8: who asks for what nobody made costs few looks at the database each second, fewer from one network")
    func unknown() async throws {
        try await TestService.run { service in
            let configuration = service.stores.configuration
            func looks(_ network: @Sendable (Int) -> String?) async -> Int {
                var asked = 0
                for number in 0..<30 {
                    _ = await configuration.findingNew(from: network(number)) { () -> Int? in
                        asked += 1
                        return nil
                    }
                }
                return asked - 30
            }
            let first = await looks { _ in "198.51.100.0" }
            #expect(first == 5)
            let others = await looks { "198.51.\($0).0" }
            #expect(others == 15)
            service.clock.advance(by: 1)
            let later = await looks { _ in nil }
            #expect(later == 5)
        }
    }
}
