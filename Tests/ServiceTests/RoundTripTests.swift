import Development
import Domain
import Postgres
import Storage
import Testing
import TestKit

/// Round trips to PostgreSQL: the budget of the operations that apps call all the time.
@Suite("Round trips to the database", .database, .testProvider, .serialized)
struct RoundTripTests {
    /// One connection, which has been used before, so that only the operation itself counts.
    private func run(_ body: @Sendable (TestService) async throws -> Void) async throws {
        var options = TestService.Options()
        options.connections = 1
        try await TestService.run(options, body)
    }

    /// How often `operation` waits for the database.
    private func waits<R>(
        _ service: TestService,
        _ operation: () async throws -> R
    ) async throws -> (count: Int, result: R) {
        let before = service.stores.database.load.roundTrips
        let result = try await operation()
        return (service.stores.database.load.roundTrips - before, result)
    }

    private func tenant(of service: TestService) async throws -> TestTenant {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        tenant.addClient("client", secrets: ["secret"], redirects: .anyLocal)
        try await service.configure(tenant.configuration(as: "oidc.acme"))
        // Reads the provider's discovery document and keys, and every statement's plan.
        _ = try await signIn(user("warm", of: tenant), at: tenant, service)
        tenant.everyLogin(user("warmer", of: tenant))
        _ = try await service.signIn(through: "oidc.acme")
        return tenant
    }

    private func user(_ subject: String, of tenant: TestTenant) -> TestUser {
        tenant.addUser(TestUser(subject, email: "\(subject)@example.com", emailVerified: true, name: "Ada"))
    }

    /// With an ID token that the app got itself.
    private func signIn(_ user: TestUser, at tenant: TestTenant, _ service: TestService) async throws -> Reply {
        let token = try tenant.mintIDToken(for: user)
        return try await service.signInWithIdP(postBody: "id_token=\(token)&providerId=oidc.acme")
    }

    @Test("a refresh takes one, and so does a lookup")
    func refreshAndLookup() async throws {
        try await run { service in
            let account = try await service.signUp("refresh@example.com")
            _ = try await service.refresh(account.refreshToken)
            let (refresh, refreshed) = try await waits(service) {
                try await service.refresh(account.refreshToken)
            }
            refreshed.expectOK()
            #expect(refresh == 1)
            _ = try await service.lookUp(account.idToken)
            let (lookup, found) = try await waits(service) { try await service.lookUp(account.idToken) }
            found.expectOK()
            #expect(lookup == 1)
        }
    }

    @Test("a sign-in of a known identity takes one, a first one two")
    func native() async throws {
        try await run { service in
            let tenant = try await tenant(of: service)
            let user = user("native", of: tenant)
            let (first, made) = try await waits(service) { try await signIn(user, at: tenant, service) }
            #expect(made["isNewUser"] == true, "\(made)")
            #expect(first == 2)
            let (second, known) = try await waits(service) { try await signIn(user, at: tenant, service) }
            #expect(known.status == 200 && known.localID == made.localID, "\(known)")
            #expect(second == 1)
        }
    }

    @Test("an account without an email: one, and two more for the sign-in whose email it and its identity take")
    func takesEmail() async throws {
        try await run { service in
            let tenant = try await tenant(of: service)
            let nameless = tenant.addUser(TestUser("plain", name: "Ada"))
            let made = try await signIn(nameless, at: tenant, service)
            #expect(made["isNewUser"] == true && made.claims["email"] == nil, "\(made)")
            let named = user("plain", of: tenant)
            for (user, budget, email) in [
                (nameless, 1, nil), (named, 3, "plain@example.com"), (named, 1, "plain@example.com"),
            ] as [(TestUser, Int, String?)] {
                let (count, known) = try await waits(service) { try await signIn(user, at: tenant, service) }
                #expect(known.localID == made.localID && known.claims["email"]?.string == email, "\(known)")
                #expect(count == budget)
            }
        }
    }

    @Test("one more where a flow is consumed")
    func flow() async throws {
        try await run { service in
            let tenant = try await tenant(of: service)
            tenant.everyLogin(user("flow", of: tenant))
            for (isNew, budget) in [(true, 3), (false, 2)] {
                let flow = try await service.startFlow(through: "oidc.acme")
                let callback = "http://localhost/callback"
                let visit = try await ScriptedBrowser().open(flow.authURI, until: [callback])
                let (count, reply) = try await waits(service) {
                    try await service.finishFlow(at: visit.url, sessionID: flow.sessionID)
                }
                #expect(reply.status == 200 && (reply["isNewUser"] == true) == isNew, "\(reply)")
                #expect((1...budget).contains(count))
            }
        }
    }
}
