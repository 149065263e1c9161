import Domain
import Federation
import Foundation
import Logging
import OAuth
import Postgres
import Projects
import Secrets
import Sessions
import Storage
import Testing
import TestKit

/// The generic plans of the hot statements, in `Sources/Storage/Batches/Plans`.
///
/// `WRITE_PLANS=1 scripts/test --filter HotPlanTests` writes them anew.
@Suite("Plans of the hot statements", .database)
struct HotPlanTests {
    private static let folder = "Sources/Storage/Batches/Plans"

    /// Each statement's name, and a text that no other prepared statement contains.
    private static let statements = [
        "refresh": "s.place, s.is_due", "lookup": "n (project, tenant, account, session, number)",
        "sign_in": "chosen AS MATERIALIZED", "sign_up": "INSERT INTO linked_credentials",
        "browser": "n (project, tenant, account, session, hash, asking, idle_since, number)",
        "grant": "FOR KEY SHARE SKIP LOCKED", "list": "last AS MATERIALIZED",
    ]

    @Test("are those of the files, and reach accounts, claims and sessions by their keys")
    func plans() async throws {
        try await TestService.run { service in
            try await fill(service.stores.database, service.project.id, 10_000)
            try await service.stores.database.execute("ANALYZE")
            try await checkEach(TestDatabase.current.conninfo, service.project.id) { name, lines, version in
                let plan = ["PostgreSQL \(version)"] + lines
                let text = plan.joined(separator: "\n") + "\n"
                let path = "\(Self.folder)/\(name).txt"
                if ProcessInfo.processInfo.environment["WRITE_PLANS"] != nil { try Repository.write(text, to: path) }
                let known = try Repository.text(path)
                // Another version of PostgreSQL may write a plan in other words.
                guard known.hasPrefix("\(plan[0])\n") else { return }
                #expect(known == text, "\(path)")
            }
        }
    }

    /// What the planner knew of the tables when the statements were planned.
    ///
    /// Not tables that were analyzed while they were empty: updates of the statements may then read a whole index, until
    /// ``TableStatistics`` or autovacuum analyzes the tables.
    enum Knowledge: CaseIterable {
        case nothing, small
    }

    @Test(
        "reach the same rows by the same keys, whatever was known when they were planned",
        arguments: Knowledge.allCases
    )
    func early(_ knowledge: Knowledge) async throws {
        try await TestDatabase.withAnother { conninfo in
            var options = TestService.Options()
            options.conninfo = conninfo
            try await TestService.run(options) { service in
                let (database, project) = (service.stores.database, service.project.id)
                if knowledge == .small { try await fill(database, project, 50) }
                if knowledge != .nothing { try await database.execute("ANALYZE") }
                // A node's role need not own the tables.
                try await TestDatabase.withServiceRole(database) { role in
                    try await checkEach(
                        "\(conninfo) options='-c role=\(role)'",
                        project,
                        before: { try await fill(database, project, 10_000, from: 51) }
                    ) { name, lines, _ in
                        let known = try Repository.text("\(Self.folder)/\(name).txt").split(separator: "\n")
                            .map(String.init)
                        #expect(Self.reads(lines) == Self.reads(known), "\(name): \(lines.joined(separator: "\n"))")
                    }
                }
            }
        }
    }

    /// How a plan reads tables: each scan with its condition, but for a project's few hash configurations.
    private static func reads(_ plan: [String]) -> [String] {
        var reads: [String] = []
        for (line, next) in zip(plan, plan.dropFirst() + [""]) {
            guard let scan = line.firstMatch(of: /[A-Z][A-Za-z ]* Scan (Backward )?(using|on) .*/)?.0,
                !scan.contains("password_configurations"), !scan.hasPrefix("CTE Scan"),
                !scan.hasPrefix("Function Scan"), !scan.hasPrefix("Subquery Scan")
            else { continue }
            let condition = next.contains(" Cond: ") ? next.trimmingCharacters(in: .whitespaces) : ""
            reads.append("\(scan) \(condition)".replacing(/_[0-9]+\b/, with: ""))
        }
        return reads.sorted()
    }

