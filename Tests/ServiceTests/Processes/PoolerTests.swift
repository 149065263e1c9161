import Foundation
import Postgres
import TestKit
import Testing

/// Every command and job behind PgBouncer, with a schema that only the connection string's `search_path` names.
@Suite("behind PgBouncer", .timeLimit(.minutes(10)))
struct PoolerTests {
    /// Commands without a configured database.
    private static let others: Set = ["dev"]

    @Test("every command succeeds, and a node does all of its work", arguments: ["session", "transaction"])
    func commands(_ mode: String) async throws {
        try await TestDatabase.withEmpty { conninfo in
            let database = PostgresClient(quietly: .patient(conninfo, connections: 1))
            try await database.execute("CREATE SCHEMA own")
            try await PgBouncer.with(mode: mode, before: conninfo) { pooled in
                var environment = IdentityProgram.environment(pooled + " options='-c search_path=own'")
                environment["IDENTITY_DATABASE_PREPARES"] = mode == "session" ? "true" : "false"
                let commands = Commands(environment: environment)
                try await Self.runAll(commands)
                let months: SQL = """
                    SELECT c.relname::text FROM pg_class c
                    WHERE c.relname ~ '^audit_log_[0-9]{6}$' AND c.relnamespace = 'own'::regnamespace ORDER BY 1
                    """
                let made = try await database.query(months) { try $0.next(String.self) }
                #expect(made.count == 3)
                try await database.execute("DROP TABLE own.\(identifier: made.last ?? "")")
                try await IdentityProgram.serve(environment) { program, service in
                    try await service.get("/readyz").expectOK()
                    try await waitUntil { try await database.query(months) { try $0.next(String.self) } == made }
                    #expect(!program.written.output.contains { $0.contains(#""level":"warning""#) })
                }
            }
            let elsewhere: SQL = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"
            #expect(try await database.query(elsewhere) { try $0.next(Int64.self) } == [0])
            await database.close()
        }
    }

