import Development
import Foundation
import Logging
import Postgres
import TestKit
import Testing

/// What docs/operations/production.md says, done: its roles, its backup and its failover, with servers of their own.
@Suite("docs/operations/production.md", .timeLimit(.minutes(10)))
struct ProductionTests {
    /// The code of a fence of the document.
    private static func code(_ language: String, containing text: String) throws -> String {
        let document = try Repository.text("docs/operations/production.md")
        let fences = document.matches(of: /(?ms)^```([a-z]*)\n(.*?)^```$/)
        return String(try #require(fences.first { $0.1 == language && $0.2.contains(text) }?.2))
    }

    private static func withCluster<R>(
        _ folder: String,
        _ body: (_ cluster: PrivateCluster, _ conninfo: String) async throws -> R
    ) async throws -> R {
        let cluster = PrivateCluster(folder: folder, durable: false)
        try await cluster.start()
        do {
            let result = try await body(cluster, try #require(cluster.conninfo))
            await cluster.stop()
            return result
        } catch {
            await cluster.stop()
            throw error
        }
    }

    /// The same server as another role, or another database.
    private static func conninfo(_ conninfo: String, _ user: String, _ database: String = "identity") -> String {
        conninfo.replacing("user=postgres", with: "user=\(user)")
            .replacing("dbname=postgres", with: "dbname=\(database)")
    }

    @discardableResult
    private static func run(_ script: String, _ environment: [String: String] = [:]) async throws -> Program.Result {
        let result = try await Program.run("/bin/bash", ["-euc", script], environment: environment)
        #expect(result.status == 0, "\(script): \(result)")
        return result
    }

    private static func serve<R>(
        _ conninfo: String,
        _ body: (RemoteService) async throws -> R
    ) async throws -> R {
        try await IdentityProgram.serve(IdentityProgram.environment(conninfo)) { _, service in try await body(service) }
    }

    /// Roles and schema as the document makes them, and a project.
    private static func setUp(_ conninfo: String) async throws -> (apiKey: String, adminKey: String) {
        try await run(
            "psql -X -q -v ON_ERROR_STOP=1 -d \"$URL\" <<<\"$SCRIPT\"",
            ["URL": conninfo, "SCRIPT": try code("sql", containing: "CREATE ROLE identity_owner")]
        )
        var environment = IdentityProgram.environment(Self.conninfo(conninfo, "identity_service"))
        environment["IDENTITY_DATABASE_MIGRATION_URL"] = Self.conninfo(conninfo, "identity_owner")
        let migrated = try await IdentityProgram.run("migrate", environment: environment)
        #expect(migrated.status == 0, "\(migrated)")
        let project = try await IdentityProgram.run("projects", "create", "prod-project", environment: environment)
        let admin = try await IdentityProgram.run("admin-keys", "create", "--name", "ops", environment: environment)
        #expect(project.status == 0 && admin.status == 0, "\(project) \(admin)")
        return (
            String(project.output.split(separator: " ").last ?? "").trimmingCharacters(in: .newlines), admin.output
        )
    }

    private static func service(_ service: RemoteService, _ keys: (apiKey: String, adminKey: String)) -> RemoteService {
        var service = service
        (service.project, service.apiKey, service.adminToken) = ("prod-project", keys.apiKey, keys.adminKey)
        return service
    }

    @Test(
        "its roles are enough to serve and too few for more; its backup comes back, with its keys and not with others"
    )
    func rolesAndBackup() async throws {
        try await withTemporaryFolder { folder in
            try await Self.withCluster(folder) { _, conninfo in
                let keys = try await Self.setUp(conninfo)
                let role = Self.conninfo(conninfo, "identity_service")
                let account = try await Self.serve(role) { service in
                    let service = Self.service(service, keys)
                    try await service.get("/readyz").expectOK()
                    let account = try await service.signUp("ada@example.com")
                    account.expectOK()
                    try await service.refresh(account.refreshToken).expectOK()
                    #expect(try await service.admin("accounts:batchGet")["users"]?.array?.count == 1)
                    return account
                }
                let client = PostgresClient(.patient(role, connections: 1), logger: Logger(label: "role"))
                for statement: SQL in [
                    "CREATE TABLE mine (a int)", "DROP TABLE sessions", "ALTER TABLE accounts ADD COLUMN a int",
                    "TRUNCATE accounts", "CREATE ROLE other", "CREATE SCHEMA other",
                    "UPDATE audit_log SET actor = 'nobody'", "DELETE FROM audit_log", "DELETE FROM audit_log_rest",
                ] {
                    await #expect(throws: PostgresError.self) { try await client.execute(statement) }
                }
                await client.close()

                let dump = try Self.code("sh", containing: "pg_dump").replacing("identity.dump", with: folder + ".dump")
                let restore = try Self.code("sh", containing: "pg_restore")
                    .replacing("identity.dump", with: folder + ".dump")
                defer { try? FileManager.default.removeItem(atPath: folder + ".dump") }
                try await Self.run(dump, ["BACKUP_URL": Self.conninfo(conninfo, "identity_backup")])
                try await Self.run(
                    "psql -X -q -v ON_ERROR_STOP=1 -d \"$URL\" -c 'CREATE DATABASE restored OWNER identity_owner'",
                    ["URL": conninfo]
                )
                try await Self.run(restore, ["RESTORE_URL": Self.conninfo(conninfo, "postgres", "restored")])
                let restored = Self.conninfo(conninfo, "identity_service", "restored")
                try await Self.serve(restored) { service in
                    let service = Self.service(service, keys)
                    let again = try await service.signInWithPassword("ada@example.com")
                    #expect(again.status == 200 && again.localID == account.localID, "\(again)")
                    #expect(try await service.refresh(account.refreshToken).status == 200, "people stay signed in")
                    let lookup = try await service.call("accounts:lookup", ["idToken": JSON(account.idToken)])
                    #expect(lookup.status == 200, "by the signing keys of before: \(lookup)")
                    #expect(try await service.admin("accounts:batchGet")["users"]?.array?.count == 1)
                }
                var environment = IdentityProgram.environment(restored)
                environment["IDENTITY_ENCRYPTION_KEYS"] = "k1:" + Data(repeating: 8, count: 32).base64EncodedString()
                let refused = try await IdentityProgram.run("serve", environment: environment)
                #expect(refused.status == 78 && refused.errors.contains("encryption.keys"), "\(refused)")
            }
        }
    }

    @Test("when the first database is lost and the standby promoted, a node goes on by itself")
    func failover() async throws {
        try await withTemporaryFolder { folder in
            try await Self.withCluster(folder + "-1") { first, one in
                let keys = try await Self.setUp(one)
                let user = getuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --init-groups" : ""
                let standbyFolder = folder + "-2"
                defer { try? FileManager.default.removeItem(atPath: standbyFolder) }
                try await Self.run(
                    "cd /; \(user) mkdir -m 700 \(standbyFolder); "
                        + "\(user) pg_basebackup -d \"$URL\" -D \(standbyFolder)/data -R -c fast --no-sync; "
                        + "\(user) touch \(standbyFolder)/lock",
                    ["URL": one]
                )
                try await Self.withCluster(standbyFolder) { _, two in
                    let both = Self.conninfo(Self.together(one, two), "identity_service")
                    try await Self.serve(both + " target_session_attrs=read-write") { service in
                        let service = Self.service(service, keys)
                        let account = try await service.signUp("ada@example.com")
                        account.expectOK()
                        let standby = PostgresClient(
                            .patient(two, connections: 1),
                            logger: Logger(label: "standby")
                        )
                        try await waitUntil {
                            let seen = Self.conninfo(two, "postgres")
                            let rows = try await Self.run(
                                "psql -X -At -d \"$URL\" -c 'SELECT count(*) FROM accounts'",
                                ["URL": seen]
                            )
                            return rows.output == "1"
                        }
                        await first.stop()
                        #expect(try await service.get("/readyz").status == 503)
                        #expect(try await service.refresh(account.refreshToken).status == 503)
                        try await standby.execute("SELECT pg_promote()")
                        try await waitUntil { try await service.get("/readyz").status == 200 }
                        // Nobody was signed out; other connections than that of `/readyz` may find it a moment later.
                        try await waitUntil { try await service.refresh(account.refreshToken).status == 200 }
                        try await waitUntil { try await service.signUp("grace@example.com").status == 200 }
                        await standby.close()
                    }
                }
            }
        }
    }

    /// One connection string for two servers.
    private static func together(_ one: String, _ two: String) -> String {
        func host(_ conninfo: String) -> Substring {
            conninfo.firstMatch(of: /host='?([^' ]+)'?/)?.1 ?? ""
        }
        return "host=\(host(one)),\(host(two)) port=5432,5432 user=postgres dbname=postgres"
    }
}
