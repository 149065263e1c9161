import Foundation
import IdentityService
import Postgres
import TestKit
import Testing
import Text

/// What `identity serve` refuses to start with: one clear line, exit code 78 (EX_CONFIG).
@Suite("identity serve refuses", .database, .timeLimit(.minutes(10)))
struct ServeRefusalTests {
    private func expectRefusal(
        _ words: String,
        _ environment: [String: String],
        status: Int32 = 78,
        location: SourceLocation = #_sourceLocation
    ) async throws {
        let result = try await IdentityProgram.run("serve", environment: environment)
        #expect(result.status == status, "\(result)", sourceLocation: location)
        let lines = (result.errors + result.output).split(separator: "\n")
        #expect(lines.count == 1, "\(result)", sourceLocation: location)
        let isClear = result.errors.hasPrefix("identity: ") && result.errors.contains(words)
        #expect(isClear, "\(result)", sourceLocation: location)
        #expect(!result.errors.contains("hunter2"), sourceLocation: location)
    }

    private var good: [String: String] { IdentityProgram.environment(TestDatabase.current.conninfo) }

    private func expectRefusal(_ words: String, with changes: [String: String]) async throws {
        try await expectRefusal(words, good.merging(changes) { $1 })
    }

    private func expectRefusal(_ words: String, without name: String) async throws {
        try await expectRefusal(words, good.filter { $0.key != name })
    }

    @Test("and what it does not refuse, or never ends, is a failure of the test that waits for it")
    func endsInTime() async throws {
        let result = try await Program.run("/bin/sleep", ["600"], within: .milliseconds(100))
        #expect(result.status == 128 + SIGKILL, "\(result)")
    }

    @Test("an address that another program has, or that is not this machine's, before anything else")
    func withoutAddress() async throws {
        try await WebReceiver.run { receiver in
            let port = try #require(URLParts(receiver.baseURL)?.port)
            var environment = good
            // Nobody asks for a database yet.
            environment["IDENTITY_DATABASE_URL"] = "host=/nonexistent dbname=d"
            for (name, setting) in [("IDENTITY_HTTP_BIND", "http.bind"), ("IDENTITY_METRICS_BIND", "metrics.bind")] {
                environment[name] = "127.0.0.1:\(port)"
                let taken = "port \(port) of 127.0.0.1 is already in use: see \(setting)"
                try await expectRefusal(taken, environment, status: 75)
                for host in ["203.0.113.9", "nowhere.invalid"] {
                    environment[name] = "\(host):9099"
                    try await expectRefusal("\(host) is not an address of this machine: see \(setting)", environment)
                }
                environment[name] = "127.0.0.1:0"
            }
            try await expectRefusal("the database cannot be reached", environment, status: 75)
        }
    }

    @Test(
        "and says so in words, whatever the system's number",
        arguments: [
            (EADDRINUSE, "port 80 of 10.0.0.1 is already in use"),
            (EACCES, "this user is not permitted to listen on port 80 of 10.0.0.1"),
            (EADDRNOTAVAIL, "10.0.0.1 is not an address of this machine"),
            (EMFILE, "listening on port 80 of 10.0.0.1 failed (errno \(EMFILE))"),
        ]
    )
    func words(_ code: Int32, _ words: String) {
        let address = HTTPServer.Address(host: "10.0.0.1", port: 80)
        #expect("\(HTTPServer.Address.Unusable(address, code: code))" == words)
    }

    @Test("a start without an encryption key, or with one that is none")
    func withoutEncryptionKey() async throws {
        try await expectRefusal("encryption.keys is missing", without: "IDENTITY_ENCRYPTION_KEYS")
        try await expectRefusal("encryption.keys", with: ["IDENTITY_ENCRYPTION_KEYS": "k1:hunter2"])
        let short = Data("hunter2".utf8).base64EncodedString()
        try await expectRefusal("encryption.keys", with: ["IDENTITY_ENCRYPTION_KEYS": "k1:\(short)"])
    }

