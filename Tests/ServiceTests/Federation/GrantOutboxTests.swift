import Accounts
import Delivery
import Development
import Domain
import Foundation
import IdentityService
import Postgres
import Projects
import Secrets
import Storage
import StrictJSON
import Testing
import TestKit
import Text

/// The outbox is the database's, not a test's: one at a time.
@Suite("What waits in the outbox", .database, .testProvider, .serialized)
struct GrantOutboxTests {
    private static let keepingTokens: ProviderScene.Options = {
        var options = ProviderScene.Options()
        options.definition = ["keepTokens": true]
        return options
    }()

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
                unlinked.expectOK()
            case "delete":
                try await scene.service.call("accounts:delete", ["idToken": JSON(reply.idToken)]).expectOK()
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
            try await scene.service.call("accounts:delete", ["idToken": JSON(reply.idToken)]).expectOK()
            scene.tenant.addFault(.status(503), at: .revocation, call: 1)
            scene.tenant.addFault(.reset, at: .revocation, call: 2)
            let deliveries = scene.service.assembly.deliveries
            #expect(try await deliveries.deliverDue() == 1)
            #expect(try await deliveries.deliverDue() == 0, "not at once")
            scene.service.clock.advance(by: 11)
            let second = try await deliveries.deliverDue()
            #expect(second == 1)
            scene.service.clock.advance(by: 33)
            let third = try await deliveries.deliverDue()
            #expect(third == 1)
            #expect(scene.tenant.requests(.revocation).map(\.status).last == 200)
            scene.service.clock.advance(by: 100_000)
            #expect(try await deliveries.deliverDue() == 0)
            #expect(try await scene.messages().map(\.payload) == [[]])
        }
    }

    @Test(
        "a late revocation does not end what the person granted anew, by whatever account",
        arguments: [ProviderScene.Kind.apple, .google, .discord]
    )
    func relinked(_ kind: ProviderScene.Kind) async throws {
        try await ProviderScene.run(kind, kind == .apple ? .init() : Self.keepingTokens) { scene in
            let deliveries = scene.service.assembly.deliveries
            let first = try await scene.signIn()
            try await scene.service.call("accounts:delete", ["idToken": JSON(first.idToken)]).expectOK()
            scene.tenant.addFault(.status(503), at: .revocation)
            #expect(try await deliveries.deliverDue() == 1)
            // Somebody else does not count.
            scene.tenant.nextLogin(scene.addGrace())
            _ = try await scene.signIn()
            let second = try await scene.signIn()
            #expect(second.localID != first.localID)
            scene.service.clock.advance(by: 11)
            #expect(try await deliveries.deliverDue() == 1)
            #expect(scene.tenant.requests(.revocation).map(\.status) == [503])
            #expect(try await scene.messages().map(\.isOver) == [true])

            try await scene.service.call("accounts:delete", ["idToken": JSON(second.idToken)]).expectOK()
            #expect(try await deliveries.deliverDue() == 1)
            #expect(scene.tenant.requests(.revocation).map(\.status) == [503, 200])
        }
    }

    @Test("S6: who loses an identity to the next holder of the address loses the grant that came with it, alone")
    func recycled() async throws {
        try await ProviderScene.run(.google, Self.keepingTokens) { scene in
            let first = try await scene.signIn()
            let old = try #require(scene.tenant.refreshTokens.first)
            var next = scene.addGrace()
            next.email = scene.ada.email
            scene.tenant.nextLogin(scene.tenant.addUser(next))
            let second = try await scene.signIn()
            #expect(second.localID == first.localID)
            #expect(second["emailRecycled"] == true)
            #expect(try await scene.service.assembly.deliveries.deliverDue() == 1)
            #expect(scene.tenant.requests(.revocation).map { $0.fields["token"] } == [old])
            #expect(scene.tenant.refreshTokens.count == 1 && !scene.tenant.refreshTokens.contains(old))
        }
    }

    @Test("S7: the grants of an account that is taken over end with its links")
    func takenOver() async throws {
        try await ProviderScene.run(.gitLab, Self.keepingTokens) { scene in
            let first = try await scene.signIn()
            let acme = try await TestProvider.tenant(.genericOIDC)
            acme.addClient("client", secrets: ["secret"], redirects: .anyLocal)
            try await scene.service.configure(acme.configuration(as: "oidc.acme"))
            let owner = acme.addUser(TestUser("R", email: scene.ada.email, emailVerified: true, name: "Ada"))
            let second = try await scene.signIn(idToken: acme.mintIDToken(for: owner), provider: "oidc.acme")
            #expect(second.localID == first.localID)
            #expect(try await scene.service.account(first.localID)?.providers == ["oidc.acme"])
            #expect(try await scene.service.assembly.deliveries.deliverDue() == 1)
            #expect(scene.tenant.requests(.revocation).map(\.status) == [200])
            #expect(scene.tenant.refreshTokens.isEmpty)
        }
    }

    @Test(
        "finished messages are swept a month later; waiting ones stay until the emulator deletes all accounts",
        .database
    )
    func sweeps() async throws {
        try await Self.run { scene in
            let clock = scene.service.clock
            let first = try await scene.signIn()
            try await scene.service.call("accounts:delete", ["idToken": JSON(first.idToken)]).expectOK()
            #expect(try await scene.service.assembly.deliveries.deliverDue() == 1)
            let second = try await scene.signIn()
            try await scene.service.call("accounts:delete", ["idToken": JSON(second.idToken)]).expectOK()
            clock.advance(by: 29 * 86_400)
            try await scene.service.sweep()
            #expect(try await scene.messages().map(\.isOver).sorted { $0 && !$1 } == [true, false])
            clock.advance(by: 2 * 86_400)
            try await scene.service.sweep()
            #expect(try await scene.messages().map(\.isOver) == [false])
            let scope = Scope(project: scene.service.project.id)
            try await scene.service.stores.accounts.deleteAll(in: scope)
            #expect(try await scene.messages().isEmpty)
            #expect(try await scene.service.assembly.deliveries.deliverDue() == 0)
        }
    }

    @Test(
        "a grant whose tokens are kept is ended where the provider's discovery says",
        arguments: [ProviderScene.Kind.google, .yahoo, .gitLab]
    )
    func discovered(_ kind: ProviderScene.Kind) async throws {
        try await ProviderScene.run(kind, Self.keepingTokens) { scene in
            let reply = try await scene.signIn()
            try await scene.service.call("accounts:delete", ["idToken": JSON(reply.idToken)]).expectOK()
            #expect(try await scene.service.assembly.deliveries.deliverDue() == 1)
            #expect(scene.tenant.requests(.revocation).map(\.status) == [200])
        }
    }

    // MARK: Tokens that are kept no more

    @Test("a provider that keeps tokens no more forgets them, and so does one that is removed")
    func forgets() async throws {
        let path = "oauthIdpConfigs/oidc.acme"
        for removes in [false, true] {
            try await ProviderScene.run(.oidc, Self.keepingTokens) { scene in
                let user = try await scene.signIn()
                #expect(try await scene.keptTokens() == 2)
                let shown = try await scene.service.admin(path, version: "v2")
                var definition = try #require(shown["definition"]?.object)
                #expect(definition["keepTokens"] == true)
                definition["displayName"] = "Acme"
                let kept = try await scene.service.admin(
                    path + "?updateMask=definition",
                    ["definition": .object(definition)],
                    method: "PATCH",
                    version: "v2"
                )
                kept.expectOK()
                #expect(try await scene.keptTokens() == 2)
                definition["keepTokens"] = nil
                let changed = try await scene.service.admin(
                    removes ? path : path + "?updateMask=definition",
                    removes ? nil : ["definition": .object(definition)],
                    method: removes ? "DELETE" : "PATCH",
                    version: "v2"
                )
                changed.expectOK()
                let deliveries = scene.service.assembly.deliveries
                try await deliveries.deliverDue()
                #expect(try await scene.keptTokens() == 2, "sign-ins from before may be under way")
                scene.service.clock.advance(by: 61)
                try await deliveries.deliverDue()
                #expect(try await scene.keptTokens() == 0)
                #expect(try await scene.service.account(user.localID)?.providers == ["oidc.acme"])
            }
        }
    }

    @Test("tokens of thousands are forgotten in parts, which any node goes on with")
    func forgetsInParts() async throws {
        try await ProviderScene.run(.oidc, Self.keepingTokens) { scene in
            let user = try await scene.signIn()
            let project = scene.service.project.id.rawValue
            try await scene.service.stores.database.execute(
                """
                INSERT INTO linked_credentials (project, account, provider, tenant, subject, tokens, linked_at, updated_at)
                SELECT project, 'more-' || n, provider, tenant, 'more-' || n, tokens, linked_at, updated_at
                FROM linked_credentials, generate_series(1, 2100) n
                WHERE project = \(project) AND account = \(user.localID)
                """
            )
            let removed = try await scene.service.admin("oauthIdpConfigs/oidc.acme", method: "DELETE", version: "v2")
            removed.expectOK()
            scene.service.clock.advance(by: 61)
            // A node that takes it and dies.
            let outbox = scene.service.stores.outbox
            let taken = try await outbox.take(
                [ForgottenTokens.kind],
                limit: 1,
                lease: 120,
                now: scene.service.clock.current
            )
            #expect(taken.count == 1)
            scene.service.clock.advance(by: 121)
            let parts = try await scene.service.assembly.deliveries.deliverDue()
            #expect(parts == 3)
            #expect(try await scene.keptTokens() == 0)
        }
    }

    @Test("tokens that a configuration keeps again by the time they would go stay")
    func keepsAgain() async throws {
        let path = "oauthIdpConfigs/oidc.acme?updateMask=definition"
        try await ProviderScene.run(.oidc, Self.keepingTokens) { scene in
            _ = try await scene.signIn()
            let shown = try await scene.service.admin("oauthIdpConfigs/oidc.acme", version: "v2")
            var definition = try #require(shown["definition"]?.object)
            for keeps in [nil, true] as [JSON?] {
                definition["keepTokens"] = keeps
                let body: JSON = ["definition": .object(definition)]
                let changed = try await scene.service.admin(path, body, method: "PATCH", version: "v2")
                changed.expectOK()
            }
            scene.service.clock.advance(by: 61)
            #expect(try await scene.service.assembly.deliveries.deliverDue() == 2)
            #expect(try await scene.keptTokens() == 2)
        }
    }

    @Test("T-D32: users' tokens are not sent elsewhere by an admin who moves the provider, or removes and adds it")
    func moves() async throws {
        let path = "oauthIdpConfigs/oidc.acme"
        try await ProviderScene.run(.oidc, Self.keepingTokens) { scene in
            let service = scene.service
            let secret = JSON(ProviderScene.clientSecret)
            let deliveries = service.assembly.deliveries
            func change(_ mask: String, _ body: JSON) async throws -> Reply {
                try await service.admin("\(path)?updateMask=\(mask)", body, method: "PATCH", version: "v2")
            }
            let shown = try await service.admin(path, version: "v2")
            let new: JSON = ["issuer": "https://elsewhere.example", "clientSecret": secret]
            _ = try await scene.signIn()
            #expect(try await change("issuer,clientSecret", new).status == 400)
            #expect(
                try await change(
                    "definition.endpoints.revocation",
                    [
                        "definition": ["endpoints": ["revocation": "https://elsewhere.example/revoke"]]
                    ]
                ).status == 400
            )
            try await service.admin(path, method: "DELETE", version: "v2").expectOK()
            let again: JSON = ["issuer": "https://elsewhere.example", "clientId": "client", "clientSecret": secret]
            let create = "oauthIdpConfigs?oauthIdpConfigId=oidc.acme"
            #expect(try await service.admin(create, again, version: "v2").status == 400)
            #expect(try await scene.keptTokens() == 2)

            service.clock.advance(by: 61)
            try await deliveries.deliverDue()
            #expect(try await scene.keptTokens() == 0)
            let old: JSON = try [
                "enabled": true, "clientId": "client", "clientSecret": secret,
                "issuer": #require(shown["issuer"]), "definition": #require(shown["definition"]),
            ]
            try await service.admin(create, old, version: "v2").expectOK()
            // A revocation that waits goes nowhere else either.
            let user = try await scene.signIn()
            try await service.call("accounts:delete", ["idToken": JSON(user.idToken)]).expectOK()
            let moved = try await change("issuer,clientSecret", new)
            moved.expectOK()
            let waiting = try await service.stores.database.query(
                """
                SELECT kind FROM outbox WHERE project = \(service.project.id.rawValue)
                    AND delivered_at IS NULL AND abandoned_at IS NULL
                """
            ) { try $0.next(String.self) }
            #expect(!waiting.contains(ProviderRevocation.kind))
            service.clock.advance(by: 61)
            try await deliveries.deliverDue()
        }
    }

    // MARK: Messages

    @Test("a message that cannot be read any more is given up, and keeps no other from being delivered")
    func unreadable() async throws {
        try await Self.run { scene in
            let reply = try await scene.signIn()
            try await scene.service.call("accounts:delete", ["idToken": JSON(reply.idToken)]).expectOK()
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
            try await scene.service.call("accounts:delete", ["idToken": JSON(reply.idToken)]).expectOK()
            // This node takes it and is never heard of again.
            let taken = try await scene.service.stores.outbox.take(
                [ProviderRevocation.kind],
                limit: 16,
                lease: 120,
                now: scene.service.clock.now()
            )
            let refreshToken = try #require(scene.tenant.refreshTokens.first)
            #expect(taken.count == 1)
            let payload = try #require(taken.first).payload.get()
            #expect(String(decoding: payload, as: UTF8.self).contains(refreshToken))
            let deliveries = scene.service.assembly.deliveries
            #expect(try await deliveries.deliverDue() == 0)
            scene.service.clock.advance(by: 121)
            #expect(try await deliveries.deliverDue() == 1)
            #expect(scene.tenant.requests(.revocation).count == 1)
        }
    }
}

extension ProviderScene {
    /// The columns of linked credentials that hold tokens.
    fileprivate func keptTokens() async throws -> Int64? {
        try await service.stores.database.query(
            """
            SELECT count(tokens) + count(refresh_token) FROM linked_credentials
            WHERE project = \(service.project.id.rawValue)
            """
        ) { row in try row.next(Int64.self) }.first
    }

    /// The outbox.
    fileprivate func messages() async throws -> [(payload: [UInt8], isOver: Bool)] {
        try await service.stores.database.query(
            """
            SELECT payload, delivered_at IS NOT NULL OR abandoned_at IS NOT NULL FROM outbox
            WHERE project = \(service.project.id.rawValue)
            """
        ) { row in (try row.next(), try row.next()) }
    }
}
