import Foundation
import Postgres
import Projects
import Storage
import TestKit
import Testing

/// A database that was restored, or a server that took over without the last commits.
@Suite("Configuration that goes back")
struct LostConfigurationTests {
    private func signUp(_ key: APIKey, _ service: TestService) async throws -> Reply {
        try await service.post("/v1/accounts:signUp?key=\(key.rawValue)", text: #"{"returnSecureToken":true}"#)
    }

    // Each number has its own database: a service of another sets the version too.
    @Test(
        "what was revoked after a loss is refused by a node that knew more, whatever the number is by now",
        .database,
        arguments: [0, 1, 2, 1_000_000]
    )
    func revokedAfterwards(_ less: Int64) async throws {
        var options = TestService.Options()
        options.settings.anonymousSignIn = true
        try await TestService.runPair(options) { first, second in
            let made = first.stores.configuration
            let key = try await made.createAPIKey(for: first.project.id, displayName: nil)
            let lost = try await made.createAPIKey(for: first.project.id, displayName: nil)
            let known = second.stores.configuration
            try await known.refresh()
            for key in [key, lost] { #expect(try await signUp(key, second).status == 200) }
            let (losses, number) = (known.losses, known.snapshot.version.number)
            // The last change is lost, and others follow.
            let database = TestDatabase.current.client
            try await database.transaction { transaction in
                try await transaction.execute("DELETE FROM api_keys WHERE key = \(lost.rawValue)")
                try await transaction.execute("UPDATE api_keys SET revoked_at = now() WHERE key = \(key.rawValue)")
                try await transaction.execute(
                    "UPDATE configuration SET version = \(max(0, number - less)), epoch = gen_random_uuid()::text"
                )
            }
            try await known.refresh()
            for key in [key, lost] {
                let reply = try await signUp(key, second)
                #expect(reply.status == 400 || reply.status == 403, "\(reply)")
            }
            #expect(known.losses == losses + 1)
            #expect(try await MetricsPage(second).values["identity_configuration_losses_total"] == Double(losses + 1))
            // It goes on from there.
            let next = try await made.createAPIKey(for: first.project.id, displayName: nil)
            try await known.refresh()
            try await signUp(next, second).expectOK()
        }
    }
}
