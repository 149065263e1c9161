import Accounts
import Delivery
import Development
import Domain
import Foundation
import IdentityService
import Postgres
import Projects
import Secrets
import SMTPClient
import Storage
import StrictJSON
import Testing
import TestKit

/// What a service does day after day must not fill its database.
@Suite("Cleanup", .database, .testProvider, .serialized)
struct CleanupTests {
    /// The audit log goes by months (``AuditPartitionTests``); names of migrations do not grow.
    private static let others: Set = ["schema_migrations"]

    private static func rows() async throws -> [String: Int64] {
        let tables = try await TestDatabase.current.client.query(
            "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' AND tablename NOT LIKE 'audit_log%'"
        ) { try $0.next(String.self) }
        var counts: [String: Int64] = [:]
        for table in tables where !others.contains(table) {
            counts[table] = try await TestDatabase.current.client.query(
                "SELECT count(*) FROM \(identifier: table)"
            ) { try $0.next(Int64.self) }.first
        }
        return counts
    }

    private static func options() throws -> TestService.Options {
        let sender = try #require(MailAddress(parsing: "App <mail@example.com>"))
        var options = PhoneScene.options {
            $0.emailEnumerationProtection = false
            $0.allowsEmailLink = true
        }
        options.limitsRates = true
        options.sendsMessages = true
        options.mailer = Mailer(from: sender) { _ throws(SMTPError) in }
        return options
    }

    /// What a working day brings, of which there is one in three: everything that leaves rows behind.
    private static func live(_ world: LinkingWorld, _ ada: TestUser, day: Int) async throws {
        let service = world.service
        let nonce = "nonce-of-day-\(day)"
        let token = try world.acme.mintIDToken(
            for: ada,
            nonce: SecureHash.sha256Hex(nonce),
            changes: IDTokenChanges(set: [
                "iat": .integer(service.clock.seconds), "exp": .integer(service.clock.seconds + 3_600),
            ])
        )
        let signedIn = try await service.signInWithIdP(
            postBody: "id_token=\(token)&providerId=oidc.acme&nonce=\(nonce)"
        )
        signedIn.expectOK()
        _ = try await service.startFlow(through: LinkingWorld.acmeID)
        try await service.call("accounts:signOut", ["idToken": JSON(signedIn.idToken)]).expectOK()
        let mail = try await service.sendCode(.passwordReset, ["email": "bob@example.com"])
        mail.expectOK()
        let link = try await service.sendCode(.emailSignIn, ["email": .string("nobody\(day)@example.com")])
        link.expectOK()
        let sms = try await service.sendSMS(to: "+49155502\(100 + day)")
        sms.expectOK()
        // A conflict that nobody resumes.
        let conflict = try await world.github(world.githubPerson("\(7_000 + day)", email: "bob@example.com"))
        #expect(conflict.pendingToken != nil, "\(conflict)")
    }

    @Test(
        "the same load day after day leaves as many rows, in every table, once the first of them have expired",
        .database,
        .timeLimit(.minutes(10))
    )
    func steadyRows() async throws {
        try await WebReceiver.run { receiver in
            var options = try Self.options()
            options.settings.delivery.sms = SMSProvider(url: receiver.baseURL, body: "%TO% %TEXT%")
            try await TestService.run(options) { service in
                let world = try await LinkingWorld(service)
                let ada = world.person()
                _ = try await service.signUp("bob@example.com")
                var seen: Set<String> = []
                var counts: [[String: Int64]] = []
                for day in 0..<14 {
                    try await Self.live(world, ada, day: day)
                    _ = try await service.assembly.deliveries.deliverDue()
                    seen.formUnion(try await Self.rows().filter { $0.value > 0 }.keys)
                    service.clock.advance(by: 3 * 86_400)
                    try await service.sweep()
                    counts.append(try await Self.rows())
                }
                // Messages that left are kept longest, for a month.
                for day in 11..<14 { #expect(counts[day] == counts[10], "day \(day)") }
                let expected: Set = [
                    "flows", "pending_credentials", "used_id_tokens", "outbox", "oob_codes", "verification_codes",
                    "rate_limits", "sessions",
                ]
                #expect(expected.isSubset(of: seen), "never filled: \(expected.subtracting(seen))")
            }
        }
    }

    @Test("a tenant that is deleted while its leftovers are swept leaves no row, in any table", .database)
    func deletedTenant() async throws {
        try await TestService.run { service in
            let configuration = service.stores.configuration
            for round in 0..<5 {
                let tenant = "gone-\(round)"
                try await TestDatabase.current.client.execute(
                    """
                    INSERT INTO tenants (project, tenant, disabled, settings, created_at)
                    VALUES (\(service.project.id.rawValue), \(tenant), false, '{}', now())
                    """
                )
                try await TestDatabase.current.client.execute(
                    """
                    INSERT INTO flows (project, state_hash, tenant, provider, session_hash, purpose, payload, created_at,
                        expires_at)
                    SELECT \(service.project.id.rawValue), sha256((\(tenant)::text || n)::bytea), \(tenant), 'oidc.x', '',
                        'signIn', '', now(), now() - (n % 2) * interval '2 days' + interval '1 day'
                    FROM generate_series(1, 3000) n
                    """
                )
                async let swept = service.sweep()
                async let deleted: Void = configuration.deleteTenant(
                    TenantID(rawValue: tenant),
                    of: service.project.id
                )
                _ = try await (swept, deleted)
                let left = try await TestDatabase.current.client.query(
                    "SELECT count(*) FROM flows WHERE tenant = \(tenant)"
                ) { try $0.next(Int64.self) }
                #expect(left == [0])
            }
        }
    }
}
