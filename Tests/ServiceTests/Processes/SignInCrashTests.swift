import Development
import Domain
import Foundation
import Postgres
import Projects
import Secrets
import Testing
import TestKit
import Text

/// `identity dev` with a provider of this process, killed in the middle of a sign-in.
@Suite("A crash in the middle of a sign-in", .testProvider, .timeLimit(.minutes(10)))
struct SignInCrashTests {
    @Test(
        "R-67, T-B10: killed between exchange and commit: no half account, and Apple's name is there at the next sign-in"
    )
    func losesNothing() async throws {
        let tenant = try await TestProvider.tenant(.apple)
        tenant.addClient(redirects: .anyLocal)
        let ada = tenant.addUser(TestUser("001.ada", email: "ada@example.com", givenName: "Ada"))
        tenant.everyLogin(ada)
        try await withTemporaryFolder { data in
            try await IdentityProgram.dev("--data", data) { program, service in
                try await configure(tenant, at: service)
                let arrival = try await arrive(at: service)
                #expect(arrival.posted["user"] != nil)
                let conninfo = try String(contentsOfFile: data + "/conninfo", encoding: .utf8)
                let client = PostgresClient(quietly: .patient(conninfo, connections: 2))
                // Nothing can be written to accounts until the process is dead.
                try? await client.transaction { transaction in
                    try await transaction.execute("LOCK TABLE accounts IN EXCLUSIVE MODE")
                    let finishing = Task { try await finish(arrival, at: service) }
                    try await waitUntil {
                        try await !client.query("SELECT true FROM pg_locks WHERE NOT granted LIMIT 1") {
                            try $0.next(Bool.self)
                        }.isEmpty
                    }
                    #expect(tenant.requests(.token).map(\.status) == [200], "Apple has answered")
                    program.crash()
                    await #expect(throws: (any Error).self) { try await finishing.value }
                }
                await client.close()
                _ = await program.result()
            }
            try await IdentityProgram.dev("--data", data) { _, service in
                let nobody = try await service.admin("accounts:lookup", ["email": ["ada@example.com"]])
                #expect(nobody["users"] == nil)
                let arrival = try await arrive(at: service)
                #expect(arrival.posted["user"] == nil, "Apple says it once")
                let reply = try await finish(arrival, at: service)
                reply.expectOK()
                #expect(reply["isNewUser"] == true)
                #expect(reply["displayName"] == "Ada")
                #expect(tenant.requests(.token).count == 2, "no code went there twice")
                #expect(tenant.violations.isEmpty)
            }
        }
    }

    private struct Arrival: Sendable {
        var posted: FormFields
        var sessionID: String
    }

    private static let callback = "http://localhost/callback"

    private func configure(_ tenant: TestTenant, at service: RemoteService) async throws {
        let configuration = tenant.configuration(as: .apple)
        let definition = try JSON(parsing: Array((configuration.overrides ?? "{}").utf8))
        let reply = try await service.admin(
            "defaultSupportedIdpConfigs?idpId=apple.com",
            [
                "enabled": true, "clientId": .string(configuration.clientID),
                "clientSecret": JSON(configuration.clientSecret?.reveal()), "definition": definition,
            ],
            version: "v2"
        )
        reply.expectOK()
    }

    private func arrive(at service: RemoteService) async throws -> Arrival {
        let start = try await service.call(
            "accounts:createAuthUri",
            ["providerId": "apple.com", "continueUri": .string(Self.callback)]
        )
        let authURI = try #require(start["authUri"]?.string, "\(start)")
        let visit = try await ScriptedBrowser().open(authURI, until: [Self.callback])
        return Arrival(posted: try #require(visit.posted), sessionID: try #require(start["sessionId"]?.string))
    }

    private func finish(_ arrival: Arrival, at service: RemoteService) async throws -> Reply {
        try await service.call(
            "accounts:signInWithIdp",
            [
                "requestUri": .string(Self.callback), "postBody": .string(arrival.posted.text),
                "sessionId": .string(arrival.sessionID), "returnSecureToken": true,
            ]
        )
    }
}
