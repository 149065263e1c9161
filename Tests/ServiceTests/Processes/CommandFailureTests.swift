import Foundation
import Postgres
import Secrets
import TestKit
import Testing

/// What a command says when its database fails: why, in one line.
@Suite("commands whose database fails", .database, .timeLimit(.minutes(10)))
struct CommandFailureTests {
    private static func expect(
        _ words: String,
        _ status: Int32,
        _ conninfo: String,
        _ arguments: [String] = ["projects", "list"],
        location: SourceLocation = #_sourceLocation
    ) async throws {
        let environment = IdentityProgram.environment(conninfo)
        let result = try await Program.run(IdentityProgram.path, arguments, environment: environment)
        #expect(result.status == status && result.errors.contains(words), "\(result)", sourceLocation: location)
        #expect(result.errors.split(separator: "\n").count == 1, "\(result)", sourceLocation: location)
        #expect(!result.errors.contains("hunter2"), "\(result)", sourceLocation: location)
    }

    private static var conninfo: String { TestDatabase.current.conninfo }

    @Test(
        "no server: it cannot be reached, and why",
        arguments: [
            ("host=127.0.0.1 port=1 password=hunter2", "Connection refused"),
            ("host=/nonexistent password=hunter2", "No such file or directory"),
            ("host=nowhere.invalid sslmode=require password=hunter2", "could not translate host name"),
        ]
    )
    func unreachable(_ conninfo: String, _ reason: String) async throws {
        for command in [["projects", "list"], ["migrate"]] {
            let environment = IdentityProgram.environment(conninfo)
            let result = try await Program.run(IdentityProgram.path, command, environment: environment)
            let line = result.errors.split(separator: "\n").last ?? ""
            #expect(result.status == 75 && line.contains("cannot be reached: ") && line.contains(reason), "\(result)")
        }
    }

