import Accounts
import Development
import Foundation
import IdentityService
import Linking
import Postgres
import Projects
import Secrets
import Storage
import TestKit
import Testing

/// The outbox is the database's, not a test's: one at a time.
@Suite("Grants that are ended at Apple", .database, .testProvider, .serialized)
struct GrantOutboxTests {
    private static func run(_ body: @Sendable (ProviderScene) async throws -> Void) async throws {
        try await ProviderScene.run(.apple, .init(), body)
    }

    @Test(
        "unlinking and deleting end the grant at Apple, with the refresh token",
        arguments: ["unlink", "delete", "admin"]
    )
    func endsGrant(way: String) async throws {
        try await Self.run { scene in
            let reply = try await scene.signIn()
            let granted = scene.tenant.requests(.token).count
            #expect(granted == 1)
            switch way {
            case "unlink":
                let other = try await scene.addPassword(to: reply)
                let unlinked = try await scene.service.call(
                    "accounts:update",
                    ["idToken": JSON(other.idToken), "deleteProvider": ["apple.com"]]
                )
                #expect(unlinked.status == 200, "\(unlinked)")
            case "delete":
                #expect(try await scene.service.call("accounts:delete", ["idToken": JSON(reply.idToken)]).status == 200)
            default:
                #expect(
                    try await scene.service.admin("accounts:delete", ["localId": JSON(reply.localID)]).status == 200
                )
            }
            #expect(scene.tenant.requests(.revocation).isEmpty, "it waits in the outbox")
            #expect(try await scene.service.assembly.deliveries.deliverDue() == 1)
            let request = try #require(scene.tenant.requests(.revocation).first)
            #expect(request.fields["token_type_hint"] == "refresh_token")
            #expect(request.status == 200)
            #expect(try await scene.service.assembly.deliveries.deliverDue() == 0)
            #expect(scene.tenant.requests(.revocation).count == 1)
            // For the provider it is the first time again.
            #expect(try await scene.arrive().fields["user"] != nil)
        }
    }

    @Test("a provider that is down is asked again later, and the message is sealed until then, and empty afterwards")
    func retries() async throws {
        try await Self.run { scene in
            let reply = try await scene.signIn()
            #expect(try await scene.service.call("accounts:delete", ["idToken": JSON(reply.idToken)]).status == 200)
            scene.tenant.addFault(.status(503), at: .revocation, call: 1)
            scene.tenant.addFault(.reset, at: .revocation, call: 2)
            let deliveries = scene.service.assembly.deliveries
            #expect(try await deliveries.deliverDue() == 1)
            #expect(try await deliveries.deliverDue() == 0, "not at once")
            scene.service.clock.advance(by: 11)
            let second = try await deliveries.deliverDue()
            #expect(second == 1)
            scene.service.clock.advance(by: 31)
            let third = try await deliveries.deliverDue()
            #expect(third == 1)
            #expect(scene.tenant.requests(.revocation).map(\.status).last == 200)
            scene.service.clock.advance(by: 100_000)
            #expect(try await deliveries.deliverDue() == 0)
            let payloads = try await scene.service.stores.database.query(
                "SELECT payload FROM outbox WHERE project = \(scene.service.project.id.rawValue)"
            ) {
                try $0.next([UInt8].self)
            }
            #expect(payloads == [[]])
        }
    }

    @Test(
        "a grant whose tokens are kept is ended where the provider's discovery says",
        arguments: [ProviderScene.Kind.google, .yahoo, .gitLab]
    )
    func discovered(_ kind: ProviderScene.Kind) async throws {
        var options = ProviderScene.Options()
        options.definition = ["keepTokens": true]
        try await ProviderScene.run(kind, options) { scene in
            let reply = try await scene.signIn()
            #expect(try await scene.service.call("accounts:delete", ["idToken": JSON(reply.idToken)]).status == 200)
            #expect(try await scene.service.assembly.deliveries.deliverDue() == 1)
            #expect(scene.tenant.requests(.revocation).map(\.status) == [200])
        }
    }

    @Test("a message that cannot be read any more is given up, and keeps no other from being delivered")
    func unreadable() async throws {
        try await Self.run { scene in
            let reply = try await scene.signIn()
            #expect(try await scene.service.call("accounts:delete", ["idToken": JSON(reply.idToken)]).status == 200)
            let (database, project) = (scene.service.stores.database, scene.service.project.id.rawValue)
            try await database.execute(
                """
                INSERT INTO outbox (project, message, kind, payload, next_attempt_at, created_at)
                SELECT project, 'broken', kind, 'nonsense'::bytea, next_attempt_at - interval '1 minute', created_at
                FROM outbox WHERE project = \(project)
                """
            )
            #expect(try await scene.service.assembly.deliveries.deliverDue() == 2)
            #expect(scene.tenant.requests(.revocation).map(\.status) == [200])
            let left = try await database.query(
                "SELECT abandoned_at IS NOT NULL FROM outbox WHERE project = \(project) AND message = 'broken'"
            ) { row in try row.next(Bool.self) }
            #expect(left == [true])
        }
    }

    @Test("a message whose node died is delivered by another one, after its lease")
    func survivesCrash() async throws {
        try await Self.run { scene in
            let reply = try await scene.signIn()
            #expect(try await scene.service.call("accounts:delete", ["idToken": JSON(reply.idToken)]).status == 200)
            // This node takes it and is never heard of again.
            let taken = try await scene.service.stores.outbox.take(
                limit: 16,
                lease: 120,
                now: scene.service.clock.now()
            )
            let refreshToken = try #require(scene.tenant.refreshTokens.first)
            #expect(taken.count == 1)
            let payload = try #require(taken.first?.payload)
            #expect(String(decoding: payload, as: UTF8.self).contains(refreshToken))
            let deliveries = scene.service.assembly.deliveries
            #expect(try await deliveries.deliverDue() == 0)
            scene.service.clock.advance(by: 121)
            #expect(try await deliveries.deliverDue() == 1)
            #expect(scene.tenant.requests(.revocation).count == 1)
        }
    }
}
