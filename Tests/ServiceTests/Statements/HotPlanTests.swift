import Federation
import Foundation
import Linking
import Logging
import Postgres
import Projects
import Secrets
import Sessions
import Storage
import TestKit
import Testing

/// The generic plans of the hot statements, in `Sources/Storage/Hot/Plans`.
///
/// `WRITE_PLANS=1 scripts/test --filter HotPlanTests` writes them anew.
@Suite("Plans of the hot statements", .database)
struct HotPlanTests {
    private static let folder = "Sources/Storage/Hot/Plans"

    /// Each statement's name, and a text that no other prepared statement contains.
    private static let statements = [
        "refresh": "s.place, s.is_due", "lookup": "n (project, tenant, account, session, number)",
        "sign_in": "chosen AS MATERIALIZED", "sign_up": "INSERT INTO linked_credentials",
    ]

    @Test("are those of the files, and reach accounts, claims and sessions by their keys")
    func plans() async throws {
        try await TestService.run { service in
            try await service.fill(10_000)
            try await fillClaims(service)
            let database = PostgresClient(quietly: .patient(TestDatabase.current.conninfo, connections: 1))
            try await run(database, service)
            try await database.onEachConnection { connection in
                for (name, part) in Self.statements.sorted(by: { $0.key < $1.key }) {
                    try await check(name, part, connection)
                }
            }
            await database.close()
        }
    }

    /// Claims, sessions and used tokens of ``TestService/fill(_:from:)``'s accounts.
    private func fillClaims(_ service: TestService) async throws {
        let project = service.project.id.rawValue
        try await service.stores.database.execute(
            """
            WITH n AS (SELECT account FROM accounts WHERE project = \(project)), emails AS (
                INSERT INTO account_emails (project, tenant, email_key, account)
                SELECT \(project), '', account || '@example.com', account FROM n
            ), subjects AS (
                INSERT INTO credential_subjects (project, tenant, provider, subject, account, issuer)
                SELECT \(project), '', 'google.com', account, account, 'https://accounts.google.com' FROM n
            ), tokens AS (
                INSERT INTO used_id_tokens (project, token_hash, expires_at)
                SELECT \(project), sha256(account::bytea), now() FROM n
            )
            INSERT INTO sessions (project, account, session, tenant, secret_hash, auth_time, sign_in_provider, created_at,
                last_used_at)
            SELECT \(project), account, account, '', sha256(account::bytea), 0, 'google.com', now(), now() FROM n
            """
        )
        try await service.stores.database.execute("ANALYZE")
    }

    /// Runs each statement once, so that the connection has prepared it.
    private func run(_ database: PostgresClient, _ service: TestService) async throws {
        let now = Date()
        let stores = Stores(
            database: database,
            keyRing: try KeyRing(keys: TestService.encryptionKeys.get()),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            now: { now }
        )
        let scope = Scope(project: service.project.id)
        let key = SessionKey(
            project: scope.project,
            account: AccountID("00000001"),
            session: SessionID(random: .system)
        )
        _ = try await stores.sessions.refresh(
            RefreshQuestion(key: key, secretHash: [1], successor: nil, idleSince: nil, now: now)
        )
        _ = try await stores.accounts.find(key.account, session: key.session, in: scope)
        let ada = try #require(EmailAddress("ada@example.com"))
        let identity = FederatedIdentity(provider: "google.com", subject: "ada", issuer: "i", email: ada)
        let found = try await stores.accounts.candidates(for: identity, in: scope)
        #expect(found.owner == nil)
        var account = Account(id: AccountID("ada"), validSince: 0, createdAt: now)
        account.email = ada
        account.linked = [LinkedCredential(provider: "google.com", subject: "ada")]
        let session = NewSession(
            id: key.session,
            secretHash: [1],
            evidence: Evidence(newAccount: account, at: 0),
            signInProvider: "google.com"
        )
        var write = SignInWrite(
            scope: scope,
            credential: FederatedCredential(
                identity: identity,
                tokens: ProviderTokens(),
                rawUserInfo: "{}",
                federatedID: "ada"
            ),
            session: .open(session),
            now: now,
            allowsUnconfiguredProvider: true
        )
        let numbers = RateLimitSettings()
        write.limits = RateLimits(
            [.signUpsPerAddress: ["ada"]],
            settings: numbers,
            deployment: numbers,
            in: scope,
            now: now
        )
        #expect(try await stores.accounts.signUp(account, write) == .applied(validSince: 0))
    }

    private func check(_ name: String, _ part: String, _ connection: PostgresTransaction) async throws {
        let found = try await connection.query(
            """
            SELECT name, cardinality(parameter_types), current_setting('server_version_num')::int / 10000
            FROM pg_prepared_statements
            WHERE position(\(part) IN statement) > 0 AND position('pg_prepared_statements' IN statement) = 0
            """
        ) { row in (name: try row.next(String.self), count: try row.next(Int32.self), version: try row.next(Int32.self))
        }
        #expect(found.count == 1, "\(name)")
        let prepared = try #require(found.first)
        let nulls = (1..<prepared.count).reduce("NULL") { (list: SQL, _) in "\(sql: list), NULL" }
        let lines = try await connection.query(
            "EXPLAIN (COSTS OFF) EXECUTE \(identifier: prepared.name) (\(sql: nulls))"
        ) { try $0.next(String.self) }
        let scanned = lines.filter { $0.contains("Seq Scan on ") && !$0.contains("provider_configurations") }
        #expect(scanned == [], "\(name)")
        let plan = ["PostgreSQL \(prepared.version)"] + lines
        let text = plan.joined(separator: "\n") + "\n"
        let path = "\(Self.folder)/\(name).txt"
        if ProcessInfo.processInfo.environment["WRITE_PLANS"] != nil { try Repository.write(text, to: path) }
        let known = try Repository.text(path)
        // Another version of PostgreSQL may write a plan in other words.
        guard known.hasPrefix("\(plan[0])\n") else { return }
        #expect(known == text, "\(path)")
    }
}