    /// Runs each statement once on a connection, and after `before` shows the plan that this has made.
    private func checkEach(
        _ conninfo: String,
        _ project: ProjectID,
        before: () async throws -> Void = {},
        _ check: @escaping @Sendable (_ name: String, _ plan: [String], _ version: Int32) throws -> Void
    ) async throws {
        let database = PostgresClient(quietly: .patient(conninfo, connections: 1))
        try await run(database, project)
        try await before()
        try await database.onEachConnection { connection in
            for (name, part) in Self.statements.sorted(by: { $0.key < $1.key }) {
                let (lines, version) = try await plan(name, part, connection)
                let scanned = lines.filter { $0.contains("Seq Scan on ") }
                #expect(scanned == [], "\(name)")
                try check(name, lines, version)
            }
        }
        await database.close()
    }

    /// Accounts with their claims, sessions and used tokens.
    private func fill(_ database: PostgresClient, _ id: ProjectID, _ count: Int, from first: Int = 1) async throws {
        let project = id.rawValue
        try await database.execute(
            """
            WITH n AS (
                SELECT lpad(n::text, 8, '0') AS account
                FROM generate_series(\(first)::int, \(first + count - 1)::int) n
            ), accounts AS (
                INSERT INTO accounts (project, account, tenant, methods, valid_since, email, email_original, created_at)
                SELECT \(project), account, '', '{google.com}', 0, account || '@example.com', account || '@example.com',
                    now() FROM n
            ), emails AS (
                INSERT INTO account_emails (project, tenant, email_key, account)
                SELECT \(project), '', account || '@example.com', account FROM n
            ), subjects AS (
                INSERT INTO credential_subjects (project, tenant, provider, subject, account, issuer)
                SELECT \(project), '', 'google.com', account, account, 'https://accounts.google.com' FROM n
            ), linked AS (
                INSERT INTO linked_credentials (project, account, provider, tenant, subject, email, linked_at, updated_at)
                SELECT \(project), account, 'google.com', '', account, account || '@example.com', now(), now() FROM n
            ), activity AS (
                INSERT INTO account_activity (project, tenant, account, last_sign_in_at, last_refresh_at)
                SELECT \(project), '', account, now(), now() FROM n
            ), tokens AS (
                INSERT INTO used_id_tokens (project, token_hash, expires_at)
                SELECT \(project), sha256(account::bytea), now() FROM n
            )
            INSERT INTO sessions (project, account, session, tenant, secret_hash, auth_time, sign_in_provider, created_at,
                last_used_at)
            SELECT \(project), account, account, '', sha256(account::bytea), 0, 'google.com', now(), now() FROM n
            """
        )
    }

    /// Runs each statement once, so that the connection has prepared it.
    private func run(_ database: PostgresClient, _ project: ProjectID) async throws {
        let now = Date()
        let stores = Stores(
            database: database,
            keyRing: try KeyRing(keys: TestService.encryptionKeys.get()),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            now: { now }
        )
        let scope = Scope(project: project)
        let key = SessionKey(
            scope: scope,
            account: AccountID("00000001"),
            session: SessionID(random: .system)
        )
        _ = try await stores.sessions.refresh(
            RefreshQuestion(key: key, secretHash: [1], successor: nil, idleSince: nil, now: now)
        )
        _ = try await stores.accounts.find(key.account, session: key.session, in: scope)
        _ = try await stores.accounts.list(after: nil, limit: 100, in: scope)
        let browser = try await stores.sessions.browser(
            key,
            secretHash: [1],
            client: "tea",
            idleSince: nil,
            within: .none,
            now: now
        )
        #expect(browser == nil)
        let grant = NewApplicationSession(
            id: SessionID(random: .system),
            client: "tea",
            grant: ApplicationGrant(scopes: [], resources: [], redirectURI: ""),
            secretHash: [1],
            revokedVersion: nil
        )
        #expect(try await stores.sessions.open(grant, from: key, now: now) == nil)
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
            [RateLimitKey(.signUpsPerAddress, ["ada"])],
            settings: numbers,
            deployment: DeploymentLimits(numbers),
            in: scope,
            now: now
        )
        #expect(try await stores.accounts.signUp(account, write) == .applied(validSince: 0))
    }

    private func plan(
        _ name: String,
        _ part: String,
        _ connection: PostgresTransaction
    ) async throws -> (lines: [String], version: Int32) {
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
        return (lines, prepared.version)
    }
}