    @Test("a start without credentials that can be read; with them, what a file of theirs says counts")
    func credentials() async throws {
        let nowhere = ["CREDENTIALS_DIRECTORY": "/nonexistent"]
        try await expectRefusal("CREDENTIALS_DIRECTORY", with: nowhere)
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            func write(_ text: String, to name: String) throws {
                try "\(text)\n".write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
            }
            try write(TestDatabase.current.conninfo, to: "database-url")
            try write("k1:hunter2", to: "encryption-keys")
            try await expectRefusal("encryption.keys", ["CREDENTIALS_DIRECTORY": folder])
            try write(IdentityProgram.encryptionKey, to: "encryption-keys")
            try await TestDatabase.withAnother { conninfo in
                try write(conninfo, to: "database-url")
                try await IdentityProgram.serve(["CREDENTIALS_DIRECTORY": folder]) { _, service in
                    let ready = try await service.get("/readyz")
                    ready.expectOK()
                }
            }
        }
        #expect(try await IdentityProgram.run("--version").output == Release.version)
    }

    @Test("another encryption key than the one that the database was made with")
    func withForeignKey() async throws {
        try await TestDatabase.withAnother { conninfo in
            try await IdentityProgram.serve(IdentityProgram.environment(conninfo)) { _, service in
                let ready = try await service.get("/readyz")
                ready.expectOK()
            }
            var environment = IdentityProgram.environment(conninfo)
            environment["IDENTITY_ENCRYPTION_KEYS"] = "k1:" + Data(repeating: 8, count: 32).base64EncodedString()
            try await expectRefusal("encryption.keys", environment)
        }
    }

    @Test("a key that goes away later makes the node not ready, and the body says that it reads no project")
    func losesKey() async throws {
        try await TestDatabase.withAnother { conninfo in
            let environment = IdentityProgram.environment(conninfo)
            let made = try await IdentityProgram.run("projects", "create", "first-project", environment: environment)
            #expect(made.status == 0, "\(made)")
            try await IdentityProgram.serve(environment) { _, service in
                try await service.get("/readyz").expectOK()
                var newer = environment
                let key = "k2:" + Data(repeating: 8, count: 32).base64EncodedString()
                newer["IDENTITY_ENCRYPTION_KEYS"] = "\(key),\(IdentityProgram.encryptionKey)"
                let moved = try await IdentityProgram.run("keys", "reencrypt", environment: newer)
                #expect(moved.status == 0, "\(moved)")
                _ = try await IdentityProgram.run("projects", "create", "next-project", environment: newer)
                try await waitUntil { try await service.get("/readyz").status == 503 }
                let ready = try await service.get("/readyz")
                #expect(
                    ready.json["checks"]?["projects"] == "failed" && ready.json["checks"]?["database"] == "ok",
                    "\(ready)"
                )
            }
        }
    }

    @Test(
        "numbers of limits that make none, or that are a project's",
        arguments: [
            ("SMS_PER_ADDRESS", "many", "rateLimits.smsPerAddress"),
            ("SMS_PER_ADDRESS", "0", "rateLimits.smsPerAddress"),
            ("MAILS_PER_PROJECT", "5", "identity.rateLimits.mailsPerProject"),
            ("NETWORKS", "203.0.113.0/24", "rateLimits.networks"),
            ("NETWORKS", "203.0.113.0/24 smsPerRecipient=9", "rateLimits.networks"),
        ]
    )
    func withLimits(_ key: String, _ value: String, _ named: String) async throws {
        try await expectRefusal(named, with: ["IDENTITY_RATE_LIMITS_\(key)": value])
    }

    @Test(
        "a public URL without TLS, or with more than a place",
        arguments: [
            "http://id.example.com", "http://127.0.0.1.example.com", "ftp://localhost", "id.example.com",
            "https://id.example.com?a=b", "https://id.example.com/#a", "https://id.example.com/auth",
            "https://bücher.example", "https://user@id.example.com", "https://id.example.com:x",
        ]
    )
    func withPublicURL(_ url: String) async throws {
        try await expectRefusal("http.publicURL", with: ["IDENTITY_HTTP_PUBLIC_URL": url])
    }

    @Test(
        "a remote database without TLS",
        arguments: [
            "host=db.example.com user=u password=hunter2 dbname=d", "postgresql://u:hunter2@db.example.com/d",
            "postgresql://u:hunter2@db.example.com/d?sslmode=prefer",
            "host=/tmp,db.example.com user=u password=hunter2 sslmode=disable",
            "host=localhost hostaddr=203.0.113.9 password=hunter2", "host = db.example.com password=hunter2",
            "host='db.example.com' password='hunter2' sslmode = 'prefer'",
            "postgresql:///d?host=db.example.com&password=hunter2", "service=elsewhere password=hunter2",
        ]
    )
    func withRemoteDatabase(_ conninfo: String) async throws {
        try await expectRefusal("without TLS", with: ["IDENTITY_DATABASE_URL": conninfo])
    }

    @Test(
        "a remote database that libpq would take from its own environment",
        arguments: ["PGHOST=db.example.com", "PGHOSTADDR=203.0.113.9", "PGSERVICE=elsewhere"]
    )
    func withRemoteDatabaseElsewhere(_ variable: String) async throws {
        let parts = variable.split(separator: "=").map { String($0) }
        try await expectRefusal(
            "without TLS",
            with: ["IDENTITY_DATABASE_URL": "user=u password=hunter2", parts[0]: parts[1]]
        )
    }

    @Test("other commands refuse it too", arguments: [["migrate"], ["users", "list", "--project", "demo-project"]])
    func everywhere(_ command: [String]) async throws {
        let environment = good.merging(["IDENTITY_DATABASE_URL": "host=db.example.com password=hunter2"]) { $1 }
        let result = try await Program.run(IdentityProgram.path, command, environment: environment)
        #expect(result.status == 78 && result.errors.contains("without TLS"), "\(result)")
    }

    @Test("a database that is missing, or named by nonsense")
    func withoutDatabase() async throws {
        try await expectRefusal("database.url is missing", without: "IDENTITY_DATABASE_URL")
        try await expectRefusal(
            "is not a valid libpq connection string",
            with: ["IDENTITY_DATABASE_URL": "hunter2 is no conninfo"]
        )
    }

    @Test("and ends with 75 (EX_TEMPFAIL), so that it is started again, while its database is away")
    func databaseIsAway() async throws {
        try await expectRefusal(
            "cannot be reached",
            good.merging(["IDENTITY_DATABASE_URL": "host=127.0.0.1 port=1 password=hunter2"]) { $1 },
            status: 75
        )
    }

    @Test("a database without a schema")
    func withoutSchema() async throws {
        try await TestDatabase.withEmpty { conninfo in
            try await expectRefusal("run `identity migrate`", IdentityProgram.environment(conninfo))
        }
    }

    @Test("a database that a newer release has migrated: a node that runs serves on, one that starts refuses")
    func withNewerSchema() async throws {
        try await TestDatabase.withAnother { conninfo in
            try await IdentityProgram.serve(IdentityProgram.environment(conninfo)) { _, service in
                try await Self.execute(
                    "INSERT INTO schema_migrations (position, name, applied_at) VALUES (9999, '29991231T000000_x', now())",
                    on: conninfo
                )
                try await service.get("/readyz").expectOK()
                // A step of its own that is missing is another thing.
                try await Self.execute("UPDATE schema_migrations SET position = -1 WHERE position = 1", on: conninfo)
                try await waitUntil { try await service.get("/readyz").status == 503 }
                try await Self.execute("UPDATE schema_migrations SET position = 1 WHERE position = -1", on: conninfo)
                try await waitUntil { try await service.get("/readyz").status == 200 }
            }
            try await expectRefusal("newer than this program", IdentityProgram.environment(conninfo))
            let migrate = try await IdentityProgram.run(
                "migrate",
                environment: IdentityProgram.environment(conninfo)
            )
            #expect(migrate.status == 78, "\(migrate)")
        }
    }

    @Test("T-D11: a database that `identity dev` made")
    func withDevelopmentDatabase() async throws {
        try await withTemporaryFolder { data in
            try await IdentityProgram.dev("--data", data) { _, _ in
                let conninfo = try String(contentsOfFile: data + "/conninfo", encoding: .utf8)
                try await expectRefusal("identity dev", IdentityProgram.environment(conninfo))
            }
        }
    }

    @Test(
        "settings that cannot be",
        arguments: [
            ("IDENTITY_HTTP_BIND", "9099", "http.bind"), ("IDENTITY_HTTP_BIND", "127.0.0.1:70000", "http.bind"),
            ("IDENTITY_DATABASE_CONNECTIONS", "0", "database.connections"),
            ("IDENTITY_DATABASE_CONNECTIONS", "many", "database.connections"),
            ("IDENTITY_DATABASE_PREPARES", "maybe", "database.prepares"),
            ("IDENTITY_HTTP_TRUSTED_PROXIES", "proxy", "http.trustedProxies"),
            ("IDENTITY_OUTBOUND_ALLOW", "private,everything", "outbound.allow"),
            ("IDENTITY_MAIL_SMTP_HOST", "mail.example.com/x", "mail.smtp.host"),
            ("IDENTITY_MAIL_SMTP_TLS", "none", "mail.smtp.tls"), ("IDENTITY_MAIL_SMTP_TLS", "ssl", "mail.smtp.tls"),
            ("IDENTITY_MAIL_SMTP_PORT", "0", "mail.smtp.port"),
            ("IDENTITY_MAIL_SMTP_PASSWORD", "hunter2", "mail.smtp.user"),
            ("IDENTITY_MAIL_SMTP_AUTHORITIES", "/nowhere", "mail.smtp.authorities"),
            ("IDENTITY_OUTBOUND_AUTHORITIES", "/dev/null", "outbound.authorities"),
            ("IDENTITY_MAIL_SMTP_FROM", "Example", "mail.smtp.from"),
            ("IDENTITY_MAIL_SMTP_HELLO_NAME", "id example", "mail.smtp.helloName"),
            ("IDENTITY_LOG_LEVEL", "loud", "log.level"), ("IDENTITY_LOG_FORMAT", "xml", "log.format"),
        ]
    )
    func withBadSetting(_ name: String, _ value: String, _ key: String) async throws {
        // Only a node that sends mails reads the rest of it.
        let mail = name.contains("MAIL") ? ["IDENTITY_MAIL_SMTP_HOST": "mail.example.com"] : [:]
        let sender = name.contains("MAIL") ? ["IDENTITY_MAIL_SMTP_FROM": "mail@example.com"] : [:]
        try await expectRefusal(key, with: mail.merging(sender) { $1 }.merging([name: value]) { $1 })
    }

    private static func execute(_ sql: SQL, on conninfo: String) async throws {
        let client = PostgresClient(quietly: .patient(conninfo, connections: 1))
        do {
            try await client.execute(sql)
            await client.close()
        } catch {
            await client.close()
            throw error
        }
    }
}
