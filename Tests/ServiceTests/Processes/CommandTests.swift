import Domain
import Foundation
import Logging
import Postgres
import Projects
import Secrets
import Storage
import Testing
import TestKit

/// The commands that administer a deployment.
@Suite("identity commands", .database, .timeLimit(.minutes(10)))
struct CommandTests {
    private var environment: [String: String] { IdentityProgram.environment(TestDatabase.current.conninfo) }

    private func run(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(IdentityProgram.path, arguments, environment: environment)
    }

    @Test(
        "a mistake in the command line gets one line and exit code 64",
        arguments: [
            "nonsense", "dev --port 70000", "dev --port x", "dev --project X", "dev --demo-providers many",
            "users find",
            "users find --email a@example.com --provider github.com", "users find --email nonsense",
            "users list --limit 0", "users query --limit 0", "users query --unused-since someday",
            "users query --email-domain a@example.com", "users query --sort size", "users providers",
            "projects create Upper", "projects create", "admin-keys create",
            "admin-keys create --name n --scope everything",
            "admin-keys create --name n --days 0", "api-keys create", "serve --loud",
            "check --project X", "check my-project", "keys revoke", "keys rotate now", "admins create",
            "admins create nonsense", "admins create a@example.com --days 0", "admins reset",
            "admins create a@example.com --scope everything", "admins revoke nonsense",
        ]
    )
    func usage(_ line: String) async throws {
        let result = try await Program.run(
            IdentityProgram.path,
            line.split(separator: " ").map { String($0) },
            environment: environment
        )
        #expect(result.status == 64, "\(result)")
        #expect(result.errors.hasPrefix("identity: "), "\(result)")
        #expect(result.errors.split(separator: "\n").count == 1, "\(result)")
        #expect(result.output.isEmpty, "\(result)")
    }

    @Test(
        "--help says what each command does",
        arguments: [
            "", "dev", "serve", "migrate", "projects", "api-keys", "admin-keys", "users", "users find", "users query",
            "users providers", "providers", "providers stats", "check", "keys", "keys list", "keys rotate",
            "keys revoke", "keys reencrypt", "admins", "admins create", "admins reset",
        ]
    )
    func help(_ command: String) async throws {
        let arguments = command.split(separator: " ").map { String($0) } + ["--help"]
        let result = try await Program.run(IdentityProgram.path, arguments)
        #expect(result.status == 0)
        #expect(result.output.hasPrefix("OVERVIEW: "), "\(result)")
        #expect(result.output.contains("USAGE: identity"), "\(result)")
        #expect(result.errors.isEmpty)
    }