    @Test(
        "limits of time and settings of the connection string hold for statements and transactions",
        arguments: ["session", "transaction"]
    )
    func limits(_ mode: String) async throws {
        try await TestDatabase.withEmpty { conninfo in
            try await PgBouncer.with(mode: mode, before: conninfo) { pooled in
                let client = PostgresClient(
                    quietly: .init(
                        conninfo: pooled + #" options='--lock-timeout=7s -c application_name=a\\ b -cwork_mem=128kB'"#,
                        connections: 1,
                        prepares: mode == "session",
                        statementTimeout: .seconds(3),
                        silence: .seconds(60),
                        connectTimeout: Patience.limit
                    )
                )
                let slow: SQL = "SELECT pg_sleep(60)::text"
                let single = await #expect(throws: PostgresError.self) { try await client.execute(slow) }
                let double = await #expect(throws: PostgresError.self) {
                    try await client.transaction { _ = try await $0.execute(slow) }
                }
                #expect(single?.code == .timeout && double?.code == .timeout)
                let rows = try await client.query("SELECT \(1)::int, \("a'b")") { row in
                    (try row.next(Int32.self), try row.next(String.self))
                }
                #expect(rows.count == 1 && rows[0] == (1, "a'b"))
                let error = await #expect(throws: PostgresError.self) { try await client.execute("SELECT 1/0") }
                #expect(error?.sqlState == "22012")
                let settings: SQL = """
                    SELECT current_setting('lock_timeout') || current_setting('application_name') || current_setting('work_mem')
                    """
                #expect(try await client.query(settings) { try $0.next(String.self) } == ["7sa b128kB"])
                await client.close()
            }
        }
    }

    @Test("one place connects to the configured database")
    func onePlace() throws {
        let files = try Repository.files(below: "Sources/IdentityCLI", suffix: ".swift")
        let connecting = try files.filter {
            try Repository.text("Sources/IdentityCLI/\($0)").contains(/PostgresClient(\.Configuration)?\(/)
        }
        #expect(connecting == ["DatabaseSettings.swift"])
    }

    /// Runs each command, in an order in which all succeed.
    private static func runAll(_ commands: Commands) async throws {
        _ = try await commands.run("migrate")
        for name in ["pool-project", "other-project"] { _ = try await commands.run("projects create", name) }
        _ = try await commands.run("projects list")
        _ = try await commands.run("projects delete", "other-project", "--yes")
        let apiKey = try await commands.run("api-keys create", "--project", "pool-project")
        _ = try await commands.run("api-keys list", "--project", "pool-project")
        _ = try await commands.run("api-keys revoke", apiKey)
        _ = try await commands.run("admin-keys create", "--name", "ops")
        _ = try await commands.run("admin-keys revoke", try await commands.first("id", of: "admin-keys list"))
        for command in ["create", "reset", "revoke"] {
            _ = try await commands.run("admins \(command)", "a@example.com")
        }
        _ = try await commands.run("admins list")
        let next = try await commands.run("keys rotate").split(separator: " ").first.map { String($0) }
        _ = try await commands.run("keys list", "--encryption")
        _ = try await commands.run("keys revoke", try #require(next))
        _ = try await commands.run("keys reencrypt")
        _ = try await commands.run("service-accounts create", "--project", "pool-project")
        let account = try await commands.run("service-accounts list").split(separator: "\n").last?.split(separator: " ")
        _ = try await commands.run("service-accounts revoke", String(try #require(account?.first)))
        let workload = try await commands.run(
            "workloads create",
            "--name",
            "w",
            "--issuer",
            "https://issuer.example.com",
            "--audience",
            "a",
            "--claim",
            "sub=x"
        )
        _ = try await commands.run("workloads list")
        _ = try await commands.run("workloads revoke", workload)
        let inProject = ["--project", "pool-project"]
        _ = try await commands.run("webhooks list", inProject)
        #expect(try await commands.run("webhooks resend", inProject + ["--all"]) == "0 due again")
        let redirect = ["--name", "c", "--redirect-uri", "https://app.example.com/"]
        let client = try JSON(parsing: Array(try await commands.run("oauth-clients create", inProject + redirect).utf8))
        _ = try await commands.run("oauth-clients list", inProject)
        _ = try await commands.run("oauth-clients delete", inProject + [try #require(client["client_id"]?.string)])
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let users = #"{"users": [{"localId": "one", "email": "one@example.com"}, {"localId": "two"}]}"#
            try users.write(toFile: "\(folder)/users.json", atomically: true, encoding: .utf8)
            _ = try await commands.run("import firebase", inProject + ["\(folder)/users.json"])
            _ = try await commands.run("export", inProject + ["\(folder)/export"])
        }
        for command in ["list", "query", "show one", "providers one", "find --email one@example.com"] {
            let words = command.split(separator: " ").map { String($0) }
            _ = try await commands.run("users \(words[0])", Array(words.dropFirst()))
        }
        _ = try await commands.run("users merge", "one", "two")
        let merge = commands.lastErrors.firstMatch(of: /undo-merge ([^ \n]+)/)?.1
        _ = try await commands.run("users undo-merge", String(try #require(merge)))
        for command in ["providers stats", "audit list", "audit export", "check"] {
            _ = try await commands.run(command)
        }
        _ = try await commands.run("restored", "--since", "2026-01-01T00:00:00Z", "--days", "0")
        let all = try await IdentityProgram.commands().subtracting(others).subtracting(["serve"])
        #expect(all == commands.names, "each command has its line here")
    }
}

/// Runs commands that must succeed, and knows which.
private final class Commands {
    private let environment: [String: String]
    private(set) var names: Set<String> = []
    private(set) var lastErrors = ""

    init(environment: [String: String]) { self.environment = environment }

    func run(_ command: String, _ arguments: String...) async throws -> String {
        try await run(command, arguments)
    }

    /// - Returns: its standard output.
    func run(_ command: String, _ arguments: [String]) async throws -> String {
        names.insert(command)
        let words = command.split(separator: " ").map { String($0) }
        let result = try await Program.run(IdentityProgram.path, words + arguments, environment: environment)
        #expect(result.status == 0, "\(command): \(result)")
        lastErrors = result.errors
        return result.output
    }

    /// A member of the first row of a list.
    func first(_ member: String, of command: String) async throws -> String {
        let rows = try JSON(parsing: Array(try await run(command, "--json").utf8)).array
        return try #require(rows?.first?[member]?.string)
    }
}