    @Test("a server that refuses: its own sentence, and never that it cannot be reached")
    func refused() async throws {
        let refused = "refused the connection: "
        let missing = try ConnectionString.replacingDatabase(in: Self.conninfo, with: "missing")
        try await Self.expect(refused, 75, missing)
        try await Self.expect(#"database "missing" does not exist"#, 75, missing)
        try await Self.expect(#"role "stranger" does not exist"#, 75, Self.conninfo + " user=stranger password=hunter2")
        try await Self.expect("unrecognized configuration parameter", 75, Self.conninfo + " options='-c nothing=1'")
        try await PgBouncer.with(mode: "session", before: Self.conninfo, password: "right") { conninfo in
            try await Self.expect(refused, 75, conninfo + " password=hunter2")
            try await Self.expect("password authentication failed", 75, conninfo + " password=hunter2")
            let environment = IdentityProgram.environment(conninfo + " password=right")
            let accepted = try await IdentityProgram.run("projects", "list", environment: environment)
            #expect(accepted.status == 0, "\(accepted)")
        }
    }

    /// Arguments with which each command reaches its database; none for most of them.
    private static let arguments: [String: [String]] = [
        "projects create": ["x-project"], "projects delete": ["x-project", "--yes"],
        "api-keys create": ["--project", "x"], "api-keys list": ["--project", "x"], "api-keys revoke": ["x"],
        "admin-keys create": ["--name", "x"], "admin-keys revoke": ["x"],
        "admins create": ["x@example.com"], "admins revoke": ["x@example.com"], "admins reset": ["x@example.com"],
        "keys revoke": ["x"], "service-accounts create": ["--project", "x"], "service-accounts revoke": ["x"],
        "workloads create": [
            "--name", "x", "--issuer", "https://x.example", "--audience", "x", "--claim", "sub=x",
        ],
        "workloads revoke": ["x"], "oauth-clients list": ["--project", "x"],
        "oauth-clients create": ["--project", "x", "--name", "x", "--redirect-uri", "https://x.example/"],
        "oauth-clients delete": ["--project", "x", "x"],
        "users show": ["x"], "users find": ["--email", "x@example.com"], "users providers": ["x"],
        "users merge": ["x", "y"], "users undo-merge": ["x"],
        "import firebase": ["--project", "x", "--format", "json", "/dev/null"],
        "export": ["--project", "x", "/nonexistent/x"],
        "restored": ["--since", "2026-01-01T00:00:00Z"], "webhooks resend": ["--project", "x", "--all"],
    ]

    @Test("every command says why")
    func everyCommand() async throws {
        let missing = try ConnectionString.replacingDatabase(in: Self.conninfo, with: "missing")
        let database = TestDatabase.current.client
        let role = "every_command_\(RandomSource.system.text(8, of: "abcdef"))"
        try await database.execute("CREATE ROLE \(identifier: role)")
        let causes = [
            ("host=127.0.0.1 port=1 connect_timeout=1", Int32(75), "the database cannot be reached: "),
            (missing, 75, #"the database refused the connection: "#),
            (Self.conninfo + " options='-c role=\(role)'", 78, "the database's role lacks a privilege: "),
        ]
        // A node waits for its database; the others have none.
        let commands = try await IdentityProgram.commands().subtracting(["serve", "dev"])
        #expect(Set(Self.arguments.keys).subtracting(commands).isEmpty)
        for (conninfo, status, words) in causes {
            for command in commands {
                let line = command.split(separator: " ").map { String($0) } + (Self.arguments[command] ?? [])
                let result = try await Program.run(
                    IdentityProgram.path,
                    line,
                    environment: IdentityProgram.environment(conninfo)
                )
                let last = result.errors.split(separator: "\n").last ?? ""
                #expect(result.status == status && last.contains(words), "\(command): \(result)")
            }
        }
        try await database.execute("DROP ROLE \(identifier: role)")
    }

    @Test("what TLS refuses, either side: libpq's or the server's sentence")
    func encrypted() async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try await TestCertificate.make(in: folder)
            try await ComposePostgres.run(folder: "\(folder)/pg", user: "u", password: "right", database: "d") {
                address in
                let server = "host=\(address) dbname=d password=hunter2 user="
                for (conninfo, words) in [
                    ("u sslmode=verify-ca sslrootcert=\(folder)/certificate.pem", "certificate verify failed"),
                    ("u sslmode=verify-ca sslrootcert=\(folder)/none", "root certificate file"),
                    ("u sslmode=verify-full sslrootcert=\(folder)/pg/data/server.crt", "does not match host name"),
                    ("u sslmode=disable", "no encryption"),
                    ("u sslmode=require", "password authentication failed"),
                    ("certain sslmode=require", "connection requires a valid client certificate"),
                ] {
                    try await Self.expect("refused the connection: ", 75, server + conninfo)
                    try await Self.expect(words, 75, server + conninfo)
                }
            }
        }
    }

    @Test("a statement that fails: what happened and what to do")
    func failed() async throws {
        let create = ["projects", "create", "failed-project"]
        @Sendable func with(_ options: String) -> String { "\(Self.conninfo) options='\(options)'" }
        try await Self.expect("the database is read-only", 75, with("-c default_transaction_read_only=on"), create)
        let database = TestDatabase.current.client
        try await database.transaction { transaction in
            try await transaction.execute("LOCK TABLE api_keys")
            try await Self.expect("waited too long for a lock", 75, with("-c lock_timeout=50ms"))
            try await Self.expect("took too long: try again", 75, with("-c statement_timeout=500ms"))
        }
        try await database.execute("CREATE ROLE command_failures")
        try await Self.expect("lacks a privilege: permission denied", 78, with("-c role=command_failures"))
        try await database.execute("DROP ROLE command_failures")
        for (state, words) in [("53100", "the database's disk is full"), ("XX000", "internal error (SQLSTATE XX000)")] {
            // A server that fails, at this statement.
            let function = "fail_\(state)"
            try await database.execute(
                """
                CREATE FUNCTION \(identifier: function)() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN RAISE 'hunter2' USING ERRCODE = substring(TG_NAME FROM 6); END $$
                """
            )
            try await database.execute(
                "CREATE TRIGGER \(identifier: function) BEFORE INSERT ON projects EXECUTE FUNCTION \(identifier: function)()"
            )
            try await Self.expect(words, 75, Self.conninfo, create)
            try await database.execute("DROP FUNCTION \(identifier: function) CASCADE")
        }
    }

    @Test("a missing encryption key: the list to which the advice leads shows it")
    func missingKey() async throws {
        var environment = IdentityProgram.environment(Self.conninfo)
        #expect(try await IdentityProgram.run("keys", "rotate", environment: environment).status == 0)
        environment["IDENTITY_ENCRYPTION_KEYS"] = "k2:" + Data(repeating: 8, count: 32).base64EncodedString()
        let refused = try await IdentityProgram.run("projects", "list", environment: environment)
        #expect(refused.status == 78 && refused.errors.contains("keys list --encryption"), "\(refused)")
        let listed = try await IdentityProgram.run("keys", "list", "--encryption", environment: environment)
        #expect(listed.status == 0 && listed.output.contains(/k1 +missing/), "\(listed)")
    }
}
