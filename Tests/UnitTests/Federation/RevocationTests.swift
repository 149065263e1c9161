import Domain
import Federation
import Projects
import Secrets
import Testing

/// A grant counts as ended when the provider says so, and by no other error.
@Suite struct RevocationTests {
    private static let ended = FederationError.codeRejected(error: "unknown_token")

    @Test(
        arguments: [
            (.status(204), nil), (.json(#"{"message":"Not Found"}"#, status: 404), ended),
            (.json(#"{"message":"Validation Failed"}"#, status: 422), .invalidAnswer(.refused)),
            (.json(#"{"message":"Bad credentials"}"#, status: 401), .invalidAnswer(.refused)),
        ] as [(ScriptedServer.Reply, FederationError?)]
    )
    func github(_ reply: ScriptedServer.Reply, _ expected: FederationError?) async throws {
        try await FederationWorld.run { world in
            world.server.on("/api/applications/client-1/grant", reply)
            #expect(await world.revoke(at: world.github()) == expected)
            let request = try #require(world.server.requests.first)
            #expect(request.method == "DELETE")
            #expect(request.body == #"{"access_token":"t0ken"}"#)
        }
    }

    @Test(
        arguments: [
            (.json(#"{"success":true}"#), nil),
            (.json(#"{"error":{"message":"Error validating access token","code":190}}"#, status: 400), ended),
            (.json(#"{"error":{"message":"Invalid token","code":190}}"#, status: 401), ended),
            (.json(#"{"error":{"message":"Limit reached","code":4}}"#, status: 400), .invalidAnswer(.refused)),
            (.json(#"{"error":{"message":"Invalid proof","code":100}}"#, status: 400), .invalidAnswer(.refused)),
        ] as [(ScriptedServer.Reply, FederationError?)]
    )
    func facebook(_ reply: ScriptedServer.Reply, _ expected: FederationError?) async throws {
        try await FederationWorld.run { world in
            world.server.on("/graph/v23.0/me/permissions", reply)
            let facebook = ProviderConfiguration(
                provider: "facebook.com",
                enabled: true,
                clientID: "client-1",
                clientSecret: Secret("s3cret"),
                overrides: #"{"variables":{"graph":"\#(world.server.base)/graph"}}"#
            )
            #expect(await world.revoke(at: facebook) == expected)
            #expect(world.server.requests.first?.headers["authorization"] == "Bearer t0ken")
        }
    }
}

extension FederationWorld {
    fileprivate func revoke(at provider: ProviderConfiguration) async -> FederationError? {
        do {
            try await service.revoke(Secret("t0ken"), isRefreshToken: false, clientID: nil, with: provider)
            return nil
        } catch {
            return error
        }
    }
}