    @Test("migrate shows what it would do, does it once, and then has nothing to do")
    func migrate() async throws {
        try await TestDatabase.withEmpty { conninfo in
            let environment = ["IDENTITY_DATABASE_URL": conninfo]
            for _ in 1...2 {
                let plan = try await IdentityProgram.run("migrate", "--dry-run", environment: environment)
                #expect(plan.status == 0 && plan.output.hasPrefix("would apply "), "\(plan)")
            }
            let results = try await withThrowingTaskGroup(of: Program.Result.self) { group in
                for _ in 1...4 {
                    group.addTask { try await IdentityProgram.run("migrate", environment: environment) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.map(\.status) == [0, 0, 0, 0], "\(results)")
            let applied = results.flatMap { $0.output.split(separator: "\n") }.filter { $0.hasPrefix("applied ") }
            #expect(Set(applied).count == applied.count, "each step once: \(applied)")
            let again = try await IdentityProgram.run("migrate", "--dry-run", environment: environment)
            #expect(again.output == "the schema is up to date")
        }
    }

    @Test("migrate uses its own connection string when there is one")
    func migrationURL() async throws {
        try await TestDatabase.withEmpty { conninfo in
            let environment = [
                "IDENTITY_DATABASE_URL": "host=127.0.0.1 port=1", "IDENTITY_DATABASE_MIGRATION_URL": conninfo,
            ]
            let result = try await IdentityProgram.run("migrate", environment: environment)
            #expect(result.status == 0, "\(result)")
        }
    }

    @Test("projects are made with a key, listed, and deleted when one means it", .database)
    func projects() async throws {
        let made = try await run("projects", "create", "first-project")
        _ = try await run("projects", "create", "second-project")
        let callbacks = try await TestDatabase.current.client.query(
            "SELECT (config->>'ownCallback')::bool FROM projects WHERE project LIKE '%-project' ORDER BY created_at"
        ) { row in try row.next(Bool.self) }
        #expect(callbacks == [false, true], "T-B3: the second has a redirect URI of its own")
        let columns = made.output.split(separator: "\n").last?.split(separator: " ") ?? []
        #expect(columns.first == "first-project" && columns.last?.hasPrefix("AIza") == true, "\(made)")
        #expect(try await run("projects", "create", "first-project").status == 1)
        let listed = try JSON(parsing: Array(await run("projects", "list", "--json").output.utf8))
        #expect(listed.array?.contains { $0["project"] == "first-project" } == true)
        #expect(try await run("projects", "delete", "first-project").status == 64)
        #expect(try await run("projects", "delete", "first-project", "--yes").output == "deleted first-project")
        #expect(try await run("projects", "delete", "first-project", "--yes").status == 1)
    }

    @Test("API keys are made, listed and revoked")
    func apiKeys() async throws {
        _ = try await run("projects", "create", "keys-project")
        let key = try await run("api-keys", "create", "--project", "keys-project", "--name", "web").output
        #expect(key.wholeMatch(of: /AIza[A-Za-z0-9_-]{35}/) != nil, "\(key)")
        #expect(try await run("api-keys", "revoke", key).output == "revoked \(key)")
        #expect(try await run("api-keys", "revoke", key).status == 1)
        let listed = try JSON(
            parsing: Array(await run("api-keys", "list", "--project", "keys-project", "--json").output.utf8)
        )
        let revoked = listed.array?.first { $0["key"]?.string == key }
        #expect(revoked?["name"] == "web" && revoked?["revoked"]?.string?.isEmpty == false, "\(listed)")
        #expect(try await run("api-keys", "create", "--project", "no-project").status == 1)
    }

    @Test("an admin key is shown once, and neither listed nor stored")
    func adminKeys() async throws {
        let token = try await run("admin-keys", "create", "--name", "ops", "--scope", "accounts.read").output
        #expect(!token.isEmpty)
        let listed = try await run("admin-keys", "list", "--json").output
        let key = try JSON(parsing: Array(listed.utf8)).array?.first { $0["name"] == "ops" }
        #expect(key?["scopes"] == "accounts.read" && key?["state"] == "active")
        let id = try #require(key?["id"]?.string)
        #expect(!listed.contains(token))
        let rows: [String] = try await TestDatabase.current.client.query(
            "SELECT c::text FROM admin_credentials c"
        ) { try $0.next() }
        #expect(!rows.joined().contains(token))
        #expect(try await run("admin-keys", "revoke", id).output == "revoked \(id)")
        #expect(try await run("admin-keys", "revoke", id).status == 1)
    }

    @Test("R-63: check has a line for each finding, and ends with 1 if one of them is an error")
    func check() async throws {
        _ = try await run("projects", "create", "check-project")
        let id = try #require(ProjectID(rawValue: "check-project"))
        let fresh = try await run("check", "--project", id.rawValue)
        #expect(fresh.status == 0 && fresh.errors.isEmpty, "\(fresh)")
        let lines = fresh.output.split(separator: "\n").map { $0.split(separator: " ").prefix(3) }
        let warnings = ["continue-urls-by-host", "public-url-missing", "mail-server-missing", "loopback-domain"].map {
            ["check-project", "warning", $0]
        }
        let ofProject = lines.filter { ["PROJECT", "check-project"].contains($0.first) }
        #expect(ofProject.map { $0.map { String($0) } } == [["PROJECT", "LEVEL", "ID"]] + warnings)
        let key = try KeyRing.Key(id: "k1", bytes: [UInt8](repeating: 9, count: 32))
        let configuration = Stores(
            database: TestDatabase.current.client,
            keyRing: try KeyRing(keys: [key]),
            logger: Logger(label: "stores") { _ in SwiftLogNoOpLogHandler() },
            now: { Date() }
        )
        .configuration
        let github = ProviderConfiguration(provider: .github, enabled: true, clientID: "app")
        try await configuration.createProvider(github, in: Scope(project: id))
        let broken = try await run("check", "--project", id.rawValue, "--json")
        #expect(broken.status == 1 && broken.errors == "identity: 1 error", "\(broken)")
        let findings = try JSON(parsing: Array(broken.output.utf8)).array?.filter { $0["project"] != "" } ?? []
        #expect(
            findings.map { $0["id"] } == [
                "provider-invalid", "apple-missing", "continue-urls-by-host", "public-url-missing",
                "mail-server-missing",
                "loopback-domain",
            ]
        )
        #expect(findings.map { $0["level"] } == ["error", "warning", "warning", "warning", "warning", "warning"])
        #expect(findings.first?["provider"] == "github.com" && findings.first?["project"] == "check-project")
        #expect(findings.first?["text"]?.string?.contains("clientSecret") == true, "\(broken)")
        // Accounts of earlier releases; the second column is the email, verified or not.
        for (account, email, isVerified, hasFactor) in [
            ("a", nil, false, true), ("b", "b@example.com", false, true), ("c", "c@example.com", true, true),
            ("d", "d@example.com", false, false),
        ] as [(String, String?, Bool, Bool)] {
            let factors = hasFactor ? #"[{"id": "x", "phone": "+4915550100", "enrolledAt": 0}]"# : nil
            try await TestDatabase.current.client.execute(
                """
                INSERT INTO accounts (project, account, tenant, valid_since, email, email_original, email_verified,
                    second_factors, created_at)
                VALUES (\(id.rawValue), \(account), '', 0, \(email), \(email), \(isVerified), \(factors), now())
                """
            )
        }
        let counted = try await run("check", "--project", id.rawValue, "--json")
        let unverified = try JSON(parsing: Array(counted.output.utf8)).array?.filter {
            $0["id"] == "second-factor-unverified"
        }
        #expect(unverified?.count == 1 && unverified?.first?["level"] == "warning", "\(counted)")
        #expect(unverified?.first?["text"]?.string?.hasPrefix("2 accounts have second factors") == true, "\(counted)")
        try await TestDatabase.current.client.execute("DELETE FROM accounts WHERE project = \(id.rawValue)")
        // Without a project it looks at all of them.
        let all = try await run("check", "--json")
        #expect(all.status == 1, "\(all)")
        let found = try JSON(parsing: Array(all.output.utf8)).array ?? []
        #expect(found.filter { $0["project"] == "check-project" } == findings)
        #expect(try await run("check", "--project", "no-project").status == 1)
    }

    @Test("check says when a month of the audit log is missing, and when the service's role may change entries")
    func checksAuditLog() async throws {
        try await TestDatabase.withEmpty { conninfo in
            let database = PostgresClient(
                .patient(conninfo, connections: 1),
                logger: Logger(label: "check") { _ in SwiftLogNoOpLogHandler() }
            )
            var environment = IdentityProgram.environment(conninfo)
            func found() async throws -> [String] {
                let check = try await IdentityProgram.run("check", "--json", environment: environment)
                #expect(check.status == 0, "\(check)")
                let rows = try JSON(parsing: Array(check.output.utf8)).array ?? []
                #expect(rows.allSatisfy { $0["project"] == "" && $0["level"] == "warning" }, "\(check)")
                return rows.compactMap { $0["id"]?.string }
            }
            #expect(try await IdentityProgram.run("migrate", environment: environment).status == 0)
            // The owner's role.
            #expect(try await found() == ["audit-log-changeable"])

            let role = "check_\(UInt32.random(in: 0...UInt32.max))"
            let names = try await database.query("SELECT current_database()::text") { try $0.next(String.self) }
            let name = try #require(names.first)
            for statement: SQL in [
                "CREATE ROLE \(identifier: role)",
                "GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA public TO \(identifier: role)",
                "ALTER DATABASE \(identifier: name) SET role = \(identifier: role)",
            ] { try await database.execute(statement) }
            #expect(try await found() == ["statistics-not-renewed"])
            environment["IDENTITY_DATABASE_MIGRATION_URL"] = "\(conninfo) options='-c role=none'"
            #expect(try await found() == [])
            let months = try await database.query(
                "SELECT c.relname::text FROM pg_class c WHERE c.relname ~ '^audit_log_[0-9]{6}$' ORDER BY 1"
            ) { try $0.next(String.self) }
            let last = try #require(months.last)
            try await database.execute("GRANT UPDATE (actor) ON \(identifier: last) TO \(identifier: role)")
            #expect(try await found() == ["audit-log-changeable"])
            for month in months.dropFirst() { try await database.execute("DROP TABLE \(identifier: month)") }
            #expect(try await found() == ["audit-month-missing"])
            try await database.execute("DROP OWNED BY \(identifier: role)")
            try await database.execute("DROP ROLE \(identifier: role)")
            await database.close()
        }
    }

    @Test("a database without a schema, and an unreachable one, are told apart")
    func badDatabases() async throws {
        try await TestDatabase.withEmpty { conninfo in
            let environment = IdentityProgram.environment(conninfo)
            let result = try await IdentityProgram.run("projects", "list", environment: environment)
            #expect(result.status == 78 && result.errors.contains("identity migrate"), "\(result)")
        }
        let nowhere = IdentityProgram.environment("host=127.0.0.1 port=1")
        let result = try await IdentityProgram.run("projects", "list", environment: nowhere)
        #expect(result.status == 75 && result.errors.contains("cannot be reached"), "\(result)")
        let folder = try await IdentityProgram.run("users", "list", "--data", "/nonexistent")
        #expect(folder.status == 78, "\(folder)")
    }
}
